"""The queue of messages that wait for the socket: bounded in messages and in bytes."""

from __future__ import annotations

from collections import deque
from typing import TypeAlias

from brokerd.client.errors import Overloaded

Message: TypeAlias = tuple[bytes, bytes]
"""Header and body, as they go to the broker."""


class Outbox:
    """First in, first out. ``reserve`` messages more are for the client's own housekeeping."""

    def __init__(self, *, messages: int, size: int, reserve: int = 64) -> None:
        self._queue: deque[Message] = deque()
        self._bytes = 0
        self._messages = messages
        self._max_size = size
        self._reserve = reserve

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def size(self) -> int:
        """Bytes that wait."""
        return self._bytes

    def put(self, header: bytes, body: bytes, *, reserved: bool = False) -> None:
        """Queue one message. Raises Overloaded when a bound is reached."""
        if len(self._queue) >= self._messages + (self._reserve if reserved else 0):
            raise Overloaded("the send queue", self._messages)
        size = len(header) + len(body)
        if self._queue and self._bytes + size > self._max_size:
            raise Overloaded("the send queue in bytes", self._max_size)
        self._queue.append((header, body))
        self._bytes += size

    def head(self) -> Message | None:
        """The next message, left where it is."""
        return self._queue[0] if self._queue else None

    def drop_head(self) -> None:
        """Forget the next message: it has been sent."""
        header, body = self._queue.popleft()
        self._bytes -= len(header) + len(body)

    def clear(self) -> None:
        """Forget all: the broker they were for is gone."""
        self._queue.clear()
        self._bytes = 0
