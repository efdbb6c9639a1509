"""What a screen keeps aside: saved cursors, the other screen, keyboard flags; and resizing both."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from termnode.terminal.engine import PLAIN, Style
from termnode.terminal.pyte_engine.cells import Row
from termnode.terminal.pyte_engine.charsets import Charsets, Saved
from termnode.terminal.pyte_engine.editing import write_out
from termnode.terminal.pyte_engine.motion import AUTOWRAP, ORIGIN
from termnode.terminal.pyte_engine.reflow import Position, blank, fit, reflow
from termnode.terminal.pyte_engine.writing import WriteScreen

KITTY_DEPTH: Final = 16
"""Saved keyboard flags per screen; pushing more drops the oldest."""


@dataclass(frozen=True, slots=True)
class SavedCursor:
    """What DECSC keeps. Column ``columns`` is a pending wrap."""

    x: int = 0
    y: int = 0
    style: Style = PLAIN
    charsets: Saved = field(default_factory=lambda: Charsets().save())
    origin: bool = False


class StoreScreen(WriteScreen):
    """Two screens: the main one, with history, and the alternate one, without."""

    def forget_stored(self) -> None:
        """Empty screens, nothing saved: a new terminal."""
        self.grid = [Row() for _ in range(self.lines)]
        self._parked: list[Row] = [Row() for _ in range(self.lines)]
        self._parked_cursor: Position = (0, 0)
        self._saved: dict[bool, SavedCursor] = {}
        self._kitty: dict[bool, list[int]] = {False: [0], True: [0]}
        self.alternate = False
        self.all_dirty = True
        self.erasures += 1
        self.main_erasures += 1

    def flag(self, key: int, on: bool) -> None:
        """Set or reset a mode in pyte's set."""
        if on:
            self.mode.add(key)
        else:
            self.mode.discard(key)

    def settle_unless_wrapping(self) -> None:
        """Without autowrap no wrap can be pending."""
        if AUTOWRAP not in self.mode:
            self.settle()

    def forget_cursor(self) -> None:
        """Drop the saved cursor of the screen in use."""
        self._saved.pop(self.alternate, None)

    # Saved cursor and alternate screen

    def save_cursor(self) -> None:
        """DECSC: one slot per screen, replaced by each save."""
        x, y = self.cursor.x, self.cursor.y
        self._saved[self.alternate] = SavedCursor(
            x, y, self.pen.style, self.charsets.save(), ORIGIN in self.mode
        )

    def restore_cursor(self) -> None:
        """DECRC: the saved state, or that of a new terminal."""
        saved = self._saved.get(self.alternate, SavedCursor())
        self.cursor.x = min(saved.x, self.columns)
        self.cursor.y = min(saved.y, self.lines - 1)
        self.pen = self.palette.pen(saved.style)
        self.charsets.restore(saved.charsets)
        self.flag(ORIGIN, saved.origin)
        self.refresh_direct()
        self.settle_unless_wrapping()

    def switch(self, number: int, on: bool) -> None:
        """Modes 47, 1047 and 1049: 1049 saves the cursor and clears first, 1047 clears after."""
        # 1049 clears the alternate screen again where another emulator runs the pane.
        self.erasures += on and number == 1049
        if on and not self.alternate:
            if number == 1049:
                self.save_cursor()
            self._parked_cursor = (self.cursor.y, self.cursor.x)
            self._exchange()
            if number == 1049:
                self.grid[:] = self.fresh_rows(self.lines)
        elif not on:
            if self.alternate:
                self._exchange()
                if number == 1047:
                    self._parked = [Row() for _ in range(self.lines)]
            if number == 1049:
                self.restore_cursor()

    def _exchange(self) -> None:
        self.grid, self._parked = self._parked, self.grid
        self.alternate = not self.alternate
        self.all_dirty = True
        self.erasures += 1

    # Keyboard protocol

    @property
    def kitty(self) -> list[int]:
        """Keyboard flags of the screen in use, the newest last; never empty."""
        return self._kitty[self.alternate]

    @property
    def kitty_stacks(self) -> tuple[list[int], ...]:
        """The stacks of both screens."""
        return tuple(self._kitty.values())

    def kitty_push(self, flags: int) -> None:
        """Save the flags and use others."""
        self.kitty.append(flags & 31)
        del self.kitty[:-KITTY_DEPTH]

    def kitty_pop(self, count: int) -> None:
        """Go back ``count`` times; past the first there are no flags."""
        stack = self.kitty
        del stack[max(len(stack) - count, 0) :]
        if not stack:
            stack.append(0)

    # Size

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        """Change the size: the main screen is laid out anew, the alternate one is cut."""
        lines, columns = lines or self.lines, columns or self.columns
        if (lines, columns) == (self.lines, self.columns):
            return
        self.margins = None
        self.all_dirty = True
        if self.alternate:
            cursor = self._resize_alternate(lines, columns)
            self.grid, self._parked = self._parked, self.grid
            self._parked_cursor = self._resize_main(lines, columns, self._parked_cursor)
            self.grid, self._parked = self._parked, self.grid
        else:
            self._parked = [Row() for _ in range(lines)]
            cursor = self._resize_main(lines, columns, (self.cursor.y, self.cursor.x))
        self.lines, self.columns = lines, columns
        self.cursor.y, self.cursor.x = cursor
        self.settle_unless_wrapping()
        self.dirty.clear()

    def _resize_alternate(self, lines: int, columns: int) -> Position:
        """Cut the screen in use from the top as far as the cursor needs, else from the bottom."""
        above = max(self.cursor.y + 1 - lines, 0)
        self.grid = fit(self.grid[above:], self.columns, columns, lines)
        return self.cursor.y - above, min(self.cursor.x, columns - 1)

    def _resize_main(self, lines: int, columns: int, cursor: Position) -> Position:
        """Lay out history and ``grid`` anew; returns where the cursor is.

        A screen full to its last row keeps its bottom (more rows come back from history), any
        other keeps its top. Text is never dropped: what does not fit goes to history.
        """
        rows = [*self.history.rows, *self.grid]
        for row in rows:
            write_out(row, self.columns)
        top = len(self.history.rows)
        saved = self._saved.get(False, SavedCursor())
        marks = [
            (top + cursor[0], cursor[1]),
            (top, 0),
            (top + min(saved.y, self.lines - 1), saved.x),
        ]
        size = len(rows)
        while len(rows) > marks[0][0] + 1 and blank(rows[-1]):
            rows.pop()
        full = len(rows) == size
        if columns != self.columns:
            limit = (self.history.rows.maxlen or 0) + lines
            rows, marks = reflow(rows, self.columns, columns, marks, limit)
        start = max(len(rows) - lines, 0)
        if not full:
            start = max(start, marks[1][0])
        if columns == self.columns:
            self.history.scrolled += start - top
        else:
            # Rows are others now: none of them gets a number that was given.
            self.history.scrolled += max(lines, self.lines) + start
        self.history.replace(rows[:start])
        self.grid = rows[start:] + [Row() for _ in range(lines - len(rows) + start)]
        self._move_saved(saved, marks[2], start, lines)
        return max(marks[0][0] - start, 0), min(marks[0][1], columns)

    def _move_saved(self, saved: SavedCursor, mark: Position, start: int, lines: int) -> None:
        if False in self._saved:
            y = min(max(mark[0] - start, 0), lines - 1)
            self._saved[False] = SavedCursor(mark[1], y, saved.style, saved.charsets, saved.origin)
