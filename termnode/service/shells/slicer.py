"""The output of one command, from its begin to its end: both ends of it kept. Sans-IO, bounded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from termnode.service.shells.trimming import trim_begin, trim_end, without_switches

KEPT: Final = 32 * 1024
"""Bytes kept of the begin, and as many of the end."""


@dataclass(frozen=True, slots=True)
class Slice:
    """What a command wrote: ``head``, what is left out, ``tail``; ``count`` bytes in all."""

    head: bytes
    tail: bytes
    count: int


class Slicer:
    """Keeps what is put in between `begin` and `end`. ``kind`` is the shell's: bash, zsh, fish."""

    def __init__(self, kind: str, kept: int = KEPT) -> None:
        self._kind = kind
        self._kept = kept
        self._head = bytearray()
        self._tail = bytearray()
        self._count = 0
        self.running = False
        """Whether a command has begun and not ended."""

    def begin(self) -> None:
        """A command begins. Another begin before its end is a part of the same command."""
        if not self.running:
            self._clear()
            self.running = True

    def put(self, data: bytes) -> None:
        """Output; nobody's while no command runs."""
        if not self.running:
            return
        self._count += len(data)
        room = self._kept - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data[-self._kept :]
        if len(self._tail) > 2 * self._kept:
            del self._tail[: -self._kept]

    def end(self, cols: int) -> Slice | None:
        """The command has ended, on so many columns; None when none had begun."""
        if not self.running:
            return None
        self.running = False
        head, tail, count = bytes(self._head), bytes(self._tail[-self._kept :]), self._count
        self._clear()
        return self._slice(head, tail, count, cols)

    def _slice(self, head: bytes, tail: bytes, count: int, cols: int) -> Slice:
        raw = len(head) + len(tail)
        if raw == count:  # nothing is left out: what is to be trimmed may lie across the middle
            data = without_switches(head + tail)
            data = trim_end(self._kind, trim_begin(self._kind, data), cols)
            return Slice(data[: self._kept], data[self._kept :], len(data))
        head = trim_begin(self._kind, without_switches(head))
        tail = trim_end(self._kind, without_switches(tail), cols)
        return Slice(head, tail, count - (raw - len(head) - len(tail)))

    def _clear(self) -> None:
        self._head.clear()
        self._tail.clear()
        self._count = 0
