"""The colours that a page shows: xterm's 256, and what dim and reverse make of two of them."""

from __future__ import annotations

from typing import Final

from termnode.terminal.engine import Color, Style

Rgb = tuple[int, int, int]

FOREGROUND: Final[Rgb] = (0xE5, 0xE5, 0xE5)
BACKGROUND: Final[Rgb] = (0, 0, 0)
"""The defaults, as the emulators tell them to programs that ask."""

_ANSI: Final = (
    "000000 cd0000 00cd00 cdcd00 0000ee cd00cd 00cdcd e5e5e5"
    " 7f7f7f ff0000 00ff00 ffff00 5c5cff ff00ff 00ffff ffffff"
)
_STEPS: Final = (0, 95, 135, 175, 215, 255)
_DIM: Final = 0.6
"""How much of its own colour dim text keeps; the rest is that of the background."""


def _palette() -> tuple[Rgb, ...]:
    named = [(int(c[:2], 16), int(c[2:4], 16), int(c[4:], 16)) for c in _ANSI.split()]
    cube = [(red, green, blue) for red in _STEPS for green in _STEPS for blue in _STEPS]
    grey = [(level, level, level) for level in range(8, 248, 10)]
    return (*named, *cube, *grey)


PALETTE: Final = _palette()
"""Red, green, blue of each index: 16 named colours, a cube of 6 by 6 by 6, 24 greys."""


def rgb(color: Color, default: Rgb) -> Rgb:
    """The colour to show."""
    if color is None:
        return default
    return PALETTE[color] if isinstance(color, int) else color


def grounds(style: Style) -> tuple[Rgb, Rgb]:
    """Foreground and background as seen, after reverse and dim."""
    front, back = rgb(style.fg, FOREGROUND), rgb(style.bg, BACKGROUND)
    if style.reverse:
        front, back = back, front
    return (_mixed(front, back) if style.dim else front), back


def _mixed(front: Rgb, back: Rgb) -> Rgb:
    red, green, blue = (round(f * _DIM + b * (1 - _DIM)) for f, b in zip(front, back, strict=True))
    return red, green, blue
