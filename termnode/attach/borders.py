"""The lines between panes: which cells they are, how they join, which belong to the active one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from termnode.view.messages import Layout, PlacedPane

_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
_JOINTS: Final = "─││││┘┐┤─└┌├─┴┬┼"
"""By which of the four neighbours are borders too."""

Place = tuple[int, int]
"""Column and row of a tab."""


class Edge(NamedTuple):
    """One cell of a border."""

    char: str
    active: bool


def borders(layout: Layout, columns: range, rows: range) -> dict[Place, Edge]:
    """The border cells within these columns and rows; also those that frame the tab, to the right
    and below, where the view is larger than it.
    """
    shown = [place for place in layout.panes if not place.hidden]
    cells = {
        (x, y)
        for place in shown
        for x, y in _ring(place)
        if 0 <= x <= layout.cols and 0 <= y <= layout.rows
    }
    marked = _marked(shown, layout.active)
    return {
        (x, y): Edge(_joint(cells, x, y), (x, y) in marked)
        for x, y in cells
        if x in columns and y in rows
    }


def _ring(place: PlacedPane) -> Iterator[Place]:
    left, right = place.x - 1, place.x + place.cols
    top, bottom = place.y - 1, place.y + place.rows
    for x in range(left, right + 1):
        yield from ((x, top), (x, bottom))
    for y in range(place.y, bottom):
        yield from ((left, y), (right, y))


def _joint(cells: set[Place], x: int, y: int) -> str:
    return _JOINTS[
        _UP * ((x, y - 1) in cells)
        + _DOWN * ((x, y + 1) in cells)
        + _LEFT * ((x - 1, y) in cells)
        + _RIGHT * ((x + 1, y) in cells)
    ]


def _marked(shown: Sequence[PlacedPane], active: int) -> set[Place]:
    """The cells around the active pane. Of two panes both are around the same line: there the half
    that is nearer to the top left stands for the first pane, the other for the second.
    """
    if len(shown) < 2:
        return set()
    ring: set[Place] = set()
    for place in shown:
        if place.id == active:
            ring.update(_ring(place))
    return _half(ring, shown, active) if len(shown) == 2 else ring


def _half(ring: Iterable[Place], shown: Sequence[PlacedPane], active: int) -> set[Place]:
    first, second = sorted(shown, key=lambda place: (place.y, place.x))
    beside = first.y == second.y
    middle = (first.y + (first.rows + 1) // 2) if beside else (first.x + (first.cols + 1) // 2)
    return {cell for cell in ring if (cell[beside] < middle) == (active == first.id)}
