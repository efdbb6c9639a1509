"""What is set in a person's terminal, and what sets it back as it was found. No I/O.

The terminal is asked what was set before, and what it can do. Nothing waits for an answer: what it
does not answer counts as not set (the cursor as visible) and not known, until it does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

WRAP: Final = 7
CURSOR: Final = 25
FOCUS: Final = 1004
BRACKETS: Final = 2004
MOTION: Final = 1003
SYNCHRONIZED: Final = 2026

_FOUND: Final[Mapping[int, bool]] = {
    1000: False,
    1002: False,
    MOTION: False,
    1006: False,
    FOCUS: False,
    BRACKETS: False,
    WRAP: True,
    CURSOR: True,
}
"""Modes that a view changes, and how they are taken to be found."""

_SET: Final = b"\x1b[?1000h\x1b[?1002h\x1b[?1006h\x1b[?1004h\x1b[?2004h"
_ALTERNATE: Final = b"\x1b[22;0t\x1b[?1049h"
"""The titles are kept in the terminal's own stack."""

_CLEAR: Final = b"\x1b[m\x1b[H\x1b[2J"
"""Also of what a terminal wrote that does not know a query."""

_ASK: Final = (
    b"".join(b"\x1b[?%d$p" % mode for mode in (*_FOUND, SYNCHRONIZED))
    + b"\x1bP$q q\x1b\\"  # the cursor's shape
    + b"\x1b[?u"  # kitty's keyboard
    + b"\x1b[c"  # what every terminal answers: the others are answered before it
)
FENCE: Final = b"\x1b[c"
"""Once this is answered, nothing that was sent before is still to be answered."""

ABORT: Final = b"\x18\x1b\\"
"""Ends a sequence or string of which a part was written, and does nothing of it."""

_KITTY: Final = 1 | 4
"""Tell keys apart, and say what Shift makes of them: programs that know less need that."""

_MODE_REPLY: Final = re.compile(rb"\x1b\[\?(\d{1,5});(\d)\$y")
_SHAPE_REPLY: Final = re.compile(rb"\x1bP1\$r(\d) q\x1b\\")
_KITTY_REPLY: Final = re.compile(rb"\x1b\[\?\d{1,3}u")
_FENCE_REPLY: Final = re.compile(rb"\x1b\[\?[\d;]*c")

_PLAIN_TERMS: Final = re.compile(r"$|dumb|unknown|linux|vt\d|cons25|sun")
"""Terminals that write queries on the screen, and know nothing that is asked for."""


def asks_well(term: str) -> bool:
    """Whether a terminal of this TERM takes queries it does not know for nothing."""
    return not _PLAIN_TERMS.match(term)


@dataclass
class Borrowed:
    """One terminal, from `enter` to `restore`. ``asks``: it may be sent queries."""

    asks: bool = True
    motion: bool = False
    """It tells of the mouse's way with no button held too (1003)."""
    synchronized: bool = False
    """It draws what is between two marks at once (2026)."""
    kitty: bool = False
    """It knows the kitty keyboard protocol, and it is in use."""
    answered: bool = False
    """It has answered everything that it knows."""
    _other_keys: bool = False
    _shape: bytes = b"0"
    _found: dict[int, bool] = field(default_factory=lambda: dict(_FOUND))

    def enter(self) -> bytes:
        """What makes it ours."""
        return _ALTERNATE + (_ASK if self.asks else b"") + _SET + self._way() + _CLEAR

    def again(self) -> bytes:
        """The same once more, for a terminal that was used by others meanwhile, as it is."""
        return _SET + self._way() + self._keyboard(b"=" if self.kitty else b">") + _CLEAR

    def hear(self, reply: bytes) -> bytes:
        """Take an answer, and return what is to be sent to the terminal for it.

        `restore` knows of it before it is sent. Anything else is ignored.
        """
        if (mode := _MODE_REPLY.fullmatch(reply)) is not None:
            self._hear_mode(int(mode[1]), int(mode[2]))
        elif (shape := _SHAPE_REPLY.fullmatch(reply)) is not None:
            self._shape = shape[1]
        elif _KITTY_REPLY.fullmatch(reply) and not (self.kitty or self._other_keys):
            self.kitty = True
            return self._keyboard()
        elif _FENCE_REPLY.fullmatch(reply) and not self.answered:
            self.answered = True
            self._other_keys = not self.kitty
            return b"" if self.kitty else self._keyboard()
        return b""

    def set_motion(self, *, on: bool) -> bytes:
        """What makes it tell of the mouse's way with no button held too, or no more."""
        changed, self.motion = on != self.motion, on
        if not changed:
            return b""
        return self._way() or b"\x1b[?1003l" + _SET  # to reset one ends the others too

    def restore(self, *, cut: bool = False) -> bytes:
        """What gives it back. ``cut``: perhaps only a part of something was written before."""
        return b"".join(
            (
                ABORT if cut else b"",
                b"\x1b[?2026l" if self.synchronized else b"",
                b"\x1b]8;;\x1b\\\x1b[m" if self.asks else b"\x1b[m",
                self._keyboard_back(),
                self._modes_back(),
                b"\x1b[%s q" % self._shape if self.asks else _CLEAR,
                b"\x1b[?1049l\x1b[23;0t",
            )
        )

    def _way(self) -> bytes:
        return b"\x1b[?1003h" if self.motion else b""

    def _hear_mode(self, mode: int, value: int) -> None:
        if mode == SYNCHRONIZED:
            self.synchronized = value in {1, 2}
        elif mode in self._found and value in {1, 2}:
            self._found[mode] = value == 1

    def _modes_back(self) -> bytes:
        """Resets first: to reset one mouse mode ends the others too."""
        found = sorted(self._found.items(), key=lambda each: each[1])
        return b"".join(b"\x1b[?%d%c" % (mode, b"lh"[was_set]) for mode, was_set in found)

    def _keyboard(self, how: bytes = b">") -> bytes:
        """``how``: ">" keeps what was there for later, "=" does not."""
        if self.kitty:
            return b"\x1b[%s%du" % (how, _KITTY)
        return b"\x1b[>4;1m" if self._other_keys else b""

    def _keyboard_back(self) -> bytes:
        if self.kitty:
            return b"\x1b[<u"
        return b"\x1b[>4m" if self._other_keys else b""


def fences(data: bytes) -> int:
    """How many answers to FENCE are in ``data``."""
    return len(_FENCE_REPLY.findall(data))
