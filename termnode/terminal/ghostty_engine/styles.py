"""Turning the library's styles into ours, once per distinct style."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from termnode.terminal.engine import PLAIN, Color, Style
from termnode.terminal.ghostty_engine.library import CData, ffi, lib

_BOOLS: Final = (
    ("bold", "bold"),
    ("dim", "faint"),
    ("italic", "italic"),
    ("blink", "blink"),
    ("reverse", "inverse"),
    ("conceal", "invisible"),
    ("strike", "strikethrough"),
    ("overline", "overline"),
)


def _color(color: CData) -> Color:
    if color.tag == lib.GHOSTTY_STYLE_COLOR_PALETTE:
        return int(color.value.palette)
    if color.tag == lib.GHOSTTY_STYLE_COLOR_RGB:
        rgb = color.value.rgb
        return (rgb.r, rgb.g, rgb.b)
    return None


@lru_cache(maxsize=4096)
def _decode(raw: bytes) -> Style:
    style = ffi.cast("GhosttyStyle *", ffi.from_buffer(raw))
    flags = {ours: bool(getattr(style, theirs)) for ours, theirs in _BOOLS}
    decoded = Style(
        fg=_color(style.fg_color),
        bg=_color(style.bg_color),
        underline=style.underline,
        underline_color=_color(style.underline_color),
        **flags,  # type: ignore[arg-type]  # booleans under the names of boolean fields
    )
    return PLAIN if decoded == PLAIN else decoded


class StyleBuffer:
    """The C structure that styles are read into."""

    def __init__(self) -> None:
        self.pointer: CData = ffi.new("GhosttyStyle *")
        self.pointer.size = ffi.sizeof("GhosttyStyle")
        self._bytes: CData = ffi.buffer(self.pointer)

    def style(self) -> Style:
        """The style last read; equal bytes give the same object while the cache holds."""
        return _decode(bytes(self._bytes))
