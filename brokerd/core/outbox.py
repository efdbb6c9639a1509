"""What waits to be sent to one connection: bounded, in order, honest about what it dropped.

A message that does not fit is dropped, never one that already waits; the next message that is taken
out says ``gap``. A newer event of a topic takes the place of an older one that still waits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Final, TypeAlias

from brokerd.core.charges import Meter
from brokerd.limits import Limits

Frames: TypeAlias = "tuple[bytes, bytes, bytes]"
"""Header, body, stamp."""

_GAP: Final = b"\xa3gap\xc3"
"""msgpack for the pair ``"gap": true``."""


class _Entry:
    __slots__ = ("frames", "size", "topic")

    def __init__(self, frames: Frames, topic: str | None) -> None:
        self.frames = frames
        self.topic = topic
        self.size = len(frames[0]) + len(frames[1]) + len(frames[2])


class Outbox:
    """The queue of one connection: at most ``queue_messages`` and ``queue_bytes``."""

    __slots__ = ("_entries", "_max_bytes", "_max_messages", "_topics", "bytes", "gap")

    def __init__(self, limits: Limits) -> None:
        self._entries: deque[_Entry] = deque()
        self._topics: dict[str, _Entry] = {}
        self._max_messages = limits.queue_messages
        self._max_bytes = limits.queue_bytes
        self.bytes = 0
        self.gap = False

    def __len__(self) -> int:
        return len(self._entries)

    def room(self, size: int) -> bool:
        """Whether a message of ``size`` bytes fits."""
        return len(self._entries) < self._max_messages and self.bytes + size <= self._max_bytes

    def put(self, frames: Frames, topic: str | None = None) -> bool:
        """Queue ``frames``; False when they were dropped and the gap noted.

        With a ``topic``, a waiting event of the same topic is replaced in its place.
        """
        entry = _Entry(frames, topic)
        waiting = self._topics.get(topic) if topic is not None else None
        if waiting is not None:
            return self._replace(waiting, entry)
        if not self.room(entry.size):
            self.gap = True
            return False
        self._entries.append(entry)
        self.bytes += entry.size
        if topic is not None:
            self._topics[topic] = entry
        return True

    def take(self) -> Frames | None:
        """The next message, with ``gap`` in its header after a drop; None when empty."""
        if not self._entries:
            return None
        entry = self._entries.popleft()
        self.bytes -= entry.size
        if entry.topic is not None and self._topics.get(entry.topic) is entry:
            del self._topics[entry.topic]
        told, self.gap = self.gap, False
        # One that was put back says so already.
        if told and not entry.frames[0].endswith(_GAP):
            return with_gap(entry.frames)
        return entry.frames

    def put_back(self, frames: Frames) -> None:
        """Return a message that was taken but could not be sent to the front of the queue."""
        entry = _Entry(frames, None)
        self._entries.appendleft(entry)
        self.bytes += entry.size

    def clear(self) -> None:
        """Drop everything."""
        self._entries.clear()
        self._topics.clear()
        self.bytes = 0

    def sizes(self) -> list[int]:
        """The size of each waiting message, for the audit."""
        return [entry.size for entry in self._entries]

    def _replace(self, waiting: _Entry, newer: _Entry) -> bool:
        if not self._may_grow(newer.size - waiting.size):
            self.gap = True
            return False
        self.bytes += newer.size - waiting.size
        waiting.frames, waiting.size = newer.frames, newer.size
        return True

    def _may_grow(self, by: int) -> bool:
        return self.bytes + by <= self._max_bytes


class GuestOutbox(Outbox):
    """The queue of a connection of another user or machine.

    What waits is charged to each of ``shares`` (a meter of bytes and an owner), so that no crowd
    of connections that take nothing makes the broker keep more than it has memory for.
    """

    __slots__ = ("_shares",)

    def __init__(self, limits: Limits, *shares: tuple[Meter, Hashable]) -> None:
        super().__init__(limits)
        self._shares = shares

    def room(self, size: int) -> bool:
        """Whether a message of ``size`` bytes fits, here and in every share."""
        return super().room(size) and self._may_grow(size)

    def put(self, frames: Frames, topic: str | None = None) -> bool:
        """As any outbox does."""
        with self._charged():
            return super().put(frames, topic)

    def take(self) -> Frames | None:
        """As any outbox does."""
        with self._charged():
            return super().take()

    def put_back(self, frames: Frames) -> None:
        """As any outbox does."""
        with self._charged():
            super().put_back(frames)

    def clear(self) -> None:
        """As any outbox does."""
        with self._charged():
            super().clear()

    def _may_grow(self, by: int) -> bool:
        return super()._may_grow(by) and all(
            meter.counts().get(owner, 0) + by <= meter.cap for meter, owner in self._shares
        )

    @contextmanager
    def _charged(self) -> Iterator[None]:
        before = self.bytes
        yield
        for meter, owner in self._shares:
            meter.add(owner, self.bytes - before)


def with_gap(frames: Frames) -> Frames:
    """The same message with ``gap`` in its header: one more pair in a map of fewer than 15."""
    header, body, stamp = frames
    return bytes((header[0] + 1,)) + header[1:] + _GAP, body, stamp
