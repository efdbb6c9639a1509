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
from typing import Final

_PARAMS: Final = rb"[\d;]{0,24}+"
HELD_MAX: Final = 40

PROMPT_OSC: Final = b"7133"
"""The number that OSC 133 (prompt marks) is passed on as: one the library does not know, so that it
hands the whole sequence back, however it was cut and ended."""

_WANTED: Final = re.compile(
    rb"\x1b(?:k|c|\]133;|\[(?:!p|\?6n|2[23](?:;%b)?t|%b\$\}|>4(?:;%b)?[mn]))"
    % (_PARAMS, _PARAMS, _PARAMS)
)
_BEGUN: Final = re.compile(
    rb"\x1b(?:\](?:1(?:33?)?)?|\[(?:%b\$?|!|\?6?|>(?:4(?:;%b)?)?)?)?" % (_PARAMS, _PARAMS)
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


Piece = bytes | Action

_FIXED: Final[dict[bytes, tuple[Piece, ...]]] = {
    # The name in a screen-style title is swallowed like any private message.
    b"\x1bk": (b"\x1b^",),
    b"\x1bc": (b"\x1bc", Action.FULL_RESET),
    b"\x1b]133;": (b"\x1b]" + PROMPT_OSC + b";",),
    b"\x1b[!p": (Action.SOFT_RESET,),
    b"\x1b[?6n": (Action.EXTENDED_CURSOR_REPORT,),
    b"\x1b[>4;1m": (b"\x1b[>4;1m", Action.OTHER_KEYS_1),
    b"\x1b[>4;2m": (b"\x1b[>4;2m", Action.OTHER_KEYS_2),
}
_TITLE_ACTIONS: Final = {b"22": Action.PUSH_TITLE, b"23": Action.POP_TITLE}
_WINDOW_TITLE: Final = (b"", b"0", b"2")
"""Second parameter of CSI 22 t and 23 t: both titles, or the window's. The icon's is not kept."""


def _variable(sequence: bytes) -> tuple[Piece, ...]:
    """Pieces for a sequence with parameters that _FIXED does not list."""
    final = sequence[-1:]
    if final == b"}":
        return ()  # DECSASD: the library would send output to a status line that nobody sees
    if final == b"t":
        number, _, rest = sequence[2:-1].partition(b";")
        return (_TITLE_ACTIONS[number],) if rest.partition(b";")[0] in _WINDOW_TITLE else ()
    return (sequence, Action.OTHER_KEYS_OFF)


class Prefilter:
    """Cuts output into pieces for the library and actions for the engine, in order."""

    def __init__(self) -> None:
        self.held = b""

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

    @staticmethod
    def _cut(data: bytes) -> Iterator[Piece]:
        done = 0
        for match in _WANTED.finditer(data):
            if match.start() > done:
                yield data[done : match.start()]
            sequence = match[0]
            yield from _FIXED.get(sequence) or _variable(sequence)
            done = match.end()
        if done < len(data):
            yield data[done:] if done else data
