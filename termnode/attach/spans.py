"""Which columns of a row differ between two frames."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import NamedTuple

from termnode.attach.runs import all_steady, blanks, columns
from termnode.view.messages import Row, Run3


class Change(NamedTuple):
    """Columns from ``start`` to before ``end`` that are to be painted."""

    start: int
    end: int
    erase: bool
    """Whether what is right of them is to be erased."""


def change(old: Row, new: Row) -> Change | None:
    """What of ``new`` is to be painted over ``old``; None when they are equal.

    Where a row has, or had, characters that are not `steady`, all to the right is painted again:
    they may have been drawn wider than they should be, over their neighbours.
    """
    if old is new or old == new:
        return None
    before, after = columns(old), columns(new)
    start = min(_same(old, new), after)
    if not all_steady(old) or not all_steady(new):
        return Change(start, after, erase=True)
    length = max(before, after)
    tail = _same(_backwards(old, length - before), _backwards(new, length - after), forward=False)
    end = max(length - tail, start)
    return Change(min(start, end), min(end, after), erase=before > after and end > after)


def _backwards(row: Row, missing: int) -> list[Run3]:
    """The row from its end, with the blanks that it leaves out."""
    return ([blanks(missing)] if missing else []) + list(reversed(row))


def _same(old: Iterable[Run3], new: Iterable[Run3], *, forward: bool = True) -> int:
    """How many columns are the same from the start on (or from the end: runs come reversed)."""
    count = 0
    for one, other in zip(old, new, strict=False):
        if one == other:
            count += one[1]
            continue
        return count + _same_text(one, other, forward=forward)
    return count


def _same_text(one: Run3, other: Run3, *, forward: bool) -> int:
    """The same in two runs that differ; none where a character may be more than a column."""
    if one[2] != other[2] or not (one[0].isascii() and other[0].isascii()):
        return 0
    step = 1 if forward else -1
    pairs = zip(one[0][::step], other[0][::step], strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
