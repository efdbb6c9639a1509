"""What happens to program output on its way into the library.

The library lacks a few sequences, or does with them what this product cannot use. They are found
here, in whole chunks and only where an ESC stands; all else passes untouched and uncopied. Because
ESC starts a new sequence in every parser state, a match needs no knowledge of what came before.

A chunk that ends in the middle of a sequence that might matter is held back (at most HELD_MAX
bytes) and joined to the next chunk, so that the result never depends on how output was cut. Only
bytes without any effect of their own are held.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto
from functools import lru_cache
from typing import Final

_PARAMS: Final = rb"[\d;]{0,24}+"
HELD_MAX: Final = 40

PROMPT_OSC: Final = b"7133"
"""The number that OSC 133 (prompt marks) is passed on as: one the library does not know, so that it
hands the whole sequence back, however it was cut and ended."""

_MODES: Final = rb"[\d;]{0,36}+"
_WANTED_MODES: Final = rb"(?=%b[hlr])(?:\d*;)*?0*(?:40|47|104[79])(?=[;hlr])[\d;]*[hlr]" % _MODES
# In the order that costs least: one look at the byte after numbers, and the two modes that
# full-screen programs change all the time are told apart at once.
_WANTED: Final = re.compile(
    rb"\x1b(?:\[(?:%b[J$t](?:(?<=[Jt])|\})|\?(?!(?:25|2026)[hl])(?:6n|%bJ|%b)|!p|>(?:4(?:;%b)?[mn]|m))"
    rb"|k|c|\]133;)" % (_PARAMS, _PARAMS, _WANTED_MODES, _PARAMS)
)
_BEGUN: Final = re.compile(
    rb"\x1b(?:\](?:1(?:33?)?)?|\[(?:%b\$?|!|\?%b|>(?:4(?:;%b)?)?)?)?" % (_PARAMS, _MODES, _PARAMS)
)


class Action(Enum):
    """What the engine itself must do between two pieces of output."""

    SOFT_RESET = auto()
    EXTENDED_CURSOR_REPORT = auto()
    PUSH_TITLE = auto()
    POP_TITLE = auto()
    FULL_RESET = auto()
    OTHER_KEYS_OFF = auto()
    OTHER_KEYS_1 = auto()
    OTHER_KEYS_2 = auto()
    NOTE_PROMPT = auto()
    """A prompt mark comes next."""
    NUMBER_LINES = auto()
    """What comes next may take away what line numbers are counted by."""
    HISTORY_WIPED = auto()
    WIPING_BELOW = auto()
    """Everything from the cursor on is erased next."""
    SCREENS_MAY_HAVE_CHANGED = auto()
    ALTERNATE_WIPED = auto()


Piece = bytes | Action

_FIXED: Final[dict[bytes, tuple[Piece, ...]]] = {
    # The name in a screen-style title is swallowed like any private message.
    b"\x1bk": (b"\x1b^",),
    b"\x1bc": (Action.NUMBER_LINES, b"\x1bc", Action.FULL_RESET),
    b"\x1b]133;": (Action.NOTE_PROMPT, b"\x1b]" + PROMPT_OSC + b";"),
    b"\x1b[!p": (Action.SOFT_RESET,),
    b"\x1b[?6n": (Action.EXTENDED_CURSOR_REPORT,),
    b"\x1b[>4;1m": (b"\x1b[>4;1m", Action.OTHER_KEYS_1),
    b"\x1b[>4;2m": (b"\x1b[>4;2m", Action.OTHER_KEYS_2),
}
_TITLE_ACTIONS: Final = {b"22": Action.PUSH_TITLE, b"23": Action.POP_TITLE}
_WINDOW_TITLE: Final = (b"", b"0", b"2")
"""Second parameter of CSI 22 t and 23 t: both titles, or the window's. The icon's is not kept."""
_WHOLE_SCREEN: Final = (b"2", b"3", b"22")
"""Parameters of ED that may wipe all of the screen or history, wherever the cursor is."""
_SCREENS: Final = frozenset((b"47", b"1047", b"1049"))
"""Modes that show the alternate screen."""


def _variable(sequence: bytes) -> tuple[Piece, ...]:
    """Pieces for a sequence with parameters that _FIXED does not list."""
    final = sequence[-1:]
    if final == b"}":
        return ()  # DECSASD: the library would send output to a status line that nobody sees
    if final == b"t":
        number, _, rest = sequence[2:-1].partition(b";")
        if number not in _TITLE_ACTIONS:
            return (sequence,)
        return (_TITLE_ACTIONS[number],) if rest.partition(b";")[0] in _WINDOW_TITLE else ()
    if final == b"J":
        return _erase(sequence)
    if final in b"hlr":
        return _modes(sequence)
    return (sequence, Action.OTHER_KEYS_OFF)


def _erase(sequence: bytes) -> tuple[Piece, ...]:
    """Pieces for ED and DECSED."""
    if _first(sequence) == b"3":
        return (Action.NUMBER_LINES, sequence, Action.HISTORY_WIPED)
    if not _first(sequence):
        return (Action.WIPING_BELOW, sequence)
    return (sequence,)


def _modes(sequence: bytes) -> tuple[Piece, ...]:
    """Pieces for a change of private modes, the alternate screen among them, or 40.

    Mode 40 is never set: it would let a program change the width of its pane.
    """
    final = sequence[-1:]
    numbers = [number.lstrip(b"0") for number in sequence[3:-1].split(b";")]
    if final == b"h" and b"40" in numbers:
        numbers = [number for number in numbers if number != b"40"]
        sequence = b"\x1b[?%bh" % b";".join(numbers)
        if not numbers:
            return ()
    if _SCREENS.isdisjoint(numbers):
        return (sequence,)
    pieces = (Action.NUMBER_LINES, sequence, Action.SCREENS_MAY_HAVE_CHANGED)
    # 1049 clears the alternate screen even when it is up.
    return (*pieces, Action.ALTERNATE_WIPED) if b"1049" in numbers and final != b"l" else pieces


def _first(sequence: bytes) -> bytes:
    """The first parameter without leading zeros."""
    return sequence[2:-1].lstrip(b"?").partition(b";")[0].lstrip(b"0")


def _wipes(sequence: bytes) -> bool:
    """Whether nothing may be left on the screen in use after ``sequence``, whatever it was."""
    return sequence.endswith(b"J") and _first(sequence) in _WHOLE_SCREEN


@lru_cache(maxsize=256)
def _plan(sequence: bytes) -> tuple[bool, tuple[Piece, ...]]:
    """Whether a wanted sequence may wipe the screen, and its pieces."""
    return _wipes(sequence), _FIXED.get(sequence) or _variable(sequence)


class Prefilter:
    """Cuts output into pieces for the library and actions for the engine, in order."""

    def __init__(self) -> None:
        self.held = b""
        self.wipes = 0
        """How often everything on the screen may have been wiped at once, by one sequence."""

    def pieces(self, data: bytes) -> Iterator[Piece]:
        """What to do for ``data``. Ordinary output comes back as one piece, the same object."""
        # The library shows DEL as a character; terminals ignore it. It is never part of UTF-8.
        if b"\x7f" in data:
            data = data.translate(None, b"\x7f")
        if self.held:
            data, self.held = self.held + data, b""
        data = self._hold(data)
        if b"\x1b" not in data:
            return iter((data,) if data else ())
        return self._cut(data)

    def _hold(self, data: bytes) -> bytes:
        last = data.rfind(b"\x1b", -HELD_MAX)
        if last < 0 or not _BEGUN.fullmatch(data, last):
            return data
        self.held = data[last:]
        return data[:last]

    def _cut(self, data: bytes) -> Iterator[Piece]:
        done = 0
        for match in _WANTED.finditer(data):
            sequence = match[0]
            wipes, pieces = _plan(sequence)
            self.wipes += wipes
            if pieces == (sequence,):
                continue
            if match.start() > done:
                yield data[done : match.start()]
            yield from pieces
            done = match.end()
        if done < len(data):
            yield data[done:] if done else data
