"""When the characters of one row changed.

``Marks`` are pairs (start, stamp), ascending, the first at 0: the characters from ``start`` to the
next pair, or for ever, changed last at ``stamp``. Blanks behind the text count with its last one.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from typing import Final

Marks = tuple[tuple[int, int], ...]

MAX_MARKS: Final = 16
"""Pairs of one row; neighbours are merged beyond, and count as the newer of the two."""

FAR: Final = 1 << 30
"""The end of a span that goes on behind the end of the text."""


def whole(stamp: int) -> Marks:
    """All characters changed at ``stamp``."""
    return ((0, stamp),)


def common_prefix(first: str, second: str) -> int:
    """How many characters two texts begin with in common."""
    shorter = min(len(first), len(second))
    if first[:shorter] == second[:shorter]:
        return shorter
    return bisect_left(range(shorter), True, key=lambda n: first[: n + 1] != second[: n + 1])


def common_suffix(first: str, second: str) -> int:
    """How many characters two texts end with in common."""
    return common_prefix(first[::-1], second[::-1])


def edited(marks: Marks, old: str, new: str, now: int) -> Marks:
    """The marks of a row of text ``old`` that became ``new``.

    What both begin with keeps its marks, and when they are equally long also what both end with.
    """
    start, end = common_prefix(old, new), len(new)
    if len(old) == len(new):
        end -= common_suffix(old[start:], new[start:])
    before = [mark for mark in marks if mark[0] < start]
    behind = _from(marks, end) if end < len(new) else []
    return tidy([*before, *([(start, now)] if start < end or not before else []), *behind])


def _from(marks: Marks, start: int) -> list[tuple[int, int]]:
    """The marks of what stands at ``start`` and behind."""
    return [(start, stamp_at(marks, start)), *(mark for mark in marks if mark[0] > start)]


def stamp_at(marks: Marks, position: int) -> int:
    """When the character at ``position`` changed."""
    index = bisect_left(marks, (position + 1,)) - 1
    return marks[max(index, 0)][1]


def tidy(marks: list[tuple[int, int]]) -> Marks:
    """Without pairs that say nothing, and at most MAX_MARKS."""
    kept = marks[:1] + [after for before, after in pairwise(marks) if before[1] != after[1]]
    while len(kept) > MAX_MARKS:
        nearest = min(range(1, len(kept)), key=lambda n: abs(kept[n][1] - kept[n - 1][1]))
        start, stamp = kept[nearest - 1]
        kept[nearest - 1 : nearest + 1] = [(start, max(stamp, kept[nearest][1]))]
    return tuple(kept)


def spans(marks: Marks, after: int) -> tuple[tuple[int, int], ...]:
    """The stretches newer than ``after``; the last may end at FAR, behind the end of the text."""
    found: list[tuple[int, int]] = []
    for (start, stamp), (end, _) in pairwise((*marks, (FAR, 0))):
        if stamp <= after:
            continue
        joins = bool(found) and found[-1][1] == start
        found.append((found.pop()[0] if joins else start, end))
    return tuple(found)
