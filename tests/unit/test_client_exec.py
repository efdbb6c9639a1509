"""The client's commands and tasks: what is asked, what is asked again, what a result is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from brokerd.client import ErrorCode, Refusal
from brokerd.client.memory import MemoryBroker
from termnode.client import NativePane, Session
from termnode.client.decode import decode
from termnode.client.errors import (
    BadReply,
    InvalidArgument,
    ResourceLimit,
    ServiceUnavailable,
    StaleGeneration,
    UnknownOutcome,
    WaitTimeout,
)
from termnode.client.link import open_link
from termnode.client.native_exec_calls import Parts
from termnode.client.native_exec_link import QUICK_S
from termnode.client.native_exec_replies import CommandExit, Executed, TaskReport
from termnode.client.native_shell import address_of
from termnode.client.runner import Direct
from termnode.client.wait_plan import LONGEST_S
from termnode.control.native.targets import Target
from tests.support.exec_term import EXECUTED, REPORT, ExecTerm

Test = Callable[[ExecTerm, NativePane], Awaitable[None]]
RUNNING = {"state": "running"}


def in_a_pane(test: Test, **given_: object) -> None:
    """In virtual time, with pane 1 of a Term."""

    async def main() -> None:
        term = ExecTerm(MemoryBroker())
        for name, value in given_.items():
            setattr(term, name, value)
        with trio.fail_after(3600), term.attached:
            async with term.running(), open_link(term.memory.connect, "term") as link:
                session = Session(Direct(link))
                await test(term, await (await session.native()).pane(1))
        assert set(term.effects.values()) <= {1}, "nothing ran twice"

    trio.run(main, clock=MockClock(autojump_threshold=0))


def test_a_command_runs_at_the_prompt_that_there_is() -> None:
    async def test(term: ExecTerm, pane: NativePane) -> None:
        done = await pane.execute("make test")
        assert (done.exit, done.ok, done.text) == (CommandExit(3), False, "one\ntwo")
        assert done.output is not None
        assert done.output.text == "one\r\ntwo"
        (body,) = term.ran
        assert (body["source"], body["prompt_generation"]) == ("make test", "4")
        assert term.waits == [2_000]

    in_a_pane(test)


def test_a_quick_command_takes_one_request() -> None:
    async def test(term: ExecTerm, pane: NativePane) -> None:
        done = await pane.execute("true")
        assert (done.exit, done.text) == (CommandExit(3), "one\ntwo")
        assert term.waits == []
        assert term.ran[0]["wait_ms"] == round(1000 * QUICK_S)
        term.generation += 1
        await pane.execute("true", timeout=0)
        await pane.submit("true", prompt_generation=term.generation)
        assert ["wait_ms" in body for body in term.ran] == [True, False, False]

    in_a_pane(test, quick=True)


def test_others_do_not_wait_behind_the_end_of_a_command() -> None:
    async def test(term: ExecTerm, pane: NativePane) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(pane.execute, "one", prompt_generation=4))
            nursery.start_soon(partial(pane.execute, "two", prompt_generation=4))
        assert sorted("wait_ms" in body for body in term.ran) == [False, True]

    in_a_pane(test, quick=True)


def test_a_prompt_that_moved_on_is_looked_at_again_once() -> None:
    async def moved(term: ExecTerm, pane: NativePane) -> None:
        await pane.execute("ls")
        assert (len(term.ran), term.ran[0]["prompt_generation"], term.looks) == (1, "5", 2)

    async def moves_on(term: ExecTerm, pane: NativePane) -> None:
        with pytest.raises(StaleGeneration):
            await pane.execute("ls")
        assert not term.ran

    in_a_pane(moved, moves=1)
    in_a_pane(moves_on, moves=2)


def test_the_prompt_after_a_command_need_not_be_looked_for() -> None:
    async def test(term: ExecTerm, pane: NativePane) -> None:
        await pane.execute("one")
        term.generation += 1
        await pane.execute("two")
        assert term.looks == 1
        term.generation += 2  # somebody else ran something
        await pane.execute("three")
        assert term.looks == 2
        assert [body["prompt_generation"] for body in term.ran] == ["4", "5", "7"]

    in_a_pane(test)


def test_a_prompt_that_was_named_is_the_only_one() -> None:
    async def test(term: ExecTerm, pane: NativePane) -> None:
        with pytest.raises(StaleGeneration):
            await pane.execute("ls", prompt_generation=3)
        assert (term.looks, len(term.ran)) == (0, 0)
        await pane.submit("ls", prompt_generation=4)
        assert (term.looks, len(term.ran)) == (0, 1)

    in_a_pane(test)


def test_what_the_shell_never_answered_is_sent_again_with_the_same_bytes() -> None:
    async def answered(term: ExecTerm, pane: NativePane) -> None:
        await pane.submit("ls")
        sent = [raw for _, verb, raw in term.seen if verb == "term.execute"]
        assert len(sent) == 3
        assert len(set(sent)) == 1

    async def never(term: ExecTerm, pane: NativePane) -> None:
        with pytest.raises(UnknownOutcome):
            await pane.submit("ls")
        assert len([1 for _, verb, _ in term.seen if verb == "term.execute"]) == 3

    in_a_pane(answered, unanswered=2)
    in_a_pane(never, unanswered=3)


def test_a_wait_goes_on_in_parts_until_the_end_or_the_time() -> None:
    async def ends(term: ExecTerm, pane: NativePane) -> None:
        term.results.extend([RUNNING] * 3)
        assert (await pane.execute("ls", timeout=None)).exit == CommandExit(3)
        assert len(term.waits) == 4
        assert max(term.waits) <= 1000 * LONGEST_S

    async def runs_on(term: ExecTerm, pane: NativePane) -> None:
        term.results.append(RUNNING)
        with pytest.raises(WaitTimeout) as raised:
            await pane.execute("ls", timeout=0)
        running = pane.execution(raised.value.details["operation_id"])
        assert (await running.result()).exit == CommandExit(3)
        assert (await running.state()).state == "finished"

    in_a_pane(ends)
    in_a_pane(runs_on)


def test_a_result_is_asked_for_again_while_the_shell_is_away() -> None:
    away = Refusal(ErrorCode.DISCONNECTED, "it did not answer", reason="no_answer")
    full = Refusal(ErrorCode.RESOURCE_LIMIT, "too many wait", limit=64)
    unasked = Refusal(ErrorCode.UNAVAILABLE, "not confirmed", reason="not_confirmed")
    gone = Refusal(ErrorCode.UNAVAILABLE, "nobody is there", reason="not_registered")
    large = Refusal(ErrorCode.RESOURCE_LIMIT, "too large", reason="reply_too_large")

    async def comes_back(term: ExecTerm, pane: NativePane) -> None:
        term.results.extend([away, full, unasked])
        assert (await pane.execute("ls")).exit == CommandExit(3)

    async def never_fits(term: ExecTerm, pane: NativePane) -> None:
        term.results.append(large)
        with pytest.raises(ResourceLimit):
            await pane.execute("ls")
        assert len(term.waits) == 1

    async def never_comes_back(term: ExecTerm, pane: NativePane) -> None:
        term.results.append(gone)
        with pytest.raises(ServiceUnavailable):
            await pane.execute("ls")

    in_a_pane(comes_back)
    in_a_pane(never_fits)
    in_a_pane(never_comes_back)


def test_a_cancel_says_what_was_done() -> None:
    async def test(term: ExecTerm, pane: NativePane) -> None:
        running = await pane.submit("sleep 9")
        told = await running.cancel()
        assert (told.outcome, told.signalled_pgid) == ("requested", 7)

    in_a_pane(test)


def test_a_task_names_only_what_was_given() -> None:
    async def test(term: ExecTerm, pane: NativePane) -> None:
        report = await pane.task("make 'all of it'", env={"A": "1"}, timeout=5)
        assert (report.ok, report.stdout.text, report.survivors) == (True, "out", 1)
        assert report.result.data == {"n": None}
        await pane.task(source="ls", cwd="/")
        first, second = term.ran
        own = {"argv", "source", "cwd", "env", "timeout_ms"}
        assert {name: first[name] for name in own & first.keys()} == {
            "argv": ["make", "all of it"],
            "cwd": "/somewhere",
            "env": [["A", "1"]],
            "timeout_ms": 5_000,
        }
        assert {name: second[name] for name in own & second.keys()} == {
            "source": "ls",
            "cwd": "/",
            "timeout_ms": 60_000,
        }
        assert term.looks == 1

    in_a_pane(test)


@pytest.mark.parametrize("timeout", [0.0, -1.0, 600.5, float("nan"), float("inf")])
def test_a_task_without_a_time_that_can_be_is_refused_here(timeout: float) -> None:
    async def test(term: ExecTerm, pane: NativePane) -> None:
        with pytest.raises(InvalidArgument):
            await pane.task(["ls"], cwd="/", timeout=timeout)
        assert not term.ran

    in_a_pane(test)


def test_another_attachment_of_the_shell_is_looked_up_again() -> None:
    async def test(term: ExecTerm, pane: NativePane) -> None:
        await pane.prompt()
        shells = pane._runner._link.native.shells  # type: ignore[attr-defined]  # of Direct
        known = shells._known[pane.target]
        known.attachment["record"] = {**known.attachment["record"], "binding_generation": "99"}
        assert (await pane.prompt()).prompt_generation == 4
        assert term.looks == 3

    in_a_pane(test)


def test_a_pane_whose_shell_has_no_session_says_so() -> None:
    with pytest.raises(ServiceUnavailable):
        address_of(Target("a" * 32, "b" * 32, 1, 1), [])


def test_results_are_what_the_shell_told() -> None:
    cancelled = {
        "outcome": "cancelled",
        "exit": {"signal": 2},
        "output": None,
        "cancellation": {"requested": True, "delivered": "signal"},
        "something": "new",
    }
    done = decode(Executed, cancelled)
    assert (str(done.exit), done.text, done.ok) == ("signal 2", "", False)
    assert done.exit is not None
    assert done.exit.status == 130
    ended = decode(Executed, {**EXECUTED, "exit": {"code": 0, "shell_exited": True}})
    assert not ended.ok
    forced = {"kind": "timeout", "escalated_to": "sigkill", "wait": {"signal": 9, "code": None}}
    report = decode(TaskReport, {**REPORT, "outcome": forced})
    assert (report.outcome.status, report.ok, str(report.outcome)) == (137, False, "timeout")
    with pytest.raises(BadReply):
        decode(TaskReport, {**REPORT, "stdout": None})


@given(
    st.one_of(st.none(), st.floats(0, 1e5)), st.lists(st.floats(0, 100), min_size=1, max_size=20)
)
def test_parts_of_a_wait_never_last_for_longer_than_the_wait(
    timeout: float | None, steps: list[float]
) -> None:
    start = now = 1000.0
    parts = Parts(timeout, start)
    for step in steps:
        length = parts.next(now)
        assert 0 <= length <= LONGEST_S
        assert timeout is None or now + length <= max(now, start + timeout) + 1e-6
        assert parts.over(now) == (timeout is not None and now >= start + timeout)
        now += step
