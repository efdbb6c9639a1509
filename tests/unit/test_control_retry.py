"""The retry record: new, pending, done, and what falls out."""

from __future__ import annotations

import pytest

from brokerd.client import ErrorCode, Refusal
from termnode.control.retry import (
    Conflict,
    Key,
    New,
    Replay,
    RetryTable,
    UnderWay,
    conflict,
)

KEY: Key = (("uid", 1000), "r-1")
A, B = b"a" * 32, b"b" * 32


def key(number: int) -> Key:
    return (("uid", 1000), f"r-{number}")


def test_a_key_goes_from_new_to_pending_to_done() -> None:
    table: RetryTable[str, str] = RetryTable()
    assert table.lookup(KEY, A) == New()
    table.reserve(KEY, A, "ticket")
    assert table.lookup(KEY, A) == UnderWay("ticket")
    assert table.lookup(KEY, B) == Conflict()
    table.record(KEY, "reply")
    assert table.lookup(KEY, A) == Replay("reply")
    assert table.lookup(KEY, B) == Conflict()
    assert table.statistics() == {"pending": 0, "done": 1}


def test_a_released_key_is_new_again() -> None:
    table: RetryTable[str, str] = RetryTable()
    table.reserve(KEY, A, "ticket")
    table.release(KEY)
    assert table.lookup(KEY, B) == New()


def test_a_key_is_reserved_once_and_recorded_once() -> None:
    table: RetryTable[str, str] = RetryTable()
    with pytest.raises(KeyError):
        table.record(KEY, "x")
    with pytest.raises(KeyError):
        table.release(KEY)
    table.reserve(KEY, A, "ticket")
    with pytest.raises(ValueError, match="not new"):
        table.reserve(KEY, A, "other")
    table.record(KEY, "reply")
    with pytest.raises(ValueError, match="not new"):
        table.reserve(KEY, A, "other")
    with pytest.raises(KeyError):
        table.record(KEY, "again")


def test_the_oldest_reply_falls_out_first_and_a_look_does_not_save_it() -> None:
    table: RetryTable[str, int] = RetryTable(done=2)
    for number in range(3):
        table.reserve(key(number), A, "ticket")
        table.record(key(number), number)
        table.lookup(key(0), A)
    assert table.lookup(key(0), A) == New()
    assert table.lookup(key(1), A) == Replay(1)
    assert table.lookup(key(2), A) == Replay(2)


def test_pending_keys_are_never_dropped_but_capped() -> None:
    table: RetryTable[int, int] = RetryTable(done=1, pending=3)
    for number in range(3):
        table.reserve(key(number), A, number)
    with pytest.raises(Refusal) as caught:
        table.reserve(key(3), A, 3)
    assert caught.value.code is ErrorCode.RESOURCE_LIMIT
    assert caught.value.details == {"reason": "pending_requests", "limit": 3}
    assert table.lookup(key(3), A) == New()
    assert list(table.owners()) == [0, 1, 2]
    table.record(key(2), 2)
    assert table.lookup(key(0), A) == UnderWay(0)


def test_scopes_are_apart() -> None:
    table: RetryTable[str, str] = RetryTable()
    table.reserve(KEY, A, "ticket")
    others: list[Key] = [(("uid", 0), "r-1"), (("node", "1000"), "r-1"), (("uid", 1000), "r-2")]
    assert [table.lookup(other, A) for other in others] == [New()] * 3


def test_a_conflict_says_what_a_retry_needs() -> None:
    assert conflict().code is ErrorCode.CONFLICT
    assert conflict().details == {
        "field": "request_id",
        "reason": "request_mismatch",
        "retry_requires": "same_verb_and_arguments",
    }
