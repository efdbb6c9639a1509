"""Isolated tasks without a process: requests and their order, ladder, streams, results, records."""

from __future__ import annotations

import json
from typing import Any

import pytest

from brokerd.client import ErrorCode, Refusal, encode
from termnode.paneshell.tasks.capture import Capture, Stream, cut, encoded_size
from termnode.paneshell.tasks.environment import KEPT, Surroundings, kept
from termnode.paneshell.tasks.ladder import NOT_STARTED, Ladder, Status, Step
from termnode.paneshell.tasks.limits import (
    MAX_REPORT,
    MAX_RESULT,
    MAX_STREAM,
)
from termnode.paneshell.tasks.model import (
    Table,
    Task,
    refusal_of,
)
from termnode.paneshell.tasks.request import read_wait, submission
from termnode.paneshell.tasks.result import result_of

ME = ("connection", 1, "epoch", "me")
SOUND: dict[str, Any] = {"request_id": "1", "argv": ["true"], "cwd": "/", "timeout_ms": 1}


# Requests


def _refused(**changes: object) -> Refusal:
    body = {name: value for name, value in (SOUND | changes).items() if value is not None}
    with pytest.raises(Refusal) as caught:
        submission(body)
    return caught.value


def test_a_sound_submission_is_read_whole() -> None:
    read = submission(SOUND | {"env": [["A", "1"], ["B", "é"]], "cwd": "/tmp"})
    assert (read.request_id, read.words, read.cwd, read.timeout_ms) == (1, ("true",), "/tmp", 1)
    assert read.overlay == [(b"A", b"1"), (b"B", "é".encode())]
    script = submission({"request_id": "2", "source": "x", "cwd": "/", "timeout_ms": 600_000})
    assert script.argv("zsh") == (b"zsh", b"-c", b"x")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"request_id": "0"}, "request_id"),
        ({"request_id": 1}, "request_id"),
        ({"request_id": "01"}, "request_id"),
        ({"argv": None}, "source"),
        ({"source": "x"}, "source"),
        ({"argv": None, "source": " \n\t"}, "source"),
        ({"argv": None, "source": "a\0b"}, "source"),
        ({"argv": None, "source": "é" * 2_049}, "source"),
        ({"argv": []}, "argv"),
        ({"argv": [""]}, "argv"),
        ({"argv": ["a", 1]}, "argv"),
        ({"argv": ["a", "b\0"]}, "argv"),
        ({"argv": ["a"] * 257}, "argv"),
        ({"argv": ["a" * 4_097]}, "argv"),
        ({"timeout_ms": None}, "timeout_ms"),
        ({"timeout_ms": 0}, "timeout_ms"),
        ({"timeout_ms": True}, "timeout_ms"),
        ({"timeout_ms": 600_001}, "timeout_ms"),
        ({"env": {"A": "1"}}, "env"),
        ({"env": [["A"]]}, "env"),
        ({"env": [["", "1"]]}, "env"),
        ({"env": [["A=B", "1"]]}, "env"),
        ({"env": [["A\0", "1"]]}, "env"),
        ({"env": [["A", "1\0"]]}, "env"),
        ({"env": [["A", "1"], ["A", "1"]]}, "env"),
        ({"cwd": None}, "cwd"),
        ({"cwd": "relative"}, "cwd"),
        ({"cwd": "/a\0"}, "cwd"),
    ],
)
def test_a_malformed_submission_is_refused_by_its_field(
    changes: dict[str, Any], field: str
) -> None:
    refusal = _refused(**changes)
    assert refusal.code is ErrorCode.INVALID_ARGUMENT
    assert refusal.details["field"] == field


@pytest.mark.parametrize(
    ("env", "reason", "limit"),
    [
        ([[f"A{number}", ""] for number in range(65)], "env_variables", 64),
        ([["A", "x" * 4_096]], "env_bytes", 4_096),
    ],
)
def test_too_much_environment_is_a_limit(env: list[list[str]], reason: str, limit: int) -> None:
    refusal = _refused(env=env)
    assert refusal.code is ErrorCode.RESOURCE_LIMIT
    assert refusal.details == {"reason": reason, "limit": limit}


