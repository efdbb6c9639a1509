"""The write queue: admitted whole, written in order, answers in front and never inside a piece."""

from __future__ import annotations

import pytest

from termnode.terminal.write_queue import (
    MAX_ANSWER_BYTES,
    MAX_PASTE_BYTES,
    MAX_QUEUED_BYTES,
    Gone,
    Piece,
    QueueFull,
    WriteQueue,
)


def piece(data: bytes, deadline: float = 10.0) -> Piece:
    return Piece(data, deadline, None)


def take(queue: WriteQueue, count: int, now: float = 0.0) -> bytes:
    """Write at most ``count`` bytes of the head, as a PTY with that much room would."""
    head = queue.head(now)
    if head is None:
        return b""
    data = bytes(head[:count])
    queue.wrote(len(data), now)
    return data


def test_pieces_are_written_in_order_and_whole() -> None:
    queue = WriteQueue()
    first, second = piece(b"first"), piece(b"second")
    queue.put(first)
    queue.put(second)
    assert take(queue, 3) + take(queue, 64) + take(queue, 64) == b"firstsecond"
    assert (first.outcome, second.outcome) == ("written", "written")
    assert take(queue, 64) == b""


def test_a_piece_is_admitted_whole_or_not_at_all() -> None:
    queue = WriteQueue()
    queue.put(piece(b"x" * (MAX_QUEUED_BYTES - 3)))
    with pytest.raises(QueueFull) as caught:
        queue.put(piece(b"four"))
    assert caught.value.room == 3
    queue.put(piece(b"yyy"))
    assert queue.room == 0


def test_the_number_of_pieces_is_bounded() -> None:
    queue = WriteQueue(max_pieces=2)
    queue.put(piece(b"a"))
    queue.put(piece(b"b"))
    with pytest.raises(QueueFull):
        queue.put(piece(b"c"))
    take(queue, 1)
    queue.put(piece(b"c"))


def test_room_comes_back_byte_by_byte() -> None:
    queue = WriteQueue()
    queue.put(piece(b"x" * MAX_QUEUED_BYTES))
    take(queue, 100)
    assert queue.room == 100
    assert queue.queued == MAX_QUEUED_BYTES - 100


def test_an_empty_piece_is_written_at_once() -> None:
    empty = piece(b"")
    WriteQueue().put(empty)
    assert empty.outcome == "written"


def test_an_answer_goes_in_front_of_a_piece_that_has_not_begun() -> None:
    queue = WriteQueue()
    queue.put(piece(b"typed"))
    assert queue.answer(b"ANSWER")
    assert take(queue, 64) == b"ANSWER"
    assert take(queue, 64) == b"typed"


def test_an_answer_waits_for_the_piece_that_has_begun() -> None:
    queue = WriteQueue()
    queue.put(piece(b"begun"))
    queue.put(piece(b"next"))
    written = take(queue, 2)
    queue.answer(b"ANSWER")
    written += take(queue, 64) + take(queue, 64) + take(queue, 64)
    assert written == b"begunANSWERnext"


def test_a_piece_waits_for_the_answer_that_has_begun() -> None:
    queue = WriteQueue()
    queue.answer(b"ANSWER")
    written = take(queue, 2)
    queue.put(piece(b"typed"))
    queue.answer(b"+")
    assert written + take(queue, 64) + take(queue, 64) == b"ANSWER+typed"


def test_answers_are_bounded_and_dropped_whole() -> None:
    queue = WriteQueue()
    assert queue.answer(b"x" * MAX_ANSWER_BYTES)
    assert not queue.answer(b"y")
    assert take(queue, 2 * MAX_ANSWER_BYTES) == b"x" * MAX_ANSWER_BYTES


def test_a_piece_expires_with_the_count_that_was_written() -> None:
    queue = WriteQueue()
    late, kept = piece(b"late", deadline=1.0), piece(b"kept", deadline=9.0)
    queue.put(late)
    queue.put(kept)
    assert take(queue, 2, now=0.5) == b"la"
    assert queue.next_deadline() == 1.0
    assert take(queue, 64, now=1.0) == b"kept"
    assert (late.outcome, late.written, late.total) == ("expired", 2, 4)
    assert (kept.outcome, queue.queued) == ("written", 0)


def test_a_piece_behind_others_expires_too() -> None:
    queue = WriteQueue()
    queue.put(piece(b"front", deadline=9.0))
    behind = piece(b"behind", deadline=1.0)
    queue.put(behind)
    queue.expire(1.0)
    assert (behind.outcome, behind.written) == ("expired", 0)
    assert queue.next_deadline() == 9.0


def test_a_deadline_of_zero_counts() -> None:
    queue = WriteQueue()
    due = piece(b"due", deadline=0.0)
    queue.put(due)
    queue.put(piece(b"later", deadline=5.0))
    assert take(queue, 64, now=0.0) == b"later"
    assert due.outcome == "expired"


