"""Scrollback: rows that left the top of the main screen, oldest first."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import islice
from typing import Final

from termnode.terminal.pyte_engine.cells import Cell, Palette, Row

CELLS_PER_LINE: Final = 16
"""Distinct cells that history may hold per line of its limit, on average (about 300 bytes each)."""

SWEEP_EVERY: Final = 65_536
"""New cells between two looks at what history holds."""

LINK_UNIT: Final = 128
"""Characters of a hyperlink that weigh as much as one more cell."""


class History:
    """At most ``limit`` rows, and a bounded number of distinct cells in them.

    Ordinary rows share their cells. A program that gives each cell another color could make every
    cell its own object: history then keeps fewer lines, the newest, rather than more memory.
    """

    def __init__(self, limit: int, palette: Palette) -> None:
        self._palette = palette
        self._sweep_at = SWEEP_EVERY
        self._budget = limit * CELLS_PER_LINE + SWEEP_EVERY // 8
        self.rows: deque[Row] = deque(maxlen=limit)
        self.scrolled = 0
        """Number of the line after the newest row: how many rows ever came, less those taken back.
        """

    def push(self, row: Row) -> None:
        """Take the row that left the screen."""
        self.scrolled += 1
        self.rows.append(row)
        # Paced by the stream, never by how it was cut into feeds.
        if self._palette.created >= self._sweep_at:
            self._sweep()

    def replace(self, rows: Iterable[Row]) -> None:
        """Take these rows for all of history (after a resize)."""
        self.rows = deque(rows, maxlen=self.rows.maxlen)

    def slice(self, first: int, last: int) -> list[Row]:
        """Rows ``first`` (0 is the oldest) up to and without ``last``."""
        return list(islice(self.rows, first, last))

    def _sweep(self) -> None:
        self._sweep_at = self._palette.created + SWEEP_EVERY
        seen: dict[int, Cell] = {}
        weight = 0
        for kept, row in enumerate(reversed(self.rows)):
            fresh = {id(cell): cell for cell in row if id(cell) not in seen}
            weight += len(fresh) + _link_weight(fresh)
            seen.update(fresh)
            if weight > self._budget:
                self.replace(islice(self.rows, len(self.rows) - kept, None))
                return


def _link_weight(cells: dict[int, Cell]) -> int:
    """What the hyperlinks of these cells weigh, each link once."""
    links = {style.link for _, style in cells.values() if style.link}
    return sum(len(link) // LINK_UNIT for link in links)
