"""Renditions: what SGR parameters make of a style, and back."""

from __future__ import annotations

from typing import Any

import pytest

from termnode.terminal.engine import PLAIN, Style
from termnode.terminal.pyte_engine.reports import rendition
from termnode.terminal.pyte_engine.sgr import apply


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ("", {}),
        ("1;2;3;4;5;7;8;9;53", {
            "bold": True, "dim": True, "italic": True, "underline": 1, "blink": True,
            "reverse": True, "conceal": True, "strike": True, "overline": True,
        }),
        ("1;2;22", {}),
        ("31;0", {}),
        ("31;;4", {"underline": 1}),
        ("21", {"underline": 2}),
        ("4:3", {"underline": 3}),
        ("4:9", {}),
        ("4;4:0", {}),
        ("31;42", {"fg": 1, "bg": 2}),
        ("95;106", {"fg": 13, "bg": 14}),
        ("38;5;196;48;5;21", {"fg": 196, "bg": 21}),
        ("38;5;256", {}),
        ("38;2;1;2;300", {"fg": (1, 2, 255)}),
        ("38;2;1;2", {}),
        ("38;5", {}),
        ("38", {}),
        ("38:5:7", {"fg": 7}),
        ("38:2:1:2:3", {"fg": (1, 2, 3)}),
        ("38:2::1:2:3", {"fg": (1, 2, 3)}),
        ("38:2::1:2", {"fg": (0, 1, 2)}),
        ("38;5:1", {}),
        ("38;2;1:2;3;4", {}),
        ("58;5;9", {"underline_color": 9}),
        ("58:2::9:8:7", {"underline_color": (9, 8, 7)}),
        ("58;5;9;59", {}),
        ("31;39;41;49", {}),
        ("38;7;1", {"bold": True}),
        ("99999999999999999999;1", {"bold": True}),
        (":;::;1", {"bold": True}),
    ],
)  # fmt: skip
def test_parameters(params: str, expected: dict[str, Any]) -> None:
    assert apply(PLAIN, params) == Style(**expected)


def test_reset_keeps_the_link() -> None:
    assert apply(Style(bold=True, link="http://e.x/"), "0") == Style(link="http://e.x/")


@pytest.mark.parametrize(
    "style",
    [
        PLAIN,
        Style(fg=1, bg=200, bold=True, underline=3),
        Style(fg=(1, 2, 3), underline=1, underline_color=(4, 5, 6)),
        Style(dim=True, italic=True, blink=True, reverse=True, conceal=True),
        Style(strike=True, overline=True, underline=2, underline_color=7),
    ],
)
def test_a_rendition_makes_its_style_again(style: Style) -> None:
    assert apply(Style(bold=True, fg=9), rendition(style)) == style