def test_the_permit_is_asked_at_each_write() -> None:
    allowed = True
    queue = WriteQueue()
    leased = Piece(b"leased", 9.0, lambda: allowed)
    queue.put(leased)
    queue.put(piece(b"free"))
    assert take(queue, 2) == b"le"
    allowed = False
    assert take(queue, 64) == b"free"
    assert (leased.outcome, leased.written) == ("revoked", 2)


def test_revoke_ends_pieces_anywhere_in_the_queue() -> None:
    queue = WriteQueue()
    queue.put(piece(b"front"))
    behind = Piece(b"behind", 9.0, lambda: False)
    queue.put(behind)
    queue.revoke()
    assert behind.outcome == "revoked"
    assert take(queue, 64) == b"front"


def test_when_the_terminal_is_gone_all_pieces_end_and_none_is_admitted() -> None:
    queue = WriteQueue()
    first, second = piece(b"first"), piece(b"second")
    queue.put(first)
    queue.put(second)
    take(queue, 2)
    queue.drop_all()
    assert (first.outcome, first.written, second.outcome) == ("gone", 2, "gone")
    assert not queue.answer(b"x")
    assert queue.head(0.0) is None
    with pytest.raises(Gone):
        queue.put(piece(b"more"))


def test_the_first_outcome_stays() -> None:
    ended = piece(b"x")
    ended.settle("expired")
    ended.settle("gone")
    assert ended.outcome == "expired"


# Closings and patience


def begun(data: bytes, deadline: float = 10.0, *, allowed: bool = True) -> Piece:
    return Piece(data, deadline, lambda: allowed, closing=b"<end>")


def test_a_begun_piece_that_ends_early_is_closed_before_anything_else() -> None:
    queue = WriteQueue()
    cut = begun(b"<begin>text", deadline=1.0)
    queue.put(cut)
    queue.put(piece(b"next"))
    take(queue, 9)
    queue.answer(b"ANSWER")
    assert take(queue, 3, now=1.0) == b"<en"
    assert take(queue, 64, now=1.0) == b"d>"
    assert take(queue, 64, now=1.0) == b"ANSWER"
    assert take(queue, 64, now=1.0) == b"next"
    assert (cut.outcome, cut.written, cut.total) == ("expired", 9, 11)


def test_a_piece_of_which_nothing_was_written_is_not_closed() -> None:
    queue = WriteQueue()
    queue.put(begun(b"<begin>", deadline=1.0))
    queue.put(begun(b"<begin>", allowed=False))
    assert take(queue, 64, now=1.0) == b""


def test_nothing_is_closed_when_the_terminal_is_gone_or_all_was_written() -> None:
    queue = WriteQueue()
    queue.put(begun(b"<begin><end>"))
    take(queue, 64)
    assert queue.head(0.0) is None
    queue.put(begun(b"<begin>", deadline=1.0))
    take(queue, 1)
    queue.expire(1.0)
    queue.drop_all()
    assert queue.head(1.0) is None


def patient(data: bytes, latest: float = 100.0) -> Piece:
    return Piece(data, 2.0, None, patience=2.0, latest=latest)


def test_a_patient_piece_lives_as_long_as_bytes_are_taken() -> None:
    queue = WriteQueue()
    slow = patient(b"abcdef")
    queue.put(slow)
    for now in (1.5, 3.0, 4.5):
        take(queue, 1, now=now)
    queue.expire(6.4)
    assert (slow.outcome, queue.next_deadline()) == (None, 6.5)
    queue.expire(6.5)
    assert (slow.outcome, slow.written) == ("expired", 3)


def test_a_patient_piece_ends_at_last_however_steadily_it_is_read() -> None:
    queue = WriteQueue()
    slow = patient(b"x" * 100, latest=9.0)
    queue.put(slow)
    for now in range(9):
        take(queue, 1, now=now)
    queue.expire(9.0)
    assert (slow.outcome, slow.written) == ("expired", 9)


def test_a_patient_piece_behind_others_lives_while_they_are_read() -> None:
    queue = WriteQueue()
    queue.put(piece(b"front"))
    behind = patient(b"behind")
    queue.put(behind)
    take(queue, 1, now=1.9)
    queue.expire(3.8)
    assert behind.outcome is None


def test_a_large_patient_piece_is_admitted_alone() -> None:
    queue = WriteQueue()
    with pytest.raises(QueueFull):
        queue.put(patient(b"x" * (MAX_PASTE_BYTES + 1)))
    with pytest.raises(QueueFull):
        queue.put(piece(b"x" * (MAX_QUEUED_BYTES + 1)))
    queue.put(patient(b"x" * MAX_PASTE_BYTES))
    with pytest.raises(QueueFull) as caught:
        queue.put(piece(b"y"))
    assert caught.value.room == queue.room == 0
    take(queue, MAX_PASTE_BYTES - MAX_QUEUED_BYTES + 1, now=1.0)
    with pytest.raises(QueueFull):
        queue.put(patient(b"x" * (MAX_QUEUED_BYTES + 1)))
    queue.put(piece(b"y"))
