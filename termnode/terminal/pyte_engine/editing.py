"""Erasing, inserting and deleting characters, without ever leaving half a wide character."""

from __future__ import annotations

from typing import Final

from termnode.terminal.pyte_engine.cells import BLANK, Cell, Row
from termnode.terminal.pyte_engine.grid import GridScreen

_MAY_WIPE_ALL: Final = frozenset((2, 3, 22))
"""Parameters of ED after which nothing of the screen may be left, here or in another emulator."""


def split_wide(row: Row, x: int) -> None:
    """Blank both halves of a wide character that lies across columns ``x - 1`` and ``x``."""
    if x < len(row) and not row[x][0]:
        row[x - 1] = (" ", row[x - 1][1])
        row[x] = (" ", row[x][1])


def pad(row: Row, width: int) -> None:
    """Write out the fill up to column ``width``."""
    missing = width - len(row)
    if missing > 0:
        row += [row.fill] * missing


def trim(row: Row, width: int) -> None:
    """Cut the row at column ``width``; half a wide character left over becomes a blank."""
    if len(row) > width:
        split_wide(row, width)
        del row[width:]


def refill(row: Row, fill: Cell) -> None:
    """Change what stands in all columns that are not written."""
    if row.fill is not fill:
        row.fill = fill


def write_out(row: Row, width: int) -> None:
    """Make a fill that is not blank into cells, before the width changes."""
    if row.fill[0] != " ":
        pad(row, width)
        row.fill = BLANK


class EditScreen(GridScreen):
    """Erase and edit functions of one row or of the display."""

    def erase_cells(self, y: int, start: int, end: int) -> None:
        """Erase columns ``start`` up to and without ``end`` of row ``y``."""
        row = self.grid[y]
        blank = self.pen.blank
        split_wide(row, start)
        split_wide(row, end)
        if end >= self.columns:
            if blank is not row.fill:
                pad(row, start)
            del row[start:]
            refill(row, blank)
        elif blank is row.fill and end >= len(row):
            del row[start:]
        else:
            pad(row, start)
            row[start:end] = [blank] * (end - start)
        if end >= self.columns and row.wrapped:
            row.wrapped = False
        self.dirty.add(y)

    def erase_rows(self, start: int, end: int) -> None:
        """Erase whole rows from ``start`` up to and without ``end``."""
        self.grid[start:end] = self.fresh_rows(end - start)
        self.dirty.update(range(start, end))

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:  # noqa: ARG002
        """EL: 0 from the cursor on, 1 up to the cursor, 2 the whole line."""
        self.settle()
        x, y = self.cursor.x, self.cursor.y
        if how == 0:
            self.erase_cells(y, x, self.columns)
        elif how == 1:
            self.erase_cells(y, 0, x + 1)
        elif how == 2:
            self.erase_cells(y, 0, self.columns)

    def erase_in_display(self, how: int = 0, *_args: object, **_kwargs: object) -> None:
        """ED: 0 from the cursor on, 1 up to the cursor, 2 the screen, 3 the scrollback alone."""
        y = self.cursor.y
        if how in _MAY_WIPE_ALL or (how == 0 and (self.cursor.x, y) == (0, 0)):
            self.erasures += 1
            self.main_erasures += not self.alternate
        if how == 0:
            self.erase_in_line(0)
            self.erase_rows(y + 1, self.lines)
        elif how == 1:
            self.erase_in_line(1)
            self.erase_rows(0, y)
        elif how == 2:
            self.settle()
            self.erase_rows(0, self.lines)
        elif how == 3:
            self.history.rows.clear()

    def erase_characters(self, count: int | None = None) -> None:
        """ECH: erase from the cursor on, moving nothing."""
        self.settle()
        x = self.cursor.x
        self.erase_cells(self.cursor.y, x, min(x + (count or 1), self.columns))

    def insert_characters(self, count: int | None = None) -> None:
        """ICH: move the rest of the line right; what passes the edge is gone."""
        self.settle()
        x, y = self.cursor.x, self.cursor.y
        row = self.grid[y]
        if x < len(row) or self.pen.blank is not row.fill:
            split_wide(row, x)
            pad(row, x)
            row[x:x] = [self.pen.blank] * min(count or 1, self.columns - x)
            trim(row, self.columns)
        if row.wrapped:
            row.wrapped = False
        self.dirty.add(y)

    def delete_characters(self, count: int | None = None) -> None:
        """DCH: move the rest of the line left; erased cells come in at the edge."""
        self.settle()
        x, y = self.cursor.x, self.cursor.y
        row = self.grid[y]
        count = min(count or 1, self.columns - x)
        split_wide(row, x)
        split_wide(row, x + count)
        if self.pen.blank is not row.fill:
            pad(row, self.columns)
            row += [self.pen.blank] * count
        del row[x : x + count]
        if row.wrapped:
            row.wrapped = False
        self.dirty.add(y)

    def alignment_display(self) -> None:
        """DECALN: fill the screen with E; margins are reset and the cursor is homed."""
        self.erase_rows(0, self.lines)
        for row in self.grid:
            refill(row, self.palette.plain["E"])
        self.margins = None
        self.all_dirty = True
        self.cursor_position()
