"""A bracketed paste as it comes in."""

from __future__ import annotations

import codecs
from typing import Final

from termnode.attach.keys.events import MAX_PASTE, Event, PasteEvent
from termnode.terminal.input.paste import PASTE_END

SILENCE_S: Final = 5.0
"""After so long without more of it, a control character ends a paste that has no end."""

_KEPT: Final = len(PASTE_END) - 1
"""Bytes that may be the beginning of the marker."""


class Paste:
    """One paste, from after its first marker. It holds at most MAX_PASTE bytes and what is fed."""

    def __init__(self, now: float) -> None:
        self._buffer = bytearray()
        self._searched = 0
        self._begun = False
        self._fed = now

    def given_up(self, data: bytes, now: float) -> bool:
        """Whether ``data`` is the person, who is waiting for the end of a paste that has none.

        Silence alone never ends it: what comes late would be typed, and run line by line.
        """
        control = data[:1] < b" " and data[:1] not in {b"", b"\t", b"\n", b"\r", b"\x1b"}
        return control and now - self._fed >= SILENCE_S

    def feed(self, data: bytes, now: float) -> tuple[list[Event], bytes | None]:
        """Events, and what comes after the paste; None when it goes on."""
        self._buffer += data
        self._fed = now
        end = self._buffer.find(PASTE_END, self._searched)
        if end >= 0:
            rest = bytes(self._buffer[end + len(PASTE_END) :])
            del self._buffer[end:]
            return self.finish(), rest
        events = self._pieces(_KEPT)
        self._searched = max(0, len(self._buffer) - _KEPT)
        return events, None

    def finish(self) -> list[Event]:
        """The rest; nothing for a paste of nothing."""
        events = self._pieces(0)
        text = self._buffer.decode("utf-8", "replace")
        return [*events, PasteEvent(text)] if text or self._begun else events

    def _pieces(self, kept: int) -> list[Event]:
        """Full pieces, cut between characters. ``kept`` bytes at the end stay."""
        events: list[Event] = []
        start = 0
        while len(self._buffer) - start > MAX_PASTE + kept:
            part = bytes(self._buffer[start : start + MAX_PASTE])
            text, used = codecs.utf_8_decode(part, "replace", False)
            events.append(PasteEvent(text, more=True))
            self._begun = True
            start += used
        del self._buffer[:start]
        return events
