"""What a pane's program is told (replies) and what it did (events): bounded queues of both."""

from __future__ import annotations

import re
from collections import deque
from typing import Final

from termnode.terminal.engine import MAX_EVENTS, MAX_REPLY_BYTES, Event, EventKind

MAX_EVENT_CHARS: Final = 1 << 20
"""Characters of all events not yet taken; the oldest are dropped."""

CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f]+")
"""Control characters, which no text we hand out may contain."""


class Outbox:
    """Replies and events not yet taken."""

    def __init__(self) -> None:
        self._replies = bytearray()
        self._events: deque[Event] = deque()
        self._chars = 0

    def reply(self, text: str) -> None:
        """Queue a whole reply, or nothing: half an answer would be read as keystrokes."""
        data = text.encode()
        if len(self._replies) + len(data) <= MAX_REPLY_BYTES:
            self._replies += data

    def event(self, kind: EventKind, text: str = "") -> None:
        """Queue an event; ``text`` loses its control characters."""
        event = Event(kind, CONTROLS.sub("", text))
        self._events.append(event)
        self._chars += len(event.text)
        while len(self._events) > MAX_EVENTS or self._chars > MAX_EVENT_CHARS:
            self._chars -= len(self._events.popleft().text)

    def take_replies(self) -> bytes:
        """All replies; clears them."""
        taken = bytes(self._replies)
        self._replies.clear()
        return taken

    def take_events(self) -> list[Event]:
        """All events, oldest first; clears them."""
        taken = list(self._events)
        self._events.clear()
        self._chars = 0
        return taken