def test_bounds_themselves_are_allowed() -> None:
    variables = [[f"A{number:02}", ""] for number in range(63)]
    fill = [["B", "x" * (4_096 - 63 * 3 - 1)]]
    submission(SOUND | {"argv": ["a"] * 256, "env": variables + fill, "timeout_ms": 600_000})
    submission(SOUND | {"argv": ["a" * 4_096]})


def test_the_order_is_mode_timeout_size_names_directory() -> None:
    wrong: dict[str, Any] = {
        "argv": [],
        "timeout_ms": 0,
        "env": [["=", "x" * 5_000]],
        "cwd": "",
    }
    told = []
    mends: tuple[dict[str, Any], ...] = (
        {},
        {"argv": ["a"]},
        {"timeout_ms": 1},
        {"env": [["=", ""]]},
        {"env": []},
    )
    for mend in mends:
        wrong |= mend
        details = _refused(**wrong).details
        told.append(details.get("field", details.get("reason")))
    assert told == ["argv", "timeout_ms", "env_bytes", "env", "cwd"]


@pytest.mark.parametrize("value", [-1, 45_001, "1", True, 1.0])
def test_a_wait_is_bounded(value: object) -> None:
    with pytest.raises(Refusal):
        read_wait({"wait_ms": value})
    assert read_wait({"wait_ms": 45_000}) == 45.0
    assert read_wait({}) == 0.0


def test_no_refusal_repeats_what_was_sent() -> None:
    for changes in ({"cwd": "SECRET"}, {"env": [["SECRET=", ""]]}, {"argv": ["SECRET\0"]}):
        assert "SECRET" not in json.dumps(_refused(**changes).body())


# Environment


def test_the_snapshot_has_the_listed_names_alone_and_the_overlay_wins() -> None:
    whole = {name.encode(): b"1" for name in (*KEPT, "TERM", "SECRET", "TERMNODE_SHELL_DIR")}
    base = kept(whole)
    assert set(base) == {name.encode() for name in KEPT}
    told = Surroundings(base, 0o22, (1, 2)).with_overlay([(b"HOME", b"2"), (b"NEW", b"3")])
    assert told.environment == base | {b"TERM": b"dumb", b"HOME": b"2", b"NEW": b"3"}
    assert (told.umask, told.nofile) == (0o22, (1, 2))
    assert kept({}) == {}


# The ladder


def test_an_end_of_its_own() -> None:
    ladder = Ladder(0.0, 10.0)
    assert ladder.tick(9.9) is Step.NOTHING
    assert ladder.exited(Status(3, None)) is Step.SETTLE
    assert ladder.outcome() == {"kind": "exited", "code": 3}
    assert ladder.tick(100.0) is ladder.cancel(100.0) is ladder.kill(100.0) is Step.NOTHING
    assert ladder.outcome() == {"kind": "exited", "code": 3}


def test_the_timeout_goes_step_by_step() -> None:
    ladder = Ladder(0.0, 10.0)
    steps = [ladder.tick(now) for now in (10.0, 11.9, 12.0, 13.9, 14.0)]
    assert steps == [Step.TERMINATE, Step.NOTHING, Step.KILL, Step.NOTHING, Step.SETTLE]
    assert ladder.outcome()["kind"] == "unknown"


@pytest.mark.parametrize(("ticks", "last"), [((), "sigterm"), ((5.0,), "sigkill")])
def test_a_cancel_says_how_far_it_went(ticks: tuple[float, ...], last: str) -> None:
    ladder = Ladder(0.0, 10.0)
    assert ladder.cancel(3.0) is Step.TERMINATE
    assert ladder.cancel(3.5) is Step.NOTHING
    for now in ticks:
        assert ladder.tick(now) is Step.KILL
    ladder.exited(Status(None, 9))
    wait = {"signal": 9, "code": None, "reaped": True}
    assert ladder.outcome() == {
        "kind": "cancelled",
        "escalated_to": last,
        "wait": wait,
        "source": "request",
    }


