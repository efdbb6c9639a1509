"""What waits to be written to a pseudo-terminal. Sans-IO: time is an argument, nothing is written.

Rules (specs/pane-host.md): a piece is admitted whole or refused; it is written whole before the
next one begins, unless it ends early; answers to device queries go in front of pieces that have not
begun, never inside one. A piece that ends early keeps the count of bytes that were written: a lower
bound of what the program got, and exact unless the program is gone. Its ``closing`` bytes are then
written in front of everything else, so that no program stays inside what it began.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from termnode.terminal.pieces import Gone, Outcome, Piece, QueueFull

__all__ = [
    "MAX_ANSWER_BYTES",
    "MAX_PASTE_BYTES",
    "MAX_PIECES",
    "MAX_QUEUED_BYTES",
    "Gone",
    "Outcome",
    "Piece",
    "QueueFull",
    "WriteQueue",
]

MAX_QUEUED_BYTES: Final = 64 * 1024
"""Input of one pane that is admitted and not yet written."""

MAX_PASTE_BYTES: Final = 1024 * 1024 + 12
"""Bytes of one patient piece on an empty queue: 1 MiB of text and both paste markers."""

MAX_PIECES: Final = 1_024
"""Pieces of one pane that are admitted and not yet written."""

MAX_ANSWER_BYTES: Final = 4_096
"""Unwritten answers to device queries; more are dropped whole."""

_Source: TypeAlias = Literal["closing", "answer", "piece"]


class WriteQueue:
    """The input of one terminal, bounded in bytes and pieces."""

    def __init__(
        self,
        max_bytes: int = MAX_QUEUED_BYTES,
        max_pieces: int = MAX_PIECES,
        max_patient: int = MAX_PASTE_BYTES,
    ) -> None:
        self._max_bytes = max_bytes
        self._max_pieces = max_pieces
        self._max_patient = max_patient
        self._pieces: deque[Piece] = deque()
        self._queued = 0
        self._answers = bytearray()
        self._answer_begun = False
        self._closing = b""
        self._writing: _Source = "piece"
        self._taken = -math.inf
        self._soonest: float | None = None
        self._gone = False
        self.typed = 0
        """Bytes of pieces, closings included, that were written: all but answers."""
        self.asking = False
        """Whether a permit is being asked just now: what is asked must not change the queue."""

    @property
    def queued(self) -> int:
        """Bytes of pieces that are admitted and not written."""
        return self._queued

    @property
    def room(self) -> int:
        """Bytes that a piece may have to be admitted now."""
        if len(self._pieces) >= self._max_pieces:
            return 0
        return max(0, self._max_bytes - self._queued)

    @property
    def idle(self) -> bool:
        """Whether nothing at all waits to be written."""
        return not (self._pieces or self._answers or self._closing)

    def put(self, piece: Piece) -> None:
        """Admit a piece whole; raise QueueFull or Gone. An empty one is written at once."""
        if self._gone:
            raise Gone
        if not piece.data:
            piece.settle("written")
            return
        if piece.total > self.room and not self._takes_large(piece):
            raise QueueFull(self.room)
        self._pieces.append(piece)
        self._queued += piece.total
        due = piece.due(self._taken)
        if self._soonest is None or due < self._soonest:
            self._soonest = due

    def answer(self, data: bytes) -> bool:
        """Put an answer to a device query in front; False when it was dropped for lack of room."""
        if self._gone or len(self._answers) + len(data) > MAX_ANSWER_BYTES:
            return False
        self._answers += data
        return True

    def head(self, now: float) -> bytes | memoryview | None:
        """What to write next, after ending what is due; tell ``wrote`` how much was taken.

        Checks the permit of the piece, so write in the same synchronous step.
        """
        self.expire(now)
        while self._pieces and not self._permitted(self._pieces[0]):
            self._end_first("revoked")
        self._writing = self._next_source()
        if self._writing == "closing":
            return self._closing
        if self._writing == "answer":
            return bytes(self._answers)
        if not self._pieces:
            return None
        piece = self._pieces[0]
        return memoryview(piece.data)[piece.written :]

    def wrote(self, count: int, now: float) -> None:
        """Account for ``count`` bytes of the last ``head`` that were written at ``now``."""
        if not count:
            return
        self._taken = now
        if self._writing != "answer":
            self.typed += count
        if self._writing == "closing":
            self._closing = self._closing[count:]
        elif self._writing == "answer":
            del self._answers[:count]
            self._answer_begun = bool(self._answers)
        else:
            self._wrote_piece(count)

    def expire(self, now: float) -> None:
        """End the pieces whose deadline has come."""
        if self._soonest is not None and now >= self._soonest:
            self._end_where(lambda piece: piece.due(self._taken) <= now, "expired")

    def revoke(self) -> None:
        """End the pieces whose permit no longer holds, wherever they are in the queue."""
        self._end_where(lambda piece: not self._permitted(piece), "revoked")

    def next_deadline(self) -> float | None:
        """When ``expire`` may have something to do: never later than the first piece is due."""
        return self._soonest

    def drop_all(self) -> None:
        """The terminal is gone: end every piece, refuse all that comes."""
        self._gone = True
        self._answers.clear()
        self._closing = b""
        while self._pieces:
            self._end_first("gone")

    def _takes_large(self, piece: Piece) -> bool:
        return piece.patience is not None and not self._pieces and piece.total <= self._max_patient

    def _next_source(self) -> _Source:
        """A closing comes first: nothing was begun since the piece that it closes."""
        if self._closing:
            return "closing"
        if self._answers and (self._answer_begun or not self._in_piece()):
            return "answer"
        return "piece"

    def _wrote_piece(self, count: int) -> None:
        piece = self._pieces[0]
        piece.written += count
        self._queued -= count
        if piece.written == piece.total:
            self._end_first("written")

    def _in_piece(self) -> bool:
        return bool(self._pieces) and self._pieces[0].written > 0

    def _end_where(self, due: Callable[[Piece], bool], outcome: Outcome) -> None:
        kept: deque[Piece] = deque()
        for piece in self._pieces:
            if due(piece):
                self._close(piece, outcome)
            else:
                kept.append(piece)
        self._pieces = kept
        self._soonest = min((piece.due(self._taken) for piece in kept), default=None)

    def _end_first(self, outcome: Outcome) -> None:
        self._close(self._pieces.popleft(), outcome)
        if not self._pieces:
            self._soonest = None

    def _close(self, piece: Piece, outcome: Outcome) -> None:
        self._queued -= piece.total - piece.written
        if piece.written and outcome in {"expired", "revoked"}:
            self._closing = piece.closing
        piece.settle(outcome)

    def _permitted(self, piece: Piece) -> bool:
        if piece.permit is None:
            return True
        self.asking = True
        try:
            return piece.permit()
        finally:
            self.asking = False
