"""What a program did and nobody has taken note of yet: a bounded queue, for any engine."""

from __future__ import annotations

from collections import Counter
from typing import Final

from termnode.terminal.engine import MAX_EVENTS, Event, EventKind

MAX_EVENT_CHARS: Final = 1 << 20
"""Characters of all events not yet taken."""

_WEIGHT: Final = MAX_EVENT_CHARS // MAX_EVENTS
"""What an event counts besides its characters."""


class EventQueue:
    """At most MAX_EVENTS events and MAX_EVENT_CHARS characters of them.

    When full, the oldest of the kind that has most makes room: bells must not crowd out the marks
    that say where a command ended.
    """

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._weights: Counter[EventKind] = Counter()
        self._chars = 0

    def put(self, event: Event) -> None:
        """Queue an event behind all others."""
        self._events.append(event)
        self._weigh(event, 1)
        while len(self._events) > MAX_EVENTS or self._chars > MAX_EVENT_CHARS:
            most = max(self._weights, key=self._weights.__getitem__)
            oldest = next(n for n, other in enumerate(self._events) if other.kind is most)
            self._weigh(self._events.pop(oldest), -1)

    def _weigh(self, event: Event, sign: int) -> None:
        self._chars += sign * len(event.text)
        self._weights[event.kind] += sign * (_WEIGHT + len(event.text))

    def take(self) -> list[Event]:
        """Give and clear all of them, oldest first."""
        taken, self._events, self._chars = self._events, [], 0
        self._weights.clear()
        return taken
