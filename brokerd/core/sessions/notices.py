"""Notices on their way: bounded queues per connection, and a mark for what was not kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

from brokerd.core.sessions.model import GAP, Notice, Told
from brokerd.limits import SessionLimits


class Notices:
    """A connection's queue exists while something waits in it. All operations are O(1)."""

    def __init__(self, limits: SessionLimits) -> None:
        self._per_connection = limits.notices_per_connection
        self._in_all = limits.notices
        self._queues: dict[str, deque[Notice]] = {}
        self._gaps: dict[str, None] = {}
        self._lengths = _Lengths()

    def put(self, connection_id: str, notice: Notice) -> None:
        """Queue a notice, or mark a gap: here when this queue is full, else at a longest one."""
        if self._lengths.of(connection_id) >= self._per_connection:
            self._gaps[connection_id] = None
            return
        if self._lengths.total >= self._in_all:
            self._give_way()
        self._queues.setdefault(connection_id, deque()).append(notice)
        self._lengths.change(connection_id, +1)

    def take(self, connection_id: str) -> Told | None:
        """What to tell this connection next: the gap first. None when there is nothing."""
        if connection_id in self._gaps:
            del self._gaps[connection_id]
            return GAP
        return self._pop(connection_id) if connection_id in self._queues else None

    def restore(self, connection_id: str, taken: Told) -> None:
        """What was taken could not be sent; without room for a notice, a gap stands for it."""
        room = self._lengths.of(connection_id) < self._per_connection
        if not isinstance(taken, Notice) or not room or self._lengths.total >= self._in_all:
            self._gaps[connection_id] = None
            return
        self._queues.setdefault(connection_id, deque()).appendleft(taken)
        self._lengths.change(connection_id, +1)

    def forget(self, connection_id: str) -> None:
        """The connection ended."""
        self._gaps.pop(connection_id, None)
        while connection_id in self._queues:
            self._pop(connection_id)

    @property
    def any(self) -> bool:
        """Whether anybody has anything to be told; costs nothing, so ask this first."""
        return bool(self._queues or self._gaps)

    def waiting(self) -> Iterator[str]:
        """The connections that have something to be told, each once."""
        yield from self._gaps
        yield from (each for each in self._queues if each not in self._gaps)

    def queues(self) -> Mapping[str, deque[Notice]]:
        """The queues, none of them empty."""
        return self._queues

    @property
    def gaps(self) -> int:
        """How many connections have a gap to be told."""
        return len(self._gaps)

    def __len__(self) -> int:
        return self._lengths.total

    def verify(self) -> None:
        """Raise AssertionError unless all lengths are as counted and within their bounds."""
        lengths = {each: len(queue) for each, queue in self._queues.items()}
        self._lengths.verify(lengths)
        if any(not 0 < length <= self._per_connection for length in lengths.values()):
            raise AssertionError("a queue of notices is empty or over its cap")
        if len(self) > self._in_all:
            raise AssertionError("notices over their cap")

    def _give_way(self) -> None:
        longest = self._lengths.longest()
        self._pop(longest)
        self._gaps[longest] = None

    def _pop(self, connection_id: str) -> Notice:
        queue = self._queues[connection_id]
        notice = queue.popleft()
        self._lengths.change(connection_id, -1)
        if not queue:
            del self._queues[connection_id]
        return notice


class _Lengths:
    """Which queue is a longest one, without looking at them all: connections by length."""

    def __init__(self) -> None:
        self.total = 0
        self._of: dict[str, int] = {}
        self._with: dict[int, dict[str, None]] = {}
        self._most = 0

    def of(self, connection_id: str) -> int:
        return self._of.get(connection_id, 0)

    def longest(self) -> str:
        """Of several, the one that has been this long for longest."""
        return next(iter(self._with[self._most]))

    def change(self, connection_id: str, by: int) -> None:
        """One more or one less; the most never moves by more than one."""
        before = self._of.pop(connection_id, 0)
        after = before + by
        if before:
            self._leave(before, connection_id)
        if after:
            self._of[connection_id] = after
            self._with.setdefault(after, {})[connection_id] = None
        self.total += by
        self._most = max(self._most, after)
        if self._most not in self._with:
            self._most = after

    def verify(self, lengths: Mapping[str, int]) -> None:
        """Raise AssertionError unless these are the lengths."""
        if self._of != lengths or self.total != sum(lengths.values()):
            raise AssertionError("lengths of the queues of notices differ")
        if self._most != max(lengths.values(), default=0):
            raise AssertionError("the longest queue of notices is not known")
        sets = {length: set(each) for length, each in self._with.items()}
        if sets != {n: {k for k, v in lengths.items() if v == n} for n in lengths.values()}:
            raise AssertionError("the queues of notices by length differ")

    def _leave(self, length: int, connection_id: str) -> None:
        same = self._with[length]
        del same[connection_id]
        if not same:
            del self._with[length]
