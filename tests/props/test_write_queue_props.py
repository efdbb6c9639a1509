"""The write queue against a naive model: the same bytes in the same order, the same outcomes.

The model keeps a list of entries and writes one byte at a time by the rules in words; it knows
nothing of the queue's buffers, counters and cached deadlines.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from termnode.terminal.write_queue import (
    MAX_ANSWER_BYTES,
    Gone,
    Outcome,
    Piece,
    QueueFull,
    WriteQueue,
    _Source,
)

MAX_BYTES = 40
MAX_PIECES = 5
MAX_PATIENT = 60


@dataclass
class Entry:
    """A piece as the model sees it."""

    data: bytes
    deadline: float
    closing: bytes = b""
    patience: float | None = None
    latest: float = math.inf
    allowed: bool = True
    written: int = 0
    outcome: str | None = None


@dataclass
class Model:
    """The rules in words."""

    waiting: list[Entry] = field(default_factory=list)
    answer: bytes = b""
    in_answer: bool = False
    closing: bytes = b""
    taken: float = -math.inf
    gone: bool = False

    def admit(self, entry: Entry) -> str:
        if self.gone:
            return "gone"
        if not entry.data:
            entry.outcome = "written"
            return "ok"
        left = sum(len(other.data) - other.written for other in self.waiting)
        alone = not self.waiting and entry.patience is not None
        most = MAX_PATIENT if alone else MAX_BYTES - left
        if len(self.waiting) >= MAX_PIECES or len(entry.data) > most:
            return "full"
        self.waiting.append(entry)
        return "ok"

    def end(self, outcome: str, entries: list[Entry]) -> None:
        for entry in entries:
            entry.outcome = outcome
            self.waiting.remove(entry)
            if entry.written and outcome in {"expired", "revoked"}:
                self.closing = entry.closing

    def due(self, entry: Entry) -> float:
        if entry.patience is None:
            return entry.deadline
        return min(entry.latest, max(entry.deadline, self.taken + entry.patience))

    def expire(self, now: float) -> None:
        self.end("expired", [entry for entry in self.waiting if self.due(entry) <= now])

    def byte(self, now: float) -> bytes:
        """The one byte that is written next, if there is room."""
        byte = self.next_byte(now)
        self.taken = now if byte else self.taken
        return byte

    def next_byte(self, now: float) -> bytes:
        self.expire(now)
        while self.waiting and not self.waiting[0].allowed:
            self.end("revoked", self.waiting[:1])
        if self.closing:
            byte, self.closing = self.closing[:1], self.closing[1:]
            return byte
        inside = bool(self.waiting) and self.waiting[0].written > 0
        if self.answer and (self.in_answer or not inside):
            byte, self.answer = self.answer[:1], self.answer[1:]
            self.in_answer = bool(self.answer)
            return byte
        if not self.waiting:
            return b""
        first = self.waiting[0]
        byte = first.data[first.written : first.written + 1]
        first.written += 1
        if first.written == len(first.data):
            self.end("written", [first])
        return byte


class QueueMachine(RuleBasedStateMachine):
    """Does the same to both; ``queue_class`` lets a broken variant be shown to fail."""

    queue_class: type[WriteQueue] = WriteQueue

    def __init__(self) -> None:
        super().__init__()
        self.queue = self.queue_class(MAX_BYTES, MAX_PIECES, MAX_PATIENT)
        self.model = Model()
        self.now = 0.0
        self.pairs: list[tuple[Piece, Entry]] = []

    @rule(size=st.integers(0, 20), ttl=st.integers(0, 20), closing=st.sampled_from([b"", b"<>"]))
    def put(self, size: int, ttl: int, closing: bytes) -> None:
        self.add(size, Entry(b"", self.now + ttl, closing))

    @rule(size=st.integers(15, 65), within=st.integers(1, 6), most=st.integers(4, 30))
    def put_patient(self, size: int, within: int, most: int) -> None:
        deadline, latest = self.now + within, self.now + most
        self.add(size, Entry(b"", deadline, b"<>", within, latest))

    def add(self, size: int, entry: Entry) -> None:
        entry.data = bytes(97 + (len(self.pairs) + at) % 26 for at in range(size))
        piece = Piece(
            entry.data,
            entry.deadline,
            lambda: entry.allowed,
            closing=entry.closing,
            patience=entry.patience,
            latest=entry.latest,
        )
        expected = self.model.admit(entry)
        try:
            self.queue.put(piece)
            got = "ok"
            self.pairs.append((piece, entry))
        except QueueFull:
            got = "full"
        except Gone:
            got = "gone"
        assert got == expected

    @rule(size=st.integers(1, 9))
    def answer(self, size: int) -> None:
        data = bytes(48 + at for at in range(size))
        fits = not self.model.gone and len(self.model.answer) + len(data) <= MAX_ANSWER_BYTES
        assert self.queue.answer(data) == fits
        if fits:
            self.model.answer += data

    @rule(room=st.integers(0, 15))
    def write(self, room: int) -> None:
        """The PTY takes ``room`` bytes of one head, and the model the same bytes one by one."""
        head = self.queue.head(self.now)
        taken = b"" if head is None else bytes(head[:room])
        if head is not None:
            self.queue.wrote(len(taken), self.now)
        assert taken == b"".join(self.model.byte(self.now) for _ in taken)
        if head is None:
            assert self.model.byte(self.now) == b""

    @rule(room=st.integers(1, 9))
    def cut_short(self, room: int) -> None:
        """The permit of what is being written ends, with a query answered in the same moment."""
        self.write(room)
        self.answer(1)
        if self.model.waiting:
            self.model.waiting[0].allowed = False

    @rule(seconds=st.integers(0, 4))
    def wait(self, seconds: int) -> None:
        self.now += seconds
        self.queue.expire(self.now)
        self.model.expire(self.now)

    @rule(index=st.integers(0, 30), at_once=st.booleans())
    def revoke(self, index: int, at_once: bool) -> None:
        if index < len(self.pairs):
            self.pairs[index][1].allowed = False
        if at_once:
            self.queue.revoke()
            self.model.end("revoked", [e for e in self.model.waiting if not e.allowed])

    @rule(really=st.integers(0, 19))
    def drop_all(self, really: int) -> None:
        if really == 19:
            self.queue.drop_all()
            self.model.gone = True
            self.model.answer = self.model.closing = b""
            self.model.end("gone", list(self.model.waiting))

    @invariant()
    def same_outcomes(self) -> None:
        self.queue.head(self.now)  # the queue ends what is due lazily, the model at once
        self.model_lazy()
        for piece, entry in self.pairs:
            assert (piece.outcome, piece.written) == (entry.outcome, entry.written)
        left = sum(len(entry.data) - entry.written for entry in self.model.waiting)
        assert self.queue.queued == left

    @invariant()
    def deadline_is_never_too_late(self) -> None:
        soonest = min(map(self.model.due, self.model.waiting), default=None)
        told = self.queue.next_deadline()
        assert soonest is None or (told is not None and told <= soonest)

    def model_lazy(self) -> None:
        self.model.expire(self.now)
        while self.model.waiting and not self.model.waiting[0].allowed:
            self.model.end("revoked", self.model.waiting[:1])


class AnswerInside(WriteQueue):
    """Broken on purpose: an answer may cut a piece in two."""

    def _in_piece(self) -> bool:
        return False


class CountsTotal(WriteQueue):
    """Broken on purpose: gives back the room of written bytes again when a piece ends early."""

    def _close(self, piece: Piece, outcome: Outcome) -> None:
        self._queued -= piece.written
        super()._close(piece, outcome)


class ForgetsClosing(WriteQueue):
    """Broken on purpose: a piece that ends early leaves the program inside what it began."""

    def _close(self, piece: Piece, outcome: Outcome) -> None:
        super()._close(piece, outcome)
        self._closing = b""


class ClosesUnbegun(WriteQueue):
    """Broken on purpose: closes what was never opened."""

    def _close(self, piece: Piece, outcome: Outcome) -> None:
        super()._close(piece, outcome)
        self._closing = piece.closing if outcome in {"expired", "revoked"} else b""


class ClosesLate(WriteQueue):
    """Broken on purpose: an answer comes before the closing."""

    def _next_source(self) -> _Source:
        return "answer" if self._answers and not self._in_piece() else super()._next_source()


class Impatient(WriteQueue):
    """Broken on purpose: forgets that bytes were taken."""

    def wrote(self, count: int, now: float) -> None:
        super().wrote(count, -math.inf)


class AdmitsAll(WriteQueue):
    """Broken on purpose: a large piece is admitted behind others too."""

    def _takes_large(self, piece: Piece) -> bool:
        return piece.patience is not None and piece.total <= self._max_patient


BROKEN = (
    AnswerInside,
    CountsTotal,
    ForgetsClosing,
    ClosesUnbegun,
    ClosesLate,
    Impatient,
    AdmitsAll,
)


def check(queue_class: type[WriteQueue]) -> None:
    machine = type("Machine", (QueueMachine,), {"queue_class": queue_class})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=150,
            stateful_step_count=40,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate, Phase.shrink]
            if queue_class is WriteQueue
            else [Phase.generate],
        ),
    )


def test_queue_agrees_with_the_model() -> None:
    check(WriteQueue)


@pytest.mark.parametrize("broken", BROKEN)
def test_the_model_finds_broken_queues(broken: type[WriteQueue]) -> None:
    with pytest.raises(AssertionError):
        check(broken)
