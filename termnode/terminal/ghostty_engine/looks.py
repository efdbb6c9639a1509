"""What rows look like, as values to compare: made by the library itself, a screen in 40 us."""

from __future__ import annotations

from typing import Final

from termnode.terminal.ghostty_engine.library import CData, lib
from termnode.terminal.ghostty_engine.plain import PlainText

_RESET: Final = "\x1b[0m"
_STRING_END: Final = "\x1b\\"


class Looks(PlainText):
    """Reads rows as text with its SGR sequences. Links are left out.

    Each row begins in the default style, so equal rows of one terminal are equal strings. A row
    without text is empty, also where it has a background.
    """

    def __init__(self, terminal: CData) -> None:
        super().__init__(terminal)
        self._options.emit = lib.GHOSTTY_FORMATTER_FORMAT_VT

    def read(self, first: int, count: int, cols: int) -> list[str]:
        """Rows ``first`` to before ``first + count`` of a terminal of ``cols`` columns."""
        rows = super().read(first, count, cols)
        # The palette comes in front of all, the style of what will be written next behind all.
        rows[0] = rows[0].rpartition(_STRING_END)[2]
        last = max((y for y, row in enumerate(rows) if row), default=0)
        rows[last] = rows[last].rpartition(_RESET)[0]
        return [row.removesuffix("\r").rstrip(" ") for row in rows]