def test_a_timeout_that_is_cancelled_as_well_stays_a_timeout() -> None:
    ladder = Ladder(0.0, 1.0)
    ladder.tick(1.0)
    assert ladder.cancel(1.5) is Step.NOTHING
    assert ladder.kill(1.6) is Step.KILL
    ladder.exited(Status(None, 9))
    assert (ladder.outcome()["kind"], ladder.outcome()["escalated_to"]) == ("timeout", "sigkill")


def test_the_shells_end_has_no_grace() -> None:
    ladder = Ladder(0.0, 1.0)
    assert ladder.kill(0.5) is Step.KILL
    assert ladder.deadline == 2.5
    ladder.exited(Status(None, 9))
    assert ladder.outcome()["source"] == "shell_exited"


def test_a_program_that_does_not_begin_is_not_said_to_have_been_cancelled_by_anybody() -> None:
    ladder = Ladder(0.0, 60.0)
    assert ladder.kill(5.0, NOT_STARTED) is Step.KILL
    assert ladder.tick(7.0) is Step.SETTLE
    assert ladder.outcome()["kind"] == "unknown"


# Streams and results


def test_a_stream_keeps_its_beginning_and_counts_the_rest() -> None:
    capture = Capture()
    for _ in range(3):
        capture.take(b"x" * 40_000)
    assert (len(capture.kept), capture.bytes, capture.open) == (MAX_STREAM, 120_000, True)
    capture.take(b"")
    assert not capture.open
    shown = Stream(capture.kept, capture.bytes, False).report()
    assert len(shown["text"]) == MAX_STREAM - 2  # the quotes count
    assert (shown["bytes"], shown["truncated"]) == ("120000", True)


@pytest.mark.parametrize("text", ["", "a", '"\\\n\r\t', "\x00\x1f\x7f", "é€😀", "\x01" * 20_000])
def test_sizes_are_those_of_the_encoder(text: str) -> None:
    assert encoded_size(text) == len(encode(text))
    assert encoded_size(cut(text, 2_000)) <= 2_000


def test_what_is_no_utf8_is_shown_as_such() -> None:
    shown = Stream(b"a\xff\xe2\x82", 4, True).report()
    assert shown == {
        "bytes": "4",
        "truncated": False,
        "writer_survived": True,
        "text": "a\ufffd\ufffd",
    }


def _result(raw: bytes, *, ended: bool = True) -> dict[str, Any]:
    capture = Capture(MAX_RESULT)
    for at in range(0, len(raw), 9_999):
        capture.take(raw[at : at + 9_999])
    if ended:
        capture.take(b"")
    return result_of(Stream(capture.kept, capture.bytes, capture.open))


def test_what_a_result_can_be() -> None:
    assert _result(b' {"a": [1, null]}\n') == {"kind": "value", "data": {"a": [1, None]}}
    assert _result(b"0") == {"kind": "value", "data": 0}
    assert _result(b"") == _result(b" \n") == {"kind": "result_missing"}
    assert _result(b"1", ended=False) == {"kind": "result_abandoned"}
    for torn in (b'{"a":', b"1 2", b'1,"b":2', b"NaN", b"\xff", b'{"a":1,"a":2}'):
        assert _result(torn) == {"kind": "result_torn"}, torn


