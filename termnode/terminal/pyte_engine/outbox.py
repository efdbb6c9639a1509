"""What a pane's program is told (replies) and what it did (events): bounded queues of both."""

from __future__ import annotations

import re
from typing import Final

from termnode.terminal.engine import MAX_REPLY_BYTES, Event, EventKind
from termnode.terminal.event_queue import EventQueue

CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f]+")
"""Control characters, which no text we hand out may contain."""


class Outbox:
    """Replies and events not yet taken."""

    def __init__(self) -> None:
        self._replies = bytearray()
        self._events = EventQueue()

    def reply(self, text: str) -> None:
        """Queue a whole reply, or nothing: half an answer would be read as keystrokes."""
        data = text.encode()
        if len(self._replies) + len(data) <= MAX_REPLY_BYTES:
            self._replies += data

    def event(
        self, kind: EventKind, text: str = "", line: int | None = None, column: int | None = None
    ) -> None:
        """Queue an event; ``text`` loses its control characters."""
        self._events.put(Event(kind, CONTROLS.sub("", text), line, column))

    def take_replies(self) -> bytes:
        """All replies; clears them."""
        taken = bytes(self._replies)
        self._replies.clear()
        return taken

    def take_events(self) -> list[Event]:
        """All events, oldest first; clears them."""
        return self._events.take()
