"""What ends when: one heap for everything that ends by itself, in the order of time."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, KeysView
from enum import IntEnum
from heapq import heapify, heappop, heappush
from typing import Final, TypeAlias


class Kind(IntEnum):
    """What ends. Of those that end in the same millisecond, lower ones first.

    Who waits or depends goes before what they would be told of; a grant before the states.
    """

    INTEREST = 0
    DEPENDENCY = 1
    CHALLENGE = 2
    GRANT = 3
    LEASE = 4
    WINDOW = 5


Key: TypeAlias = "tuple[Kind, Hashable]"
_SLACK: Final = 64


class Schedule:
    """Deadlines by key. Setting, moving and cancelling cost O(log n) at most.

    Of one kind and time, what was set first ends first; moving a deadline keeps its turn. The heap
    has at most one entry in force per key; one that is too early is put back when it comes up. So
    whoever renews often leaves no trail, and entries that no longer count are swept out before
    they outnumber the rest.
    """

    __slots__ = ("_due", "_heap", "_queued", "_serial", "_turns")

    def __init__(self) -> None:
        self._due: dict[Key, int] = {}
        self._turns: dict[Key, int] = {}
        self._queued: dict[Key, int] = {}
        self._heap: list[tuple[int, Kind, int, Key]] = []
        self._serial = 0

    def set(self, kind: Kind, what: Hashable, due_ms: int) -> None:
        """``what`` ends at ``due_ms``; an earlier word on it no longer counts."""
        key = (kind, what)
        if key not in self._due:
            self._serial += 1
            self._turns[key] = self._serial
        self._due[key] = due_ms
        queued = self._queued.get(key)
        if queued is None or due_ms < queued:
            self._push(key, due_ms)

    def cancel(self, kind: Kind, what: Hashable) -> None:
        """It does not end by itself any more; unknown is no error."""
        self._drop((kind, what))

    def next(self) -> int | None:
        """When something may end: never too late, maybe too early. None when nothing will."""
        return self._heap[0][0] if self._due else None

    def expired(self, now_ms: int) -> Iterator[tuple[int, Kind, Hashable]]:
        """Take out what has ended by now, in order; more may be set meanwhile."""
        while self._heap and self._heap[0][0] <= now_ms:
            queued, _, turn, key = heappop(self._heap)
            if self._turns.get(key) != turn or self._queued[key] != queued:
                continue
            due = self._due[key]
            if due > queued:
                self._push(key, due)
            else:
                self._drop(key)
                yield due, *key

    def due(self, kind: Kind, what: Hashable) -> int | None:
        """When ``what`` ends; None when it does not."""
        return self._due.get((kind, what))

    def pending(self) -> KeysView[Key]:
        """All that will end."""
        return self._due.keys()

    def clear(self) -> None:
        """Nothing ends by itself any more."""
        for each in (self._due, self._turns, self._queued, self._heap):
            each.clear()

    def verify(self) -> None:
        """Raise AssertionError unless every deadline has an entry that comes up in time."""
        entries = {(due, turn, key) for due, _, turn, key in self._heap}
        if not self._due.keys() == self._turns.keys() == self._queued.keys():
            raise AssertionError("deadlines, turns and entries differ")
        for key, due in self._due.items():
            queued = self._queued[key]
            if queued > due or (queued, self._turns[key], key) not in entries:
                raise AssertionError(f"a deadline without its entry: {key[0].name}")
        if len(self._heap) > 2 * len(self._due) + _SLACK + 1:
            raise AssertionError("the heap is not swept")

    def _push(self, key: Key, due_ms: int) -> None:
        self._queued[key] = due_ms
        heappush(self._heap, (due_ms, key[0], self._turns[key], key))

    def _drop(self, key: Key) -> None:
        for each in (self._due, self._turns, self._queued):
            each.pop(key, None)
        if len(self._heap) > 2 * len(self._due) + _SLACK:
            self._sweep()

    def _sweep(self) -> None:
        self._queued = dict(self._due)
        self._heap = [(due, key[0], self._turns[key], key) for key, due in self._due.items()]
        heapify(self._heap)
