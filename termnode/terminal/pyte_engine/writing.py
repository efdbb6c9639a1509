"""Putting text on the screen: wrapping, wide characters, combining marks, insert mode."""

from __future__ import annotations

from termnode.terminal.pyte_engine.cells import Cell, Row
from termnode.terminal.pyte_engine.charsets import Charsets
from termnode.terminal.pyte_engine.editing import pad, split_wide
from termnode.terminal.pyte_engine.motion import AUTOWRAP, INSERT, MotionScreen
from termnode.terminal.pyte_engine.widths import MAX_CLUSTER, SEGMENTS, width


class WriteScreen(MotionScreen):
    """The printing half of the screen."""

    def __init__(self, columns: int, lines: int, scrollback: int) -> None:
        self.charsets = Charsets()
        self.direct = True
        """No character set and no insert mode: ASCII goes straight into the row."""
        self.last_graphic = ""
        """The last character with its marks, for REP."""
        super().__init__(columns, lines, scrollback)

    def refresh_direct(self) -> None:
        """Work out ``direct`` again after a change of mode or character set."""
        self.direct = not self.charsets.active and INSERT not in self.mode

    def draw(self, data: str) -> None:
        """Print text without control characters. Called once per run of text: the hot path."""
        if not self.direct and self.charsets.active:
            data = self.charsets.translate(data)
            self.refresh_direct()
        if not data.isascii():
            self._draw_segments(data)
            return
        self.last_graphic = data[-1]
        cursor = self.cursor
        x = cursor.x
        end = x + len(data)
        if not self.direct or end > self.columns:
            self._put(list(map(self.pen.__getitem__, data)), 1)
            return
        row = self.grid[cursor.y]
        if x == len(row):
            row.extend(map(self.pen.__getitem__, data))
        else:
            self._overwrite(row, x, list(map(self.pen.__getitem__, data)))
        cursor.x = end
        if end == self.columns:
            self._reached_edge(row)
        self.dirty.add(cursor.y)

    def _draw_segments(self, data: str) -> None:
        """Print text that is not all ASCII, run by run of equal width."""
        for match in SEGMENTS.finditer(data):
            kind, text = match.lastindex, match[0]
            if kind == 4:
                kind = (3, 1, 2)[width(text)]
            if kind == 3:
                self._join(text)
                continue
            self.last_graphic = text[-1]
            if kind == 1:
                self._put(list(map(self.pen.__getitem__, text)), 1)
            else:
                self._put_wide(text)

    def _put_wide(self, text: str) -> None:
        pen = self.pen
        if self.columns == 1:
            # No room for two halves: the character alone stands for itself.
            self._put([pen[char] for char in text], 1)
            return
        tail = pen[""]
        self._put([cell for char in text for cell in (pen[char], tail)], 2)

    def _put(self, cells: list[Cell], unit: int) -> None:
        """Write cells from the cursor on, wrapping; ``unit`` cells stay together."""
        cursor = self.cursor
        at, count = 0, len(cells)
        if cursor.x + count < self.columns and INSERT not in self.mode:
            self._overwrite(self.grid[cursor.y], cursor.x, cells)
            cursor.x += count
            self.dirty.add(cursor.y)
            return
        while at < count:
            room = (self.columns - cursor.x) // unit * unit
            if room <= 0:
                at = self._make_room(at, count, unit)
                continue
            step = min(room, count - at)
            self._place(cells[at : at + step])
            at += step
        if cursor.x == self.columns:
            self._reached_edge(self.grid[cursor.y])

    def _make_room(self, at: int, count: int, unit: int) -> int:
        """Wrap to the next row; without autowrap only the last character counts."""
        cursor = self.cursor
        if AUTOWRAP not in self.mode:
            cursor.x = self.columns - unit
            return count - unit
        row = self.grid[cursor.y]
        if cursor.x < self.columns:
            # A wide character did not fit: the column it leaves is not part of the text.
            split_wide(row, cursor.x)
            del row[cursor.x :]
        row.wrapped = True
        cursor.x = 0
        self.index()
        return at

    def _place(self, cells: list[Cell]) -> None:
        """Write cells that fit in the row."""
        cursor = self.cursor
        row = self.grid[cursor.y]
        if INSERT in self.mode:
            self.insert_characters(len(cells))
        self._overwrite(row, cursor.x, cells)
        cursor.x += len(cells)
        self.dirty.add(cursor.y)

    @staticmethod
    def _overwrite(row: Row, x: int, cells: list[Cell]) -> None:
        size = len(row)
        end = x + len(cells)
        if x < size and not row[x][0]:
            split_wide(row, x)
        elif x > size:
            pad(row, x)
        if end < size and not row[end][0]:
            split_wide(row, end)
        row[x:end] = cells

    def _reached_edge(self, row: Row) -> None:
        """The last column is written: a wrap is pending, and an old wrap is over."""
        if row.wrapped:
            row.wrapped = False
        if AUTOWRAP not in self.mode:
            self.settle()

    def _join(self, marks: str) -> None:
        """Zero-width code points belong to the character left of the cursor, if there is one."""
        self.last_graphic = (self.last_graphic + marks)[:MAX_CLUSTER]
        y, x = self.cursor.y, self._cell_before()
        row = self.grid[y]
        if x < 0:
            return
        pad(row, x + 1)
        text, style = row[x]
        if len(text) < MAX_CLUSTER:
            joined = (text + marks)[:MAX_CLUSTER]
            row[x] = self.palette.cluster(self.pen, style, joined, len(joined) - len(text))
            self.dirty.add(y)

    def _cell_before(self) -> int:
        """Column of the character a mark belongs to; -1 at the start of a row."""
        x = self.cursor.x - 1
        row = self.grid[self.cursor.y]
        return x - 1 if 0 < x < len(row) and not row[x][0] else x

    def repeat(self, count: int) -> None:
        """REP: the last character with its marks again, at most one line of it."""
        last = self.last_graphic
        columns = width(last[0]) if last else 0
        if not columns:
            return
        count = min(count, self.columns)
        cell = (
            self.pen[last]
            if len(last) == 1
            else self.palette.cluster(self.pen, self.pen.style, last, 0)
        )
        if columns == 1 or self.columns == 1:
            self._put([cell] * count, 1)
        else:
            self._put([cell, self.pen[""]] * count, 2)
