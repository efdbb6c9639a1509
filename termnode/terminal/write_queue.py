"""What waits to be written to a pseudo-terminal. Sans-IO: time is an argument, nothing is written.

Rules (specs/pane-host.md): a piece is admitted whole or refused; it is written whole before the
next one begins, unless it ends early; answers to device queries go in front of pieces that have not
begun, never inside one. A piece that ends early keeps the count of bytes that were written: a lower
bound of what the program got, and exact unless the program is gone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, Literal

MAX_QUEUED_BYTES: Final = 64 * 1024
"""Input of one pane that is admitted and not yet written."""

MAX_PIECES: Final = 1_024
"""Pieces of one pane that are admitted and not yet written."""

MAX_ANSWER_BYTES: Final = 4_096
"""Unwritten answers to device queries; more are dropped whole."""

Outcome = Literal["written", "expired", "revoked", "gone"]
"""``written``: every byte reached the PTY. ``expired``: the deadline came first. ``revoked``: the
permit ended first. ``gone``: the terminal ended first."""


class QueueFull(Exception):
    """The piece was not admitted, no byte of it; ``room`` bytes would have been."""

    def __init__(self, room: int) -> None:
        super().__init__(f"the pane does not take more input now ({room} bytes fit): try again")
        self.room = room


class Gone(Exception):
    """The terminal has ended: nothing more can be written to it."""

    def __init__(self) -> None:
        super().__init__("the program's terminal has ended: open another pane")


class Piece:
    """Input that is written as one. Read ``total``, ``written`` and ``outcome``."""

    def __init__(self, data: bytes, deadline: float, permit: Callable[[], bool] | None) -> None:
        self.data: Final = data
        self.deadline: Final = deadline
        self.permit: Final = permit
        self.written = 0
        self.outcome: Outcome | None = None

    @property
    def total(self) -> int:
        """Bytes admitted."""
        return len(self.data)

    def settle(self, outcome: Outcome) -> None:
        """Fix the outcome. The first one stays."""
        if self.outcome is None:
            self.outcome = outcome


class WriteQueue:
    """The input of one terminal, bounded in bytes and pieces."""

    def __init__(self, max_bytes: int = MAX_QUEUED_BYTES, max_pieces: int = MAX_PIECES) -> None:
        self._max_bytes = max_bytes
        self._max_pieces = max_pieces
        self._pieces: deque[Piece] = deque()
        self._queued = 0
        self._answers = bytearray()
        self._answer_begun = False
        self._writing_answer = False
        self._soonest: float | None = None
        self._gone = False

    @property
    def queued(self) -> int:
        """Bytes of pieces that are admitted and not written."""
        return self._queued

    @property
    def room(self) -> int:
        """Bytes that a piece may have to be admitted now."""
        return self._max_bytes - self._queued if len(self._pieces) < self._max_pieces else 0

    def put(self, piece: Piece) -> None:
        """Admit a piece whole; raise QueueFull or Gone. An empty one is written at once."""
        if self._gone:
            raise Gone
        if not piece.data:
            piece.settle("written")
            return
        if piece.total > self.room:
            raise QueueFull(self.room)
        self._pieces.append(piece)
        self._queued += piece.total
        if self._soonest is None or piece.deadline < self._soonest:
            self._soonest = piece.deadline

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
        while self._pieces and not _permitted(self._pieces[0]):
            self._end_first("revoked")
        self._writing_answer = bool(self._answers) and (self._answer_begun or not self._in_piece())
        if self._writing_answer:
            return bytes(self._answers)
        if not self._pieces:
            return None
        piece = self._pieces[0]
        return memoryview(piece.data)[piece.written :]

    def wrote(self, count: int) -> None:
        """Account for ``count`` bytes of the last ``head`` that were written."""
        if self._writing_answer:
            del self._answers[:count]
            self._answer_begun = bool(self._answers) and (self._answer_begun or count > 0)
            return
        piece = self._pieces[0]
        piece.written += count
        self._queued -= count
        if piece.written == piece.total:
            self._end_first("written")

    def expire(self, now: float) -> None:
        """End the pieces whose deadline has come."""
        if self._soonest is not None and now >= self._soonest:
            self._end_where(lambda piece: piece.deadline <= now, "expired")

    def revoke(self) -> None:
        """End the pieces whose permit no longer holds, wherever they are in the queue."""
        self._end_where(lambda piece: not _permitted(piece), "revoked")

    def next_deadline(self) -> float | None:
        """When ``expire`` may have something to do; never later than the soonest deadline."""
        return self._soonest

    def drop_all(self) -> None:
        """The terminal is gone: end every piece, refuse all that comes."""
        self._gone = True
        self._answers.clear()
        while self._pieces:
            self._end_first("gone")

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
        self._soonest = min((piece.deadline for piece in kept), default=None)

    def _end_first(self, outcome: Outcome) -> None:
        self._close(self._pieces.popleft(), outcome)
        if not self._pieces:
            self._soonest = None

    def _close(self, piece: Piece, outcome: Outcome) -> None:
        self._queued -= piece.total - piece.written
        piece.settle(outcome)


def _permitted(piece: Piece) -> bool:
    return piece.permit is None or piece.permit()
