"""What is selected between where a selection began and the cursor, both ends included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from termnode.attach.ui.copying.flat import Flat


@dataclass(frozen=True, slots=True)
class Selection:
    """Begun at (``line``, ``x``). Of ``whole`` lines, or a ``rectangle``, or neither."""

    line: int
    x: int
    whole: bool = False
    rectangle: bool = False

    def lines(self, cursor: tuple[int, int]) -> tuple[int, int]:
        """The first line, and the one after the last."""
        return min(self.line, cursor[0]), max(self.line, cursor[0]) + 1

    def span(self, line: int, cursor: tuple[int, int], cols: int) -> tuple[int, int] | None:
        """The columns selected of a line, from and to before; None when none is."""
        first, after = self.lines(cursor)
        if not first <= line < after:
            return None
        if self.whole:
            return 0, cols
        if self.rectangle:
            return min(self.x, cursor[1]), max(self.x, cursor[1]) + 1
        start, end = sorted(((self.line, self.x), (cursor[0], cursor[1])))
        return (start[1] if line == first else 0, end[1] + 1 if line == after - 1 else cols)

    def text(self, cursor: tuple[int, int], cols: int, flat: Callable[[int], Flat]) -> str:
        """The selected text. Rows that are full to the last column go on in the next one.

        Blanks at the ends of rows are left out; a line as a whole ends with a newline.
        """
        parts: list[str] = []
        for line in range(*self.lines(cursor)):
            parts.append(self._part(line, cursor, cols, flat(line)))
            parts.append("" if self._goes_on(flat(line), cols) else "\n")
        text = "".join(parts)
        return text if self.whole else text.removesuffix("\n")

    def _part(self, line: int, cursor: tuple[int, int], cols: int, row: Flat) -> str:
        span = self.span(line, cursor, cols)
        assert span is not None  # only selected lines are asked for
        part = row.cut(row.columns[row.index(span[0])], span[1])
        return part.rstrip(" ") if self.rectangle or span[1] >= row.width else part

    def _goes_on(self, row: Flat, cols: int) -> bool:
        return not (self.whole or self.rectangle) and row.width >= cols