def test_a_result_has_its_bounds() -> None:
    longest = b'"' + b"x" * (MAX_RESULT - 2) + b'"'
    assert _result(longest)["kind"] == "value"
    assert _result(longest + b" ")["kind"] == "result_torn"
    deep = b"[" * 9 + b"]" * 9
    cut_off = {"ok": True, "truncated": True, "bytes": len(deep)}
    assert _result(deep) == {"kind": "value", "data": cut_off}
    assert _result(deep[1:-1])["data"] != cut_off
    numbers = b"[" + b",".join([b"1e5"] * 16_000) + b"]"  # longer as it is said again
    assert _result(numbers)["data"]["truncated"] is True


# What is kept


def _task(number: int = 1) -> Task:
    return Task((ME, number), b"", True, 1_000)


def _settle(table: Table, task: Task) -> None:
    task.lose("lost", 2_000)
    table.settled(task)


def test_four_run_at_once_and_a_failed_start_takes_no_place() -> None:
    table = Table()
    for number in range(4):
        table.begin(_task(number))
    with pytest.raises(Refusal) as caught:
        table.begin(_task(9))
    assert caught.value.details == {"reason": "running_tasks", "limit": 4}
    table.drop(table.running[0])
    table.begin(_task(9))


def test_eight_reports_are_kept() -> None:
    table = Table()
    for number in range(9):
        task = _task(number)
        table.begin(task)
        table.accept(task, str(number))
        assert table.state_of(str(number)) == "running"
        _settle(table, task)
    assert [table.get(str(number)).state for number in range(1, 9)] == ["settled"] * 8
    with pytest.raises(Refusal) as caught:
        table.get("0")
    assert caught.value.code is ErrorCode.UNKNOWN_OUTCOME
    assert table.state_of("0") == "settled"


def test_states_and_answers() -> None:
    task = _task()
    task.operation_id = "7"
    assert task.answer(1_500)["elapsed_ms"] == 500
    task.cancelled = True
    assert task.answer(1_500)["state"] == "cancelling"
    task.lose("lost", 3_000)
    answer: Any = task.answer(9_000)
    assert (answer["state"], answer["report"]["duration_ms"]) == ("settled", 2_000)
    assert answer["report"]["outcome"] == {"kind": "unknown", "detail": "lost"}


def test_what_nobody_read_is_not_told_as_nothing() -> None:
    def report(task: Task) -> Any:  # noqa: ANN401
        found: Any = task.answer(9_000)["report"]
        assert (found["stdout"]["bytes"], found["stdout"]["text"]) == ("0", "")
        return found["stdout"]["truncated"], found["result"]

    lost, never = _task(), _task()
    lost.lose("lost", 3_000)
    assert report(lost) == (True, {"kind": "result_abandoned"})
    never.not_started(3_000)
    assert report(never) == (False, {"kind": "result_missing"})


def test_the_longest_report_is_under_its_bound() -> None:
    task = _task()
    for name, raw, count in (
        ("stdout", b"\x01" * MAX_STREAM, 2**63),
        ("stderr", b"\xff" * MAX_STREAM, 2**63),
        ("result", b'"' + b"x" * (MAX_RESULT - 2) + b'"', MAX_RESULT),
    ):
        task.take({"type": "stream", "name": name, "kept": raw, "bytes": count, "open": False})
    task.lose("x" * 200, 2_000)
    task.operation_id = str(2**63)
    size = len(encode(task.answer(0)))
    assert 3 * 60_000 < size < MAX_REPORT


@pytest.mark.parametrize(
    ("stage", "number", "code"),
    [
        ("cwd", 2, ErrorCode.NOT_FOUND),
        ("program", 2, ErrorCode.NOT_FOUND),
        ("program", 13, ErrorCode.NOT_FOUND),
        ("program", 12, ErrorCode.RESOURCE_LIMIT),
        ("fork", 11, ErrorCode.RESOURCE_LIMIT),
    ],
)
def test_why_nothing_ran(stage: str, number: int, code: ErrorCode) -> None:
    refusal = refusal_of({"stage": stage, "errno": number})
    assert refusal.code is code
    assert refusal.details.get("reason", "spawn_failed") == "spawn_failed"
