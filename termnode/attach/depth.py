"""Styles as a terminal with fewer colours can show them: the nearest it has."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final

from termnode.terminal.engine import Color, Style
from termnode.terminal.render.palette import PALETTE, Rgb

TRUE_COLOR: Final = 1 << 24

_NAMED: Final = 16
"""Colours whose look the person chose: nothing is turned into one of them but for a terminal that
has no others."""

_REMEMBERED: Final = 4_096


@lru_cache(_REMEMBERED)
def reduced(style: Style, depth: int) -> Style:
    """``style`` for a terminal of so many colours (16, 256; any other number: all).

    One of 16 colours gets plain underlines too: it may take what it does not know for other codes.
    """
    if depth not in (16, 256):
        return style
    fewer = replace(
        style,
        fg=color(style.fg, depth),
        bg=color(style.bg, depth),
        underline_color=color(style.underline_color, depth),
    )
    if depth == _NAMED:
        return replace(fewer, underline=min(style.underline, 1), underline_color=None)
    return fewer


def color(wanted: Color, depth: int) -> Color:
    """The nearest colour of the first ``depth`` (16 or 256) of the palette."""
    if wanted is None or (isinstance(wanted, int) and wanted < depth):
        return wanted
    seen = PALETTE[wanted] if isinstance(wanted, int) else wanted
    return _nearest(seen, 0, _NAMED) if depth == _NAMED else _nearest(seen, _NAMED, depth)


@lru_cache(_REMEMBERED)
def _nearest(wanted: Rgb, first: int, end: int) -> int:
    return min(range(first, end), key=lambda index: _distance(PALETTE[index], wanted))


def _distance(one: Rgb, other: Rgb) -> int:
    """Squared, weighed as eyes do: green most, blue least."""
    red, green, blue = (a - b for a, b in zip(one, other, strict=True))
    return 3 * red * red + 6 * green * green + blue * blue
