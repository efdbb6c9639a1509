"""Bytes from a person's terminal to events."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from termnode.attach.keys.events import Event, KeyEvent
from termnode.attach.keys.pasting import Paste
from termnode.attach.keys.scanner import take
from termnode.terminal.input.paste import PASTE_START

KEY_WAIT_S: Final = 0.03
"""How long what is a key by itself (ESC, Alt and [) waits for what would make more of it."""

WAIT_S: Final = 0.5
"""How long the beginning of anything else waits for the rest."""

_MAY_BE_A_KEY: Final = re.compile(rb"\x1b{1,2}[\[O\]PX^_]?")
_BACKSPACE: Final[Mapping[str, str]] = {"C-h": "BSpace", "C-M-h": "M-BSpace"}


class InputParser:
    """Takes input in any pieces. It holds less than 5 KiB, and a paste up to MAX_PASTE.

    ``erase`` is the character that the person's terminal is set to erase with: where that is ^H,
    that is what its Backspace sends.
    """

    def __init__(self, *, erase: int = 0x7F) -> None:
        self._held = b""
        self._since = 0.0
        self._paste: Paste | None = None
        self._renamed = _BACKSPACE if erase == 0x08 else {}

    def feed(self, data: bytes, now: float) -> list[Event]:
        """The events that ``data`` completes. ``now`` is in seconds, of a clock that goes on.

        What was held and is due is told first, so that an Escape of some time ago is one.
        """
        events = self.flush(now)
        if self._paste is not None and self._paste.given_up(data, now):
            events += self._paste.finish()
            self._paste = None
        return events + self._fed(data, now)

    def flush(self, now: float) -> list[Event]:
        """What can wait no longer: a lone ESC is Escape."""
        due = self.deadline()
        if due is None or now < due:
            return []
        data, self._held = self._held, b""
        return self._named(_take_all(data, final=True)[0])

    def deadline(self) -> float | None:
        """When `flush` is to be called, unless more comes; None: there is nothing to wait for."""
        if not self._held:
            return None
        key = _MAY_BE_A_KEY.fullmatch(self._held)
        return self._since + (KEY_WAIT_S if key else WAIT_S)

    def _fed(self, data: bytes, now: float) -> list[Event]:
        events: list[Event] = []
        rest: bytes | None = data
        while rest:
            more, rest = self._pasted(rest, now) if self._paste else self._typed(rest, now)
            events += more
        return events

    def _pasted(self, data: bytes, now: float) -> tuple[list[Event], bytes | None]:
        assert self._paste is not None
        events, rest = self._paste.feed(data, now)
        if rest is not None:
            self._paste = None
        return events, rest

    def _typed(self, data: bytes, now: float) -> tuple[list[Event], bytes]:
        data = self._held + data
        events, at = _take_all(data, final=False)
        if data.startswith(PASTE_START, at):
            self._held, self._paste = b"", Paste(now)
            return self._named(events), data[at + len(PASTE_START) :]
        self._held, self._since = data[at:], now
        return self._named(events), b""

    def _named(self, events: list[Event]) -> list[Event]:
        if not self._renamed:
            return events
        return [
            KeyEvent(self._renamed.get(event.name, event.name))
            if isinstance(event, KeyEvent)
            else event
            for event in events
        ]


def _take_all(data: bytes, *, final: bool) -> tuple[list[Event], int]:
    """All that is complete before a paste begins, and where that ends."""
    events: list[Event] = []
    at = 0
    while at < len(data) and not data.startswith(PASTE_START, at):
        taken = take(data, at, final=final)
        if taken is None:
            break
        events += taken.events
        at = taken.end
    return events, at
