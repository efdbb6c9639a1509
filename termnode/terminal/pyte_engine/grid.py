"""Rows of the screen: scrolling, inserting and deleting whole lines, and what goes to history."""

from __future__ import annotations

from typing import Final

import pyte

from termnode.terminal.engine import DEFAULT_SCROLLBACK
from termnode.terminal.pyte_engine.cells import BLANK, Palette, Row
from termnode.terminal.pyte_engine.history import History

REVERSE_VIDEO: Final = 5 << 5
"""DECSCNM in pyte's set of modes, where private modes are shifted by five bits."""


class GridScreen(pyte.Screen):
    """A pyte screen that keeps its own rows in ``grid``; pyte's ``buffer`` stays empty.

    ``grid`` always has ``lines`` rows of at most ``columns`` cells. ``margins`` is pyte's. A cursor
    column equal to ``columns`` means a pending wrap, as in pyte.
    """

    def __init__(self, columns: int, lines: int, scrollback: int = DEFAULT_SCROLLBACK) -> None:
        self.palette = Palette()
        self.history = History(scrollback, self.palette)
        self.pen = self.palette.plain
        self.grid: list[Row] = [Row() for _ in range(lines)]
        self.alternate = False
        self.all_dirty = True
        self.erasures = 0
        """How often everything on the screen may have been wiped at once."""
        self.main_erasures = 0
        """How often everything on the main screen was."""
        super().__init__(columns, lines)

    @property
    def display(self) -> list[str]:
        """The rows as text, padded to the width of the screen."""
        return [
            "".join([cell[0] for cell in row]) + row.fill[0] * (self.columns - len(row))
            for row in self.grid
        ]

    def bounds(self) -> tuple[int, int]:
        """First and last row of the scroll region."""
        if self.margins is None:
            return 0, self.lines - 1
        return self.margins.top, self.margins.bottom

    def fresh_row(self) -> Row:
        """An erased row: empty, its fill the background color in use."""
        row = Row()
        if self.pen.blank is not BLANK:
            row.fill = self.pen.blank
        return row

    def fresh_rows(self, count: int) -> list[Row]:
        """``count`` erased rows."""
        return [self.fresh_row() for _ in range(count)]

    def settle(self) -> None:
        """Resolve a pending wrap: the cursor is in the last column after all."""
        if self.cursor.x >= self.columns:
            self.cursor.x = self.columns - 1

    def scroll_up(self, count: int, top: int, bottom: int) -> None:
        """Move the rows of a region up; what leaves the top of the main screen is history."""
        count = min(count, bottom - top + 1)
        grid = self.grid
        if top == 0 and not self.alternate:
            for row in grid[:count]:
                self.history.push(row)
        elif top:
            self._unwrap(top - 1)
        del grid[top : top + count]
        at = bottom - count + 1
        grid[at:at] = self.fresh_rows(count)
        self._region_changed(top, bottom)

    def scroll_down(self, count: int, top: int, bottom: int) -> None:
        """Move the rows of a region down; what leaves its bottom is gone."""
        count = min(count, bottom - top + 1)
        grid = self.grid
        if top:
            self._unwrap(top - 1)
        del grid[bottom - count + 1 : bottom + 1]
        grid[top:top] = self.fresh_rows(count)
        self._unwrap(bottom)
        self._region_changed(top, bottom)

    def _unwrap(self, y: int) -> None:
        """The row after row ``y`` is another one now: the text does not go on there."""
        if self.grid[y].wrapped:
            self.grid[y].wrapped = False

    def _region_changed(self, top: int, bottom: int) -> None:
        if bottom - top + 1 == self.lines:
            self.all_dirty = True
        elif not self.all_dirty:
            self.dirty.update(range(top, bottom + 1))

    def index(self) -> None:
        """Down one row, scrolling at the bottom of the region (IND, LF)."""
        y = self.cursor.y
        if self.margins is None:
            if y < self.lines - 1:
                self.cursor.y = y + 1
                return
            # The commonest case of all, without slices: the whole screen moves up by one.
            row = self.grid.pop(0)
            if not self.alternate:
                self.history.push(row)
            self.grid.append(self.fresh_row())
            self.all_dirty = True
        elif y == self.margins.bottom:
            self.scroll_up(1, self.margins.top, y)
        elif y < self.lines - 1:
            self.cursor.y = y + 1

    def linefeed(self) -> None:
        """LF, VT or FF: down one row, and to its start in new line mode (LNM)."""
        self.settle()
        super().linefeed()

    def reverse_index(self) -> None:
        """Up one row, scrolling at the top of the region (RI)."""
        self.settle()
        top, bottom = self.bounds()
        y = self.cursor.y
        if y == top:
            self.scroll_down(1, top, bottom)
        elif y:
            self.cursor.y = y - 1

    def insert_lines(self, count: int | None = None) -> None:
        """Insert erased rows at the cursor, inside the region alone (IL)."""
        top, bottom = self.bounds()
        y = self.cursor.y
        if top <= y <= bottom:
            self.scroll_down(count or 1, y, bottom)
            self.carriage_return()

    def delete_lines(self, count: int | None = None) -> None:
        """Delete rows at the cursor, inside the region alone (DL); never history."""
        top, bottom = self.bounds()
        y = self.cursor.y
        if top <= y <= bottom:
            count = min(count or 1, bottom - y + 1)
            if y:
                self._unwrap(y - 1)
            del self.grid[y : y + count]
            at = bottom - count + 1
            self.grid[at:at] = self.fresh_rows(count)
            self._region_changed(y, bottom)
            self.carriage_return()
