"""The output of operations while they run, on its way to who asked for them. Sans-IO, bounded.

It waits here until it is known whose operation it is and somebody wants it. What there is no room
for is lost, the oldest first, and the place where it was is told.
"""

from __future__ import annotations

import codecs
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

PIECE: Final = 4_096
"""Bytes of output in one piece."""

WAITING: Final = 65_536
"""Bytes of one operation's output that wait."""

STREAMS: Final = 64
"""Operations of which output may wait; the first to go is one that has ended."""

LINGER_S: Final = 5.0
"""For so long after its end its output waits for somebody who wants it."""

Key: TypeAlias = tuple[int, str]
"""A pane, and the operation there."""

Wanted: TypeAlias = Callable[[Hashable, int], bool]
"""Whether an actor wants the output of a pane now."""


@dataclass(frozen=True, slots=True)
class Piece:
    """``size`` bytes of output from ``offset`` on, as text; ``lost`` bytes before it are not told.

    ``over``: nothing follows.
    """

    pane: int
    op: str
    owner: Hashable
    generation: int
    offset: int
    size: int
    text: str
    lost: int = 0
    over: bool = False


@dataclass(slots=True)
class _Stream:
    key: Key
    owner: Hashable = None
    generation: int = 0
    waiting: bytearray = field(default_factory=bytearray)
    offset: int = 0
    """Of the first byte that waits."""
    told: int = 0
    """Behind the last byte that was told."""
    ended: float | None = None

    def put(self, data: bytes) -> None:
        self.waiting += data
        surplus = len(self.waiting) - WAITING
        if surplus > 0:
            del self.waiting[:surplus]
            self.offset += surplus

    def take(self) -> Piece | None:
        """The next piece; None while there is none, since a character has not come whole."""
        last = self.ended is not None and len(self.waiting) <= PIECE
        text, size = _text(bytes(self.waiting[:PIECE]), final=last)
        if not (size or last):
            return None
        pane, op = self.key
        lost = self.offset - self.told
        made = Piece(pane, op, self.owner, self.generation, self.offset, size, text, lost, last)
        del self.waiting[:size]
        self.offset = self.told = self.offset + size
        return made


class Streams:
    """The table. Times are monotonic seconds."""

    def __init__(self, most: int = STREAMS) -> None:
        self._most = most
        self._streams: OrderedDict[Key, _Stream] = OrderedDict()

    def __len__(self) -> int:
        return len(self._streams)

    def put(self, pane: int, op: str, data: bytes) -> None:
        """Output of an operation that runs; quick, whoever wants it."""
        self._of((pane, op)).put(data)

    def own(self, pane: int, op: str, owner: Hashable, generation: int) -> None:
        """It is that actor's operation, at that generation of the pane."""
        stream = self._of((pane, op))
        stream.owner, stream.generation = owner, generation

    def end(self, pane: int, op: str, now: float) -> None:
        """It has ended; nothing is put any more."""
        stream = self._of((pane, op))
        if stream.ended is None:
            stream.ended = now

    def take(self, wanted: Wanted, most: int, now: float) -> list[Piece]:
        """At most so many pieces that are wanted, of each stream in its turn."""
        self._forget_old(now)
        pieces: list[Piece] = []
        going = True
        while going:
            going = False
            for stream in [each for each in self._streams.values() if _owned(each, wanted)]:
                piece = stream.take() if len(pieces) < most else None
                if piece is not None:
                    going = True
                    pieces.append(piece)
                    self._streams.move_to_end(stream.key)
                    if piece.over:
                        del self._streams[stream.key]
        return pieces

    def _of(self, key: Key) -> _Stream:
        stream = self._streams.get(key)
        if stream is None:
            if len(self._streams) >= self._most:
                self._make_room()
            stream = self._streams[key] = _Stream(key)
        return stream

    def _make_room(self) -> None:
        streams = self._streams.values()
        oldest = next((each.key for each in streams if each.ended is not None), None)
        del self._streams[next(iter(self._streams)) if oldest is None else oldest]

    def _forget_old(self, now: float) -> None:
        old = [
            key
            for key, each in self._streams.items()
            if each.ended is not None and now >= each.ended + LINGER_S
        ]
        for key in old:
            del self._streams[key]


def _owned(stream: _Stream, wanted: Wanted) -> bool:
    return stream.owner is not None and wanted(stream.owner, stream.key[0])


def _text(data: bytes, *, final: bool) -> tuple[str, int]:
    """The characters that are whole, and how many bytes they take."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(data, final)
    return text, len(data) - len(decoder.getstate()[0])
