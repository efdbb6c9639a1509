"""Styles as they travel: a short list of what is not the default.

``[flags, fg, bg, underline, underline_color, link]``, with the defaults at its end left out. A
colour is nil, 0-255 (palette), or 16,777,216 and more: that much above its RGB value.
"""

from __future__ import annotations

from itertools import compress
from operator import attrgetter
from typing import Any, Final

from termnode.terminal.engine import PLAIN, Color, Style
from termnode.view.codec import BadFrame, Codec, need

Wire = list[Any]

MAX_LINK: Final = 4_096
"""Characters of a link that travels; a longer one is left out."""

_FLAGS: Final = ("bold", "dim", "italic", "blink", "reverse", "conceal", "strike", "overline")
_flags_of: Final = attrgetter(*_FLAGS)
_BITS: Final = tuple(1 << bit for bit in range(len(_FLAGS)))
_DEFAULTS: Final[Wire] = [0, None, None, 0, None, None]
_RGB: Final = 1 << 24


def to_wire(style: Style | None) -> Wire | None:
    """The list for a style; None for the plain one."""
    if style is None or style == PLAIN:
        return None
    flags = sum(compress(_BITS, _flags_of(style)))
    link = style.link if style.link is not None and len(style.link) <= MAX_LINK else None
    wire: Wire = [
        flags,
        _color_out(style.fg),
        _color_out(style.bg),
        style.underline,
        _color_out(style.underline_color),
        link,
    ]
    while wire and wire[-1] == _DEFAULTS[len(wire) - 1]:
        wire.pop()
    return wire or None


def from_wire(wire: Any) -> Style | None:  # noqa: ANN401
    """The style of a list, None for the plain one. Raises BadFrame."""
    if wire is None:
        return None
    need(isinstance(wire, list) and len(wire) <= len(_DEFAULTS), "a style is no short list")
    flags, fg, bg, underline, underline_color, link = wire + _DEFAULTS[len(wire) :]
    need(type(flags) is int and 0 <= flags < 1 << len(_FLAGS), "a style has unknown flags")
    need(type(underline) is int and 0 <= underline <= 5, "a style has an unknown underline")
    need(link is None or (isinstance(link, str) and len(link) <= MAX_LINK), "a bad link")
    return Style(
        fg=_color_in(fg),
        bg=_color_in(bg),
        underline=underline,
        underline_color=_color_in(underline_color),
        link=link,
        **{name: bool(flags >> bit & 1) for bit, name in enumerate(_FLAGS)},
    )


def _color_out(color: Color) -> int | None:
    if isinstance(color, tuple):
        red, green, blue = color
        return _RGB | red << 16 | green << 8 | blue
    return color


def _color_in(value: Any) -> Color:  # noqa: ANN401
    if value is None:
        return None
    if type(value) is int and 0 <= value <= 255:
        return int(value)
    if type(value) is int and _RGB <= value < 2 * _RGB:
        return value >> 16 & 255, value >> 8 & 255, value & 255
    raise BadFrame("a style has an unknown colour")


STYLE: Final = Codec(to_wire, from_wire)
"""A style, or None for the plain one."""
