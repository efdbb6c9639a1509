"""Rows as objects and as text with SGR sequences."""

from __future__ import annotations

import re

import pytest

from termnode.terminal import engines
from termnode.terminal.engine import PLAIN, Style
from termnode.terminal.render.ansi import MAX_NUMBERS, ansi_row, turn
from termnode.terminal.render.objects import run_objects, style_object


def test_an_object_says_only_what_is_set() -> None:
    style = Style(fg=9, bg=(0, 17, 255), bold=True, underline=3, underline_color=0, link="x:y")
    assert run_objects([("a ", PLAIN), ("b", style)]) == [
        {"text": "a "},
        {
            "text": "b",
            "fg": 9,
            "bg": "#0011ff",
            "bold": True,
            "underline": 3,
            "underline_color": 0,
            "link": "x:y",
        },
    ]


def test_black_is_a_colour_and_the_default_is_none() -> None:
    assert style_object(Style(fg=0)) == {"fg": 0}
    assert style_object(PLAIN) == {}


@pytest.mark.parametrize(
    ("style", "parameters"),
    [
        (PLAIN, ""),
        (Style(link="http://h/"), ""),
        (Style(fg=1, bg=15), "31;107"),
        (Style(fg=16, bg=255), "38;5;16;48;5;255"),
        (Style(fg=(1, 2, 3), bg=(0, 0, 0)), "38;2;1;2;3;48;2;0;0;0"),
        (Style(bold=True, dim=True, italic=True, underline=1), "1;2;3;4"),
        (Style(underline=4, underline_color=200), "4:4;58:5:200"),
        (Style(underline=2, underline_color=(9, 8, 7)), "4:2;58:2::9:8:7"),
        (
            Style(blink=True, reverse=True, conceal=True, strike=True, overline=True),
            "5;7;8;9;53",
        ),
    ],
)
def test_a_style_is_one_sequence(style: Style, parameters: str) -> None:
    assert turn(style, styled=False) == (f"\x1b[{parameters}m" if parameters else "")
    assert turn(style, styled=True) == (f"\x1b[0;{parameters}m" if parameters else "\x1b[m")


def test_no_sequence_has_more_numbers_than_terminals_take() -> None:
    rgb = (100, 200, 255)
    full = Style(
        fg=rgb,
        bg=rgb,
        underline=3,
        underline_color=rgb,
        bold=True,
        dim=True,
        italic=True,
        blink=True,
        reverse=True,
        conceal=True,
        strike=True,
        overline=True,
    )
    sequences = re.findall("\x1b\\[([0-9;:]*)m", turn(full, styled=True))
    assert len(sequences) == 2
    assert max(len(re.split("[;:]", sequence)) for sequence in sequences) <= MAX_NUMBERS
    for emulator in engines.available():
        engine = engines.make(emulator)(10, 1, 0)
        engine.feed(ansi_row([("x", Style(bold=True)), ("y", full)]).encode())
        assert engine.runs()[0][1] == ("y", full)
        engine.close()


def test_a_row_begins_plain_and_is_reset_only_when_needed() -> None:
    red, bold = Style(fg=1), Style(bold=True)
    assert ansi_row([]) == ""
    assert ansi_row([("plain", PLAIN)]) == "plain"
    assert ansi_row([("linked", Style(link="http://h/"))]) == "linked"
    assert ansi_row([("a", red), ("b", PLAIN)]) == "\x1b[31ma\x1b[mb"
    assert ansi_row([("a", PLAIN), ("b", red), ("c", bold)]) == "a\x1b[31mb\x1b[0;1mc\x1b[m"
