"""A submission that waits for its end: what is told, what is recorded, and what a wait holds."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
import trio

from brokerd.client import MAX_RESPONSE_BODY, ErrorCode, Refusal, Reply, RequestTimeout
from termnode.control.native.limits import FORWARDED_FIRST_WAIT_MS, FORWARDED_WAITS
from termnode.lanes.native_lane import KEPT_BYTES
from termnode.service.native import ends
from tests.support.native_desk import DeskRig, FakeRequest, in_desk_rig, until
from tests.support.native_gate import AMBIENT, target
from tests.support.native_shells import LOST, good

HERE = replace(AMBIENT, peer_pid=os.getpid())
RESULT = {"outcome": "completed", "exit": {"code": 0}, "output": {"text": "hello"}}
WAIT = 5_000
REST = WAIT - FORWARDED_FIRST_WAIT_MS


def over(text: str = "hello") -> Reply:
    result = {**RESULT, "output": {"text": text}}
    return good(operation_id="1000", state="finished", status="accepted", result=result)


async def begun(rig: DeskRig, principal: Any = HERE, **changed: Any) -> FakeRequest:  # noqa: ANN401
    """A submission that waits, with its turn behind it."""
    given = {"wait_ms": WAIT, "request_epoch": principal.connection_id, **changed}
    asked = rig.take("term.execute", principal, **given)
    await rig.all_turns()
    return asked


async def did(rig: DeskRig, principal: Any = HERE, **changed: Any) -> FakeRequest:  # noqa: ANN401
    asked = await begun(rig, principal, **changed)
    await until(lambda: asked.answers)
    return asked


async def waiting(rig: DeskRig, principal: Any = HERE) -> tuple[FakeRequest, trio.Event]:  # noqa: ANN401
    """A submission that was taken, and what lets the question for its end be answered."""
    goes_on = trio.Event()
    rig.shells.plan.extend(["", goes_on])
    asked = await begun(rig, principal)
    await until(lambda: len(rig.shells.asked) == 2)
    return asked, goes_on


Test = Callable[[DeskRig], Awaitable[None]]


def test_an_end_that_comes_with_the_acceptance_is_told_and_recorded() -> None:
    async def body(rig: DeskRig) -> None:
        rig.shells.plan.append(over())
        first = await did(rig)
        assert (first.body["result"], first.body["state"]) == (RESULT, "finished")
        assert (first.body["operation_id"], first.body["target"]) == ("1000", target())
        (asked,) = rig.shells.asked
        assert asked.body["wait_ms"] == FORWARDED_FIRST_WAIT_MS
        assert asked.timeout == 5.0 + FORWARDED_FIRST_WAIT_MS / 1000
        assert (await did(rig)).answers == first.answers
        assert len(rig.shells.asked) == 1
        assert rig.settled == ["term.execute ok"]

    in_desk_rig(body)


def test_without_a_wait_nothing_is_waited_for() -> None:
    async def body(rig: DeskRig) -> None:
        answer = await did(rig, wait_ms=None)
        assert answer.body["state"] == "running"
        (asked,) = rig.shells.asked
        assert "wait_ms" not in asked.body
        await did(rig, wait_ms=0, request_id="2")
        await did(rig, wait_ms=FORWARDED_FIRST_WAIT_MS, request_id="3")
        assert [each.command for each in rig.shells.asked] == ["shell.execute"] * 3
        wrong = await did(rig, wait_ms=45_001, request_id="4")
        assert wrong.said.startswith("INVALID_ARGUMENT")

    in_desk_rig(body)


def test_what_takes_longer_is_recorded_as_taken_before_it_is_waited_for() -> None:
    async def body(rig: DeskRig) -> None:
        first, goes_on = await waiting(rig)
        question = rig.shells.asked[1]
        assert (question.command, question.body["wait_ms"]) == ("shell.execute.result", REST)
        assert question.timeout == 5.0 + REST / 1000
        assert rig.settled == ["term.execute ok"]
        again = await did(rig)
        assert (again.body["operation_id"], again.body["state"]) == ("1000", "running")
        other = rig.take("term.pane.select", HERE, request_id="2", request_epoch=HERE.connection_id)
        await rig.all_turns()
        assert other.said == "ok"
        assert (len(rig.forwarding._line.calls), len(rig.forwarding._line.waits)) == (0, 1)
        assert not first.answers
        rig.shells.after.append(over())
        goes_on.set()
        await until(lambda: first.answers)
        assert first.body == {**again.body, "state": "finished", "result": RESULT}
        assert (await did(rig)).answers == again.answers
        assert len(rig.forwarding._line.waits) == 0
        assert rig.shells.runs == ["1"]

    in_desk_rig(body)


def test_of_a_large_result_the_acceptance_is_recorded() -> None:
    async def body(rig: DeskRig) -> None:
        rig.shells.plan.append(over("x" * KEPT_BYTES))
        first = await did(rig)
        assert len(first.body["result"]["output"]["text"]) == KEPT_BYTES
        again = await did(rig)
        kept = {key: value for key, value in first.body.items() if key != "result"}
        assert again.body == kept
        rig.shells.plan.append(over("x" * MAX_RESPONSE_BODY))
        too_large = await did(rig, request_id="2")
        assert (too_large.said, too_large.body["state"]) == ("ok", "finished")
        assert "result" not in too_large.body

    in_desk_rig(body)


def told_although_the_right_has_gone() -> None:
    async def at_once(rig: DeskRig) -> None:
        answered = trio.Event()
        rig.shells.plan.append(answered)
        rig.shells.after.append(over())
        asked = await begun(rig)
        await until(lambda: rig.shells.asked)
        rig.world.mine = None
        answered.set()
        await until(lambda: asked.answers)
        assert (asked.said, asked.body["state"]) == ("ok", "finished")
        assert "result" not in asked.body

    async def later(rig: DeskRig) -> None:
        asked, goes_on = await waiting(rig)
        rig.shells.after.append(over())
        rig.world.mine = None
        goes_on.set()
        await until(lambda: asked.answers)
        assert (asked.said, asked.body["state"]) == ("ok", "finished")
        assert "result" not in asked.body

    in_desk_rig(at_once)
    in_desk_rig(later)


def test_the_right_is_judged_again_before_a_result_is_told() -> None:
    told_although_the_right_has_gone()


def test_it_would_be_told_without_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ends.Ends, "allowed", lambda _self, _go, reply: (reply, None))
    with pytest.raises(ExceptionGroup):
        told_although_the_right_has_gone()


@pytest.mark.parametrize(
    "lost", [RequestTimeout(5), Refusal(ErrorCode.UNAVAILABLE, "gone", reason="peer_gone")]
)
def test_a_shell_that_is_lost_in_the_wait_leaves_the_acceptance(lost: object) -> None:
    async def body(rig: DeskRig) -> None:
        asked, goes_on = await waiting(rig)
        rig.shells.after.append(lost)
        goes_on.set()
        await until(lambda: asked.answers)
        assert (asked.said, asked.body["state"]) == ("ok", "running")
        assert len(rig.forwarding._line.waits) == 0

    in_desk_rig(body)


def test_without_a_place_the_acceptance_is_told_at_once() -> None:
    async def body(rig: DeskRig) -> None:
        for number in range(FORWARDED_WAITS):
            rig.forwarding._line.waits.take(number)
        asked = await did(rig)
        assert asked.body["state"] == "running"
        assert len(rig.shells.asked) == 1

    in_desk_rig(body)


def test_a_wait_ends_with_the_process_that_asked() -> None:
    async def body(rig: DeskRig) -> None:
        await waiting(rig, replace(HERE, peer_pid=caller.pid))
        assert len(rig.forwarding._line.waits) == 1
        caller.kill()
        await until(lambda: not len(rig.forwarding._line.waits))

    with subprocess.Popen(["sleep", "600"]) as caller:
        try:
            in_desk_rig(body)
        finally:
            caller.kill()


def test_after_a_lost_answer_the_same_again_is_told_the_end_of_the_one_that_ran() -> None:
    async def body(rig: DeskRig) -> None:
        rig.shells.plan.append(LOST)
        lost = await did(rig)
        assert lost.said == "UNKNOWN_OUTCOME no_answer"
        rig.shells.plan.append(over())
        found = await did(rig)
        assert (found.body["operation_id"], found.body["result"]) == ("1000", RESULT)
        one, two = rig.shells.asked
        assert (one.body, rig.shells.runs) == (two.body, ["1"])

    in_desk_rig(body)
