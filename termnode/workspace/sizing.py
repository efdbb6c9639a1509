"""Giving one pane of a split tree the columns or rows that it asks for.

The nearest split that can give them does, so that panes farther away keep their sizes; a neighbour
is taken down to its minimum before one beyond it is touched. Inside a neighbour the room is shared
as before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from termnode.workspace.tree import (
    BORDER,
    MIN_COLS,
    MIN_ROWS,
    Direction,
    Leaf,
    Node,
    Split,
    lengths,
    minimum,
)


def resized(node: Node, pane: int, direction: Direction, want: int, length: int) -> Node:
    """``node`` with ``pane`` as near to ``want`` columns (or rows: ``v``) as the others allow.

    ``length`` is what ``node`` itself has in that direction, and keeps. Raises KeyError when the
    pane is not there.
    """
    path = _path(node, pane)
    if path is None:
        raise KeyError(pane)
    want = max(want, (MIN_COLS, MIN_ROWS)[direction.axis])
    return _resized(node, list(_steps(node, path)), _Wish(direction, want), length)


@dataclass(frozen=True, slots=True)
class _Wish:
    direction: Direction
    want: int


@dataclass(frozen=True, slots=True)
class _Step:
    """One split on the way down to the pane, and on which side of it that goes on."""

    split: Split
    first: bool

    @property
    def child(self) -> Node:
        return self.split.first if self.first else self.split.second

    @property
    def sibling(self) -> Node:
        return self.split.second if self.first else self.split.first


def _path(node: Node, pane: int) -> list[bool] | None:
    """For each split on the way to the pane, whether it is in the first half; None: not here."""
    if isinstance(node, Leaf):
        return [] if node.pane == pane else None
    for first, half in ((True, node.first), (False, node.second)):
        path = _path(half, pane)
        if path is not None:
            return [first, *path]
    return None


def _steps(node: Node, path: list[bool]) -> Iterator[_Step]:
    for first in path:
        assert isinstance(node, Split), "the path ends at the pane"
        step = _Step(node, first)
        yield step
        node = step.child


def _resized(node: Node, steps: list[_Step], wish: _Wish, length: int) -> Node:
    if not steps:
        return node
    step, *below = steps
    split = step.split
    if split.direction is wish.direction:
        room = _room(step, below, wish, length)
        split = _weighted(split, room if step.first else length - BORDER - room, length)
        length = room
    child = _resized(step.child, below, wish, length)
    return replace(split, first=child) if step.first else replace(split, second=child)


def _room(step: _Step, below: list[_Step], wish: _Wish, length: int) -> int:
    """What the half with the pane should have of ``length``: what it has, when that will do."""
    now = lengths(step.split, length)[0 if step.first else 1]
    need = _need(below, wish)
    can_give = any(each.split.direction is wish.direction for each in below)
    if can_give and need <= now:
        return now
    return min(need, length - BORDER - minimum(step.sibling)[wish.direction.axis])


def _need(steps: list[_Step], wish: _Wish) -> int:
    """The least that the top of ``steps`` must have for the pane to have what it wishes."""
    need = wish.want
    for step in reversed(steps):
        other = minimum(step.sibling)[wish.direction.axis]
        need = need + BORDER + other if step.split.direction is wish.direction else max(need, other)
    return need


def _weighted(split: Split, first: int, length: int) -> Split:
    """``split`` with weights that give its first half ``first`` of ``length`` exactly."""
    return replace(split, weights=(first + BORDER, length - first))
