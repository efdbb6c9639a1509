"""The split tree of one tab: panes at the leaves, one border cell between neighbours.

Nodes are immutable; every operation returns a new tree. Sizes come from weights and from nothing
else, so a tab that shrinks and grows back looks as before. Recursion is as deep as the tree, which
the workspace's pane cap bounds.

The rules of room: each half, counted with one border, gets the share of its weight, rounded down
for the first half, but never less than the half needs for its own panes. So whatever `minimum` says
fits, fits; and a row of panes is even, to one cell, when the weights count the panes of each half.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, TypeAlias

MIN_COLS: Final = 2
"""No pane is narrower: a wide character needs two cells."""

MIN_ROWS: Final = 1
BORDER: Final = 1
"""Cells between the two halves of a split."""


class Direction(StrEnum):
    """Where the new half of a split goes: ``h`` to the right, ``v`` below."""

    HORIZONTAL = "h"
    VERTICAL = "v"

    @property
    def axis(self) -> int:
        """Which of (columns, rows) a split in this direction shares out."""
        return 0 if self is Direction.HORIZONTAL else 1


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle of cells; ``x`` and ``y`` count from 0 at the top left of the tab."""

    x: int
    y: int
    cols: int
    rows: int


@dataclass(frozen=True, slots=True)
class Leaf:
    """One pane, by its id."""

    pane: int


@dataclass(frozen=True, slots=True)
class Split:
    """Two halves and a border. ``weights`` are positive and say how the room is shared.

    ``need`` follows from the halves: the fewest columns and rows. It is worked out once, here, so
    that a layout costs one step per pane however the tree leans.
    """

    direction: Direction
    first: Node
    second: Node
    weights: tuple[int, int] = (1, 1)
    need: tuple[int, int] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        first, second = minimum(self.first), minimum(self.second)
        if self.direction is Direction.HORIZONTAL:
            need = first[0] + BORDER + second[0], max(first[1], second[1])
        else:
            need = max(first[0], second[0]), first[1] + BORDER + second[1]
        object.__setattr__(self, "need", need)


Node: TypeAlias = Leaf | Split


def panes(node: Node) -> Iterator[int]:
    """The pane ids of ``node``, left to right and top to bottom."""
    if isinstance(node, Leaf):
        yield node.pane
    else:
        yield from panes(node.first)
        yield from panes(node.second)


def split(node: Node, pane: int, new: int, direction: Direction) -> Node:
    """``node`` with ``pane``'s room halved for ``new``; raises KeyError when it is not there."""
    halved = Split(direction, Leaf(pane), Leaf(new))
    result = _replace(node, pane, halved)
    if result is None:
        raise KeyError(pane)
    return result


def remove(node: Node, pane: int) -> tuple[Node | None, int | None]:
    """``node`` without ``pane``, and the first pane of the sibling that took its room.

    ``(None, None)`` when it was the only one; raises KeyError when it is not there.
    """
    if node == Leaf(pane):
        return None, None
    result = _without(node, pane)
    if result is None:
        raise KeyError(pane)
    return result


def exchange(node: Node, one: int, other: int) -> Node:
    """``node`` with the two panes in each other's places; one of them may be somewhere else."""
    if isinstance(node, Leaf):
        return Leaf({one: other, other: one}.get(node.pane, node.pane))
    return replace(
        node, first=exchange(node.first, one, other), second=exchange(node.second, one, other)
    )


def minimum(node: Node) -> tuple[int, int]:
    """The fewest columns and rows in which every pane has its minimum."""
    return (MIN_COLS, MIN_ROWS) if isinstance(node, Leaf) else node.need


def can_halve(rect: Rect, direction: Direction) -> bool:
    """Whether both halves of ``rect`` would have room for a pane."""
    return (rect.cols, rect.rows)[direction.axis] >= halvable(direction)


def halvable(direction: Direction) -> int:
    """The fewest columns or rows that a pane must have to be halved in this direction."""
    return 2 * (MIN_COLS, MIN_ROWS)[direction.axis] + BORDER


def geometry(node: Node, cols: int, rows: int) -> dict[int, Rect]:
    """Where each pane is in an area of ``cols`` by ``rows`` cells.

    Panes and borders tile the area exactly. Raises ValueError when the area is below `minimum`.
    """
    need = minimum(node)
    if cols < need[0] or rows < need[1]:
        raise ValueError(f"{cols}x{rows} is below the minimum {need[0]}x{need[1]}")
    placed: dict[int, Rect] = {}
    _place(node, Rect(0, 0, cols, rows), placed)
    return placed


def _place(node: Node, room: Rect, placed: dict[int, Rect]) -> None:
    if isinstance(node, Leaf):
        placed[node.pane] = room
        return
    first, second = _halves(node, room)
    _place(node.first, first, placed)
    _place(node.second, second, placed)


def lengths(node: Split, length: int) -> tuple[int, int]:
    """Columns (or rows, of a vertical split) of the two halves of ``length`` with their border."""
    axis = node.direction.axis
    share = (length + BORDER) * node.weights[0] // sum(node.weights) - BORDER
    low, high = minimum(node.first)[axis], length - BORDER - minimum(node.second)[axis]
    first = min(max(share, low), high)
    return first, length - BORDER - first


def _halves(node: Split, room: Rect) -> tuple[Rect, Rect]:
    first, rest = lengths(node, (room.cols, room.rows)[node.direction.axis])
    offset = first + BORDER
    if node.direction is Direction.HORIZONTAL:
        return (
            Rect(room.x, room.y, first, room.rows),
            Rect(room.x + offset, room.y, rest, room.rows),
        )
    return Rect(room.x, room.y, room.cols, first), Rect(room.x, room.y + offset, room.cols, rest)


def _replace(node: Node, pane: int, by: Node) -> Node | None:
    """``node`` with the leaf of ``pane`` replaced; None when it is not in here."""
    if isinstance(node, Leaf):
        return by if node.pane == pane else None
    first = _replace(node.first, pane, by)
    if first is not None:
        return replace(node, first=first)
    second = _replace(node.second, pane, by)
    if second is not None:
        return replace(node, second=second)
    return None


def _without(node: Node, pane: int) -> tuple[Node, int] | None:
    """``node`` without ``pane`` and the heir to its room; None when it is not in here."""
    if isinstance(node, Leaf):
        return None
    for half, sibling in ((node.first, node.second), (node.second, node.first)):
        if half == Leaf(pane):
            return sibling, next(panes(sibling))
    inner = _without(node.first, pane)
    if inner is not None:
        return replace(node, first=inner[0]), inner[1]
    inner = _without(node.second, pane)
    if inner is not None:
        return replace(node, second=inner[0]), inner[1]
    return None
