"""Moving the cursor: within margins, within the screen, by tab stops."""

from __future__ import annotations

from typing import Final

from pyte import modes
from pyte.screens import Margins

from termnode.terminal.pyte_engine.editing import EditScreen
from termnode.terminal.pyte_engine.tabs import TabStops

ORIGIN: Final[int] = modes.DECOM
AUTOWRAP: Final[int] = modes.DECAWM
INSERT: Final[int] = modes.IRM


class MotionScreen(EditScreen):
    """Cursor movement. Every movement resolves a pending wrap first."""

    def __init__(self, columns: int, lines: int, scrollback: int) -> None:
        self.tabs = TabStops()
        super().__init__(columns, lines, scrollback)

    def cursor_up(self, count: int | None = None) -> None:
        """CUU: stops at the top margin when it starts below it, else at the first row."""
        self.settle()
        top, _ = self.bounds()
        y = self.cursor.y
        self.cursor.y = max(y - (count or 1), top if y >= top else 0)

    def cursor_down(self, count: int | None = None) -> None:
        """CUD: stops at the bottom margin when it starts above it, else at the last row."""
        self.settle()
        _, bottom = self.bounds()
        y = self.cursor.y
        self.cursor.y = min(y + (count or 1), bottom if y <= bottom else self.lines - 1)

    def cursor_forward(self, count: int | None = None) -> None:
        """CUF, HPR: right, at most to the last column."""
        self.cursor.x = min(self.cursor.x + (count or 1), self.columns - 1)

    def cursor_down_anywhere(self, count: int) -> None:
        """VPR: down regardless of margins."""
        self.settle()
        self.cursor.y = min(self.cursor.y + count, self.lines - 1)

    def cursor_position(self, line: int | None = None, column: int | None = None) -> None:
        """CUP, HVP: counted from 1; relative to the margins, and kept in them, in origin mode."""
        self.cursor.x = min(max(column or 1, 1), self.columns) - 1
        self._to_line(line or 1)

    def cursor_to_line(self, line: int | None = None) -> None:
        """VPA: the same for the row alone."""
        self.settle()
        self._to_line(line or 1)

    def _to_line(self, line: int) -> None:
        top, bottom = self.bounds() if ORIGIN in self.mode else (0, self.lines - 1)
        self.cursor.y = min(max(top + line - 1, top), bottom)

    def set_margins(self, top: int | None = None, bottom: int | None = None) -> None:
        """DECSTBM: a region of at least two rows, else nothing happens; homes the cursor."""
        first = max(top or 1, 1)
        last = min(bottom or self.lines, self.lines)
        if first < last:
            whole = (first, last) == (1, self.lines)
            self.margins = None if whole else Margins(first - 1, last - 1)
            self.cursor_position()

    def tab(self) -> None:
        """HT: to the next stop, never past the last column; a pending wrap stays pending."""
        self.tab_forward(1)

    def tab_forward(self, count: int) -> None:
        """CHT: ``count`` stops to the right."""
        if self.cursor.x < self.columns:
            self.cursor.x = self.tabs.after(self.cursor.x, count, self.columns - 1)

    def tab_back(self, count: int) -> None:
        """CBT: ``count`` stops to the left."""
        self.settle()
        self.cursor.x = self.tabs.before(self.cursor.x, count)

    def set_tab_stop(self) -> None:
        """HTS: a stop at the cursor."""
        self.tabs.set(min(self.cursor.x, self.columns - 1))

    def clear_tab_stop(self, how: int = 0) -> None:
        """TBC: 0 the stop at the cursor, 3 all of them."""
        if how == 0:
            self.tabs.clear(min(self.cursor.x, self.columns - 1))
        elif how == 3:
            self.tabs.clear_all()
