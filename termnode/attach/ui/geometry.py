"""Which pane is beside another, which cell belongs to what, and which pane moves a border."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from termnode.view.messages import PlacedPane

Direction = Literal["up", "down", "left", "right"]
Axis = Literal["cols", "rows"]

DIRECTIONS: Final[tuple[Direction, ...]] = ("up", "down", "left", "right")
OPPOSITE: Final[dict[Direction, Direction]] = {
    "up": "down", "down": "up", "left": "right", "right": "left",
}  # fmt: skip
_BEFORE: Final = ("left", "up")


@dataclass(frozen=True, slots=True)
class Border:
    """The border between two panes: ``first`` is to the left of it or above it.

    ``axis`` is what changes of the panes when it is moved.
    """

    first: PlacedPane
    second: PlacedPane
    axis: Axis

    @property
    def place(self) -> int:
        """The column or row of the tab that it is in."""
        return _end(self.first, self.axis)


@dataclass(frozen=True, slots=True)
class Moved:
    """A pane and the columns or rows that it is to have."""

    pane: int
    axis: Axis
    size: int


def beside(panes: Sequence[PlacedPane], pane: PlacedPane, direction: Direction) -> list[PlacedPane]:
    """The panes that share a border with ``pane`` on that side."""
    return [other for other in panes if other.id != pane.id and _touch(pane, other, direction)]


def wrapped(
    panes: Sequence[PlacedPane], pane: PlacedPane, direction: Direction
) -> list[PlacedPane]:
    """As `beside`; at the edge of the tab, the panes at the edge opposite, as tmux goes on."""
    found = beside(panes, pane, direction)
    back = OPPOSITE[direction]
    return found or [
        other
        for other in panes
        if other.id != pane.id
        and _overlap(pane, other, direction)
        and not beside(panes, other, back)
    ]


def at(panes: Sequence[PlacedPane], x: int, y: int) -> PlacedPane | None:
    """The pane that has the cell."""
    return next((pane for pane in panes if _inside(pane, x, y)), None)


def inside(pane: PlacedPane, x: int, y: int) -> tuple[int, int]:
    """A cell of the tab as one of the pane; beyond its edge it is the one at the edge."""
    return min(max(x - pane.x, 0), pane.cols - 1), min(max(y - pane.y, 0), pane.rows - 1)


def border_at(panes: Sequence[PlacedPane], x: int, y: int) -> Border | None:
    """The border that the cell belongs to; None in a pane, and where borders cross."""
    left, right = at(panes, x - 1, y), at(panes, x + 1, y)
    if at(panes, x, y) is None and left is not None and right is not None and left != right:
        return Border(left, right, "cols")
    above, below = at(panes, x, y - 1), at(panes, x, y + 1)
    if at(panes, x, y) is None and above is not None and below is not None and above != below:
        return Border(above, below, "rows")
    return None


def drag(panes: Sequence[PlacedPane], border: Border, place: int) -> Moved:
    """What to resize so that the border comes to column or row ``place`` of the tab.

    The pane is one whose nearest border is this one: one without another neighbour on the same
    axis. Where both have one, the first is taken.
    """
    first, second = border.first, border.second
    after: Direction = "right" if border.axis == "cols" else "down"
    before = OPPOSITE[after]
    if beside(panes, first, before) and not beside(panes, second, after):
        return Moved(second.id, border.axis, _end(second, border.axis) - place - 1)
    return Moved(first.id, border.axis, place - _start(first, border.axis))


def pushed(
    panes: Sequence[PlacedPane], pane: PlacedPane, direction: Direction, by: int
) -> Moved | None:
    """Move a border of ``pane`` in a direction: the one after it, at the last pane the one before.

    None when it has no border on that axis.
    """
    axis: Axis = "cols" if direction in {"left", "right"} else "rows"
    after: Direction = "right" if axis == "cols" else "down"
    step = -by if direction in _BEFORE else by
    following = beside(panes, pane, after)
    if following:
        border = Border(pane, following[0], axis)
        return drag(panes, border, _end(pane, axis) + step)
    preceding = beside(panes, pane, OPPOSITE[after])
    if not preceding:
        return None
    border = Border(preceding[0], pane, axis)
    return drag(panes, border, _start(pane, axis) - 1 + step)


def _touch(pane: PlacedPane, other: PlacedPane, direction: Direction) -> bool:
    """One border cell between the two, on that side of ``pane``."""
    axis: Axis = "cols" if direction in {"left", "right"} else "rows"
    one, two = (other, pane) if direction in _BEFORE else (pane, other)
    return _end(one, axis) + 1 == _start(two, axis) and _overlap(pane, other, direction)


def _overlap(pane: PlacedPane, other: PlacedPane, direction: Direction) -> bool:
    """They share a row (or, up and down, a column); a border's cell counts as the first's."""
    axis: Axis = "rows" if direction in {"left", "right"} else "cols"
    return _start(pane, axis) <= _end(other, axis) and _start(other, axis) <= _end(pane, axis)


def _start(pane: PlacedPane, axis: Axis) -> int:
    return pane.x if axis == "cols" else pane.y


def _end(pane: PlacedPane, axis: Axis) -> int:
    return pane.x + pane.cols if axis == "cols" else pane.y + pane.rows


def _inside(pane: PlacedPane, x: int, y: int) -> bool:
    return pane.x <= x < pane.x + pane.cols and pane.y <= y < pane.y + pane.rows
