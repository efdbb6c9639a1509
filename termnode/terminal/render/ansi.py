"""Rows as text with SGR sequences, and no other sequence.

Links are left out: a page of OSC 8 in a log is no use, and its addresses are the program's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from termnode.terminal.engine import Color, Run, Style

_FLAGS: Final = (
    ("bold", 1),
    ("dim", 2),
    ("italic", 3),
    ("blink", 5),
    ("reverse", 7),
    ("conceal", 8),
    ("strike", 9),
    ("overline", 53),
)
MAX_NUMBERS: Final = 16
"""Numbers in one sequence: what the terminals took that SGR comes from (VT500)."""

_SEPARATOR: Final = re.compile("[;:]")

_REMEMBERED: Final = 1_024
"""Styles whose sequence is kept."""


def ansi_row(runs: Sequence[Run]) -> str:
    """The row, beginning from the default style; reset at its end when it is not in it then."""
    parts: list[str] = []
    styled = False
    for text, style in runs:
        parts.append(f"{turn(style, styled=styled)}{text}")
        styled = bool(_groups(_bare(style)))
    return "".join(parts) + ("\x1b[m" if styled else "")


def turn(style: Style, *, styled: bool) -> str:
    """What sets ``style``: from the default one, or, when ``styled``, from any."""
    groups = _groups(_bare(style))
    if not groups:
        return "\x1b[m" if styled else ""
    return ("\x1b[0;" if styled else "\x1b[") + "m\x1b[".join(groups) + "m"


def _bare(style: Style) -> Style:
    return style if style.link is None else replace(style, link=None)


@lru_cache(_REMEMBERED)
def _groups(style: Style) -> tuple[str, ...]:
    """The parameters that set a style from the default one, cut into what one sequence may have.

    With the 0 before them that is MAX_NUMBERS: a terminal may ignore a sequence that has more.
    """
    first = [str(number) for name, number in _FLAGS if getattr(style, name)]
    if style.underline:
        first.append("4" if style.underline == 1 else f"4:{style.underline}")
    first += _ground(style.fg, 30, 90)
    second = [*_ground(style.bg, 40, 100), *_extended(style.underline_color, 58, ":")]
    whole = ";".join(first + second)
    if not whole:
        return ()
    if len(_SEPARATOR.split(whole)) < MAX_NUMBERS:
        return (whole,)
    return ";".join(first), ";".join(second)


def _ground(color: Color, first: int, bright: int) -> list[str]:
    """Foreground or background: by the oldest form that can say it."""
    if isinstance(color, int) and color < 16:
        return [str(first + color if color < 8 else bright + color - 8)]
    return _extended(color, first + 8, ";")


def _extended(color: Color, code: int, joint: str) -> list[str]:
    """``joint``: foregrounds and backgrounds are everywhere read with ``;``, the colour of an
    underline is safe with ``:`` alone, for who does not know it must not take its parts for codes.
    """
    if color is None:
        return []
    if isinstance(color, int):
        return [joint.join(map(str, (code, 5, color)))]
    space = ("",) if joint == ":" else ()
    return [joint.join(map(str, (code, 2, *space, *color)))]
