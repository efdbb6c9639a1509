"""Where things are in the view: the room of a tab, and which part of a larger one is shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from termnode.attach.borders import Place, borders
from termnode.attach.looks import Looks
from termnode.attach.runs import blanks
from termnode.terminal.engine import Style
from termnode.view.messages import Layout, PlacedPane, Run3

STATUS_ROWS: Final = 1
"""Rows at the bottom that are the view's own, where it has more than that."""

FILLER: Final = "·"


def tab_room(cols: int, rows: int) -> tuple[int, int]:
    """Columns and rows that a view of this size has for a tab: at least 1, as `Size` tells them."""
    return max(cols, 1), max(rows - STATUS_ROWS, 1)


def offset(room: int, length: int, cursor: int) -> int:
    """The first column (or row) shown of ``length``, in ``room``, so that the cursor is seen.

    It moves by half of the room, not with every step of the cursor.
    """
    if length <= room:
        return 0
    step = max(room // 2, 1)
    start = 0 if cursor < room else ((cursor - room) // step + 1) * step
    return min(start, length - room)


class PaneSpan(NamedTuple):
    """Columns of one row of a pane, from ``start`` to before ``end``."""

    pane: int
    y: int
    start: int
    end: int


Part = PaneSpan | tuple[Run3, ...]
"""Of one row of the view: of a pane, or what stands there whatever the panes show."""


def plan(layout: Layout, looks: Looks, corner: Place, room: tuple[int, int]) -> list[list[Part]]:
    """What each row of the view is made of, from left to right, together as wide as the room.

    ``corner`` is the cell of the tab that is shown first. A pane is never drawn over, not by a
    border and not by a pane that begins to the right of it.
    """
    x, y = corner
    window = range(x, x + room[0])
    rows = range(y, y + room[1])
    shown = sorted((p for p in layout.panes if not p.hidden), key=lambda place: place.x)
    ground = _Ground(layout, looks, window, rows)
    return [list(_row(shown, ground, window, line)) for line in rows]


def _row(shown: Sequence[PlacedPane], ground: _Ground, window: range, line: int) -> Iterator[Part]:
    at = window.start
    for place in shown:
        start = max(place.x, at)
        end = min(place.x + place.cols, window.stop)
        if start < end and place.y <= line < place.y + place.rows:
            if start > at:
                yield ground.runs(at, start, line)
            yield PaneSpan(place.id, line - place.y, start - place.x, end - place.x)
            at = end
    if at < window.stop:
        yield ground.runs(at, window.stop, line)


class _Ground:
    """What is seen where no pane is."""

    def __init__(self, layout: Layout, looks: Looks, columns: range, rows: range) -> None:
        self._layout = layout
        self._looks = looks
        self._edges = borders(layout, columns, rows)

    def runs(self, start: int, end: int, line: int) -> tuple[Run3, ...]:
        return tuple(self._cell(x, line) for x in range(start, end))

    def _cell(self, x: int, line: int) -> Run3:
        edge = self._edges.get((x, line))
        if edge is not None:
            return edge.char, 1, self._border(active=edge.active)
        if x < self._layout.cols and line < self._layout.rows:
            return blanks(1)
        return FILLER, 1, self._looks.filler

    def _border(self, *, active: bool) -> Style:
        return self._looks.active_border if active else self._looks.border
