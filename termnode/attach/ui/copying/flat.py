"""A line as text, and which column each of its characters stands in."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from termnode.terminal.render.cells import Width, cells
from termnode.view.messages import Row


@dataclass(frozen=True, slots=True)
class Flat:
    """``columns[i]`` is the column of character ``i``; one more is the width of it all."""

    text: str
    columns: Sequence[int]

    @property
    def width(self) -> int:
        """Columns."""
        return self.columns[-1]

    def cut(self, start: int, end: int) -> str:
        """The characters that begin in the columns from ``start`` to before ``end``."""
        first, last = bisect_left(self.columns, start), bisect_left(self.columns, end)
        return self.text[first : min(last, len(self.text))]

    def index(self, column: int) -> int:
        """The first of the characters that the cell shows; the text's length beyond its end."""
        if column >= self.width:
            return len(self.text)
        return bisect_left(self.columns, self.columns[bisect_right(self.columns, column) - 1])

    def end(self, column: int) -> int:
        """The column after the character that the cell shows."""
        after = bisect_right(self.columns, column)
        return self.columns[after] if after < len(self.columns) else column + 1


EMPTY = Flat("", (0,))


def flat(row: Row, width: Width) -> Flat:
    """The line that a row of runs shows. Each run begins at the column that it was told at."""
    text = "".join(part for part, _, _ in row)
    if text.isascii():
        return Flat(text, range(len(text) + 1))
    columns: list[int] = []
    at = 0
    for part, filled, _ in row:
        columns += _columns(part, at, width)
        at += filled
    return Flat(text, [*columns, at])


def _columns(text: str, at: int, width: Width) -> list[int]:
    found: list[int] = []
    for cell, wide in cells(text, width):
        found += [at] * len(cell)
        at += wide
    return found
