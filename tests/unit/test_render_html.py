"""A page shows what the screen shows, in columns."""

from __future__ import annotations

import re

import pytest

from termnode.terminal.engine import PLAIN, Cursor, Style
from termnode.terminal.render.cells import width_of
from termnode.terminal.render.css import declarations
from termnode.terminal.render.html import Page
from termnode.terminal.render.palette import PALETTE, grounds


def page() -> Page:
    return Page(width_of("pyte"))


def test_the_palette_is_that_of_xterm() -> None:
    assert len(PALETTE) == 256
    assert PALETTE[16] == (0, 0, 0)
    assert PALETTE[196] == (255, 0, 0)
    assert PALETTE[231] == (255, 255, 255)
    assert (PALETTE[232], PALETTE[255]) == ((8, 8, 8), (238, 238, 238))


def test_reverse_and_dim_are_worked_out() -> None:
    assert grounds(Style(fg=(10, 20, 30), bg=(1, 2, 3), reverse=True)) == ((1, 2, 3), (10, 20, 30))
    assert grounds(Style(fg=(100, 0, 0), bg=(0, 0, 0), dim=True))[0] == (60, 0, 0)


@pytest.mark.parametrize(
    ("style", "wanted"),
    [
        (Style(fg=196, bg=(0, 17, 0)), "color:#ff0000;background:#001100"),
        (Style(bold=True, italic=True), "font-weight:bold;font-style:italic"),
        (Style(underline=1), "text-decoration:underline"),
        (
            Style(underline=3, underline_color=196, strike=True, overline=True),
            (
                "text-decoration:underline overline line-through;text-decoration-style:wavy;"
                "text-decoration-color:#ff0000"
            ),
        ),
    ],
)
def test_a_style_is_css(style: Style, wanted: str) -> None:
    assert declarations(style) == wanted


def test_one_rule_for_each_style_of_a_page() -> None:
    made = page()
    red = Style(fg=196)
    rows = [made.row([("a", red), ("b", PLAIN)]), made.row([("c", red)])]
    assert [row.html for row in rows] == ["<span class='s0'>a</span>b", "<span class='s0'>c</span>"]
    assert made.page(rows, "t").count("pre .s0{color:#ff0000}") == 1


def test_uncertain_cells_have_boxes_of_their_width() -> None:
    assert page().row([("a中é─e\u0301", PLAIN)]).html == (
        "a<span class='w'>中</span>é─<span class='n'>e\u0301</span>"
    )


def test_concealed_text_is_hidden_and_its_background_is_not() -> None:
    html = page().row([("pw", Style(conceal=True, bg=196))]).html
    assert html == "<span class='s0'><span class='h'>pw</span></span>"


def test_blinking_text_has_the_animation() -> None:
    assert "class='s0 b'" in page().row([("!", Style(blink=True))]).html


@pytest.mark.parametrize(
    ("x", "wanted"),
    [
        (0, "<span class='k1'>a</span>b<span class='w'>中</span>"),
        (2, "ab<span class='k1 w'>中</span>"),
        (3, "ab<span class='k1 w'>中</span>"),
        (4, "ab<span class='w'>中</span><span class='k1'> </span>"),
        (6, "ab<span class='w'>中</span>  <span class='k1'> </span>"),
    ],
)
def test_the_cursor_is_in_its_column(x: int, wanted: str) -> None:
    assert page().row([("ab中", PLAIN)], Cursor(x, 0)).html == wanted


def test_the_cursor_has_its_shape() -> None:
    for shape, name in ((0, "k1"), (2, "k1"), (4, "k3"), (6, "k5")):
        assert f"class='{name}'" in page().row([], Cursor(0, 0, shape=shape)).html


def test_links_and_their_addresses_are_left_out() -> None:
    made = page()
    row = made.row([("click", Style(link="javascript:alert(1)"))])
    assert "javascript" not in made.page([row], "t")


def test_a_page_forbids_everything_but_its_style() -> None:
    text = page().page([], "a <b> & c")
    policy = re.search('content="([^"]*)"', text)
    assert policy is not None
    assert policy[1] == "default-src 'none'; style-src 'unsafe-inline'"
    assert "<title>a &lt;b&gt; &amp; c</title>" in text
    assert "http://" not in text
    assert "https://" not in text
    assert "url(" not in text
