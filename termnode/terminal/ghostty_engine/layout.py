"""How the library packs a cell and a row into 64 bits, and the check that this still holds.

Whole rows are read as one block of memory and taken apart here with arithmetic on one long
integer (a lane of 64 bits per cell), so that no Python runs per cell in ordinary rows. The library
calls the packing private: ``verify`` compares it with the library's own accessors when it is
loaded, and a difference makes the engine unavailable instead of wrong.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from termnode.terminal.ghostty_engine.library import CData, ffi, lib

CELL_BYTES: Final = 8
TAG_GRAPHEME: Final = 1
"""Content tag (bits 0-1): more code points follow elsewhere. 2 and 3: only a background."""
TAG_BACKGROUND: Final = 2
CONTENT_SHIFT: Final = 2
"""Bits 2-25: a code point, a palette index, or red, green, blue from the low byte up."""
CODEPOINT_MASK: Final = 0x1FFFFF
CONTENT_MASK: Final = 0xFFFFFF
STYLE_SHIFT: Final = 26
STYLE_MASK: Final = 0xFFFF
SPACER_SHIFT: Final = 43
"""High bit of the width field (bits 42-43): the cell pads a wide character."""
LINK: Final = 1 << 45

ROW_WRAP: Final = 1 << 32
ROW_GRAPHEME: Final = 1 << 34

SPACER: Final = "\udfff"
"""Stands for a padding cell while a row is taken apart. No program can print it: a lone surrogate
is not valid UTF-8."""


class Lanes(NamedTuple):
    """Masks for one row of ``cols`` cells, one 64-bit lane per cell."""

    ones: int
    codepoints: int
    looks: int
    """Style number and link bit."""


@lru_cache(maxsize=64)
def lanes(cols: int) -> Lanes:
    """The masks of a row of ``cols`` cells."""
    ones = int.from_bytes((b"\1" + bytes(CELL_BYTES - 1)) * cols, "little")
    return Lanes(ones, ones * CODEPOINT_MASK, ones * (STYLE_MASK << STYLE_SHIFT | LINK))


def _cell_field(cell: int, name: str, ctype: str) -> int:
    out = ffi.new(f"{ctype} *")
    if lib.ghostty_cell_get(cell, getattr(lib, f"GHOSTTY_CELL_DATA_{name}"), out) != 0:
        return -1
    return int(out[0])


def _row_field(row: int, name: str) -> bool:
    out = ffi.new("bool *")
    lib.ghostty_row_get(row, getattr(lib, f"GHOSTTY_ROW_DATA_{name}"), out)
    return bool(out[0])


_CELL_CHECKS: Final[tuple[tuple[int, str, str, int], ...]] = (
    (0x1F600 << CONTENT_SHIFT, "CODEPOINT", "uint32_t", 0x1F600),
    (TAG_GRAPHEME | 0x65 << CONTENT_SHIFT, "CONTENT_TAG", "GhosttyCellContentTag", TAG_GRAPHEME),
    (TAG_BACKGROUND | 7 << CONTENT_SHIFT, "CONTENT_TAG", "GhosttyCellContentTag", TAG_BACKGROUND),
    (TAG_BACKGROUND | 7 << CONTENT_SHIFT, "COLOR_PALETTE", "uint8_t", 7),
    (0xABCD << STYLE_SHIFT, "STYLE_ID", "uint16_t", 0xABCD),
    (1 << SPACER_SHIFT, "WIDE", "GhosttyCellWide", 2),
    (3 << SPACER_SHIFT - 1, "WIDE", "GhosttyCellWide", 3),
    (1 << SPACER_SHIFT - 1, "WIDE", "GhosttyCellWide", 1),
    (LINK, "HAS_HYPERLINK", "bool", 1),
)
_ROW_CHECKS: Final = ((ROW_WRAP, "WRAP"), (ROW_GRAPHEME, "GRAPHEME"))


def verify() -> str | None:
    """Name the first field that the library packs differently, or None when all agree."""
    for cell, name, ctype, expected in _CELL_CHECKS:
        if _cell_field(cell, name, ctype) != expected:
            return f"cell {name}"
    for row, name in _ROW_CHECKS:
        if not _row_field(row, name) or _row_field(0, name):
            return f"row {name}"
    return None


def cell_view(cells: CData) -> bytes:
    """The bytes of a GhosttyCellsView, copied: the next update changes the library's memory."""
    return bytes(ffi.buffer(cells.ptr, cells.len * CELL_BYTES)) if cells.len else b""
