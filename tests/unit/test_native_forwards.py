"""What is for a pane's shell: what is sent to it, what its answers come to, what is remembered."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
import trio

from brokerd.client import (
    MAX_RESPONSE_BODY,
    BrokerLost,
    ErrorCode,
    MessageTooLarge,
    NotConnected,
    Overloaded,
    Principal,
    Refusal,
    Reply,
    RequestTimeout,
    forbidden,
    limit_reached,
)
from termnode.control.native import forwards as forwards_module
from termnode.control.native.actors import Actor
from termnode.control.native.callers import actor_of
from termnode.control.native.exec_table import EXECUTE, TASK
from termnode.control.native.forwards import (
    CHILD_KEPT_S,
    FORWARDED_S,
    OPERATIONS,
    Forward,
    Forwards,
)
from termnode.control.native.ledger import RETENTION_S
from termnode.control.native.limits import FORWARDED_CALLS, FORWARDED_IDS, FORWARDED_WAITS
from termnode.control.native.reservation import Reservation
from termnode.control.native.targets import Target
from termnode.control.native.world import PaneFacts
from termnode.control.posture import Posture
from termnode.lanes.calls import Sealed
from termnode.paneshell.operations import KEPT_MS
from termnode.service.identity.words import BoundShell
from termnode.service.native import relaying
from termnode.service.native.line import Line
from tests.support.native_desk import DeskRig, FakeRequest, in_desk_rig, until
from tests.support.native_gate import AMBIENT, NOW, child, target, term
from tests.support.native_shells import LOST, NEVER, good

HERE = replace(AMBIENT, peer_pid=os.getpid())
OTHER = replace(HERE, connection_id="7" * 32)
A: Actor = ("ambient", 1000, "e" * 32, "c" * 32)
B: Actor = ("ambient", 1000, "e" * 32, "d" * 32)
PANE = Target("1" * 32, "2" * 32, 1, 1)
NEXT = Target("1" * 32, "2" * 32, 1, 2)


def there(_target: Target) -> bool:
    return True


async def did(rig: DeskRig, verb: str, principal: Any = HERE, **changed: Any) -> FakeRequest:  # noqa: ANN401
    """Ask, let it have its turn, and wait for the answer."""
    if verb in {"term.execute", "term.task.submit"}:
        changed.setdefault("request_epoch", principal.connection_id)
    asked = rig.take(verb, principal, **changed)
    await rig.all_turns()
    await until(lambda: asked.answers)
    return asked


def forwarding(test: Callable[[DeskRig], Awaitable[None]]) -> None:
    in_desk_rig(test)


# -- what is sent --------------------------------------------------------------------------------


def test_a_command_goes_to_the_shell_of_the_very_target() -> None:
    async def body(rig: DeskRig) -> None:
        answer = await did(rig, "term.execute", source="ls", prompt_generation="4")
        assert answer.body == {
            "version": 1,
            "operation_id": "1000",
            "operation_id_request": "1",
            "state": "running",
            "status": "accepted",
            "target": target(),
        }
        (asked,) = rig.shells.asked
        record = rig.shells.bound[1].record
        assert (asked.to, asked.command, asked.timeout) == (record.name, "shell.execute", 5.0)
        assert asked.body == {
            "version": 1,
            "target": {
                "broker_epoch": record.broker_epoch,
                "record": record.ref.to_json(),
                "instance_id": record.instance_id,
                "pane_id": "1",
                "pane_generation": "1",
            },
            "request_id": "1",
            "prompt_generation": "4",
            "source": "ls",
            "on_behalf_of": f"uid 1000 pid {os.getpid()}",
        }
        assert rig.settled == ["term.execute ok"]

    forwarding(body)


def test_a_task_goes_as_it_was_sent_and_without_a_name() -> None:
    async def body(rig: DeskRig) -> None:
        env = [["A", "1"], ["A", "2"]]
        await did(rig, "term.task.submit", source="x", env=env)
        await did(rig, "term.task.submit", request_id="2", argv=None)
        both, neither = (asked.body for asked in rig.shells.asked)
        assert both.keys() == {
            "version", "target", "request_id", "source", "argv", "cwd", "env", "timeout_ms",
        }  # fmt: skip
        assert both["env"] == env
        assert neither.keys() == {"version", "target", "request_id", "cwd", "timeout_ms"}

    forwarding(body)


@pytest.mark.parametrize(
    ("principal", "name"),
    [
        (HERE, f"uid 1000 pid {os.getpid()}"),
        (child(), "PaneShell bbbbbbbb"),
        (term(), "Term aaaaaaaa"),
    ],
)
def test_who_asks_is_of_the_stamp(principal: Any, name: str) -> None:  # noqa: ANN401
    assert relaying.originator(principal) == name
    assert len(name) <= 96


def test_a_name_in_the_body_is_no_field() -> None:
    async def body(rig: DeskRig) -> None:
        answer = await did(rig, "term.execute", on_behalf_of="root")
        assert answer.said == "INVALID_ARGUMENT unknown_field"
        assert rig.shells.asked == []

    forwarding(body)


@pytest.mark.parametrize("changed", [{"request_epoch": None}, {"request_id": None}])
def test_id_and_epoch_are_always_needed(changed: dict[str, Any]) -> None:
    async def body(rig: DeskRig) -> None:
        asked = rig.take("term.execute", HERE, **changed)
        assert asked.said.startswith("INVALID_ARGUMENT")

    forwarding(body)


def test_another_shell_than_the_one_named_is_not_asked() -> None:
    async def body(rig: DeskRig) -> None:
        rig.shells.bind(1, 2)
        assert (await did(rig, "term.execute")).said == "FORBIDDEN"
        del rig.shells.bound[1]
        assert (await did(rig, "term.execute")).said == "FORBIDDEN"
        rig.world.facts[1] = PaneFacts(1, ready=False, tab=1)
        assert (await did(rig, "term.execute")).said == "FORBIDDEN"
        assert (rig.shells.asked, rig.ledger.statistics()["running"]) == ([], 0)
        assert rig.ledger.high_water(A) == 0

    forwarding(body)


# -- ids -----------------------------------------------------------------------------------------


def test_the_id_is_spent_before_anything_is_sent_and_nobody_waits_for_the_answer() -> None:
    async def body(rig: DeskRig) -> None:
        answered = trio.Event()
        rig.shells.plan.append(answered)
        first = rig.take("term.execute", HERE)
        await rig.turn()
        assert rig.ledger.high_water(A) == 1
        assert rig.shells.asked == []
        change = await did(rig, "term.pane.select", request_id="2")
        assert change.said == "ok"
        again = rig.take("term.execute", HERE)
        assert again.body == {"status": "pending", "operation_id_request": "1"}
        answered.set()
        await until(lambda: first.answers)
        assert first.body["operation_id"] == "1000"

    forwarding(body)


def test_the_same_again_gets_the_recorded_reply_and_asks_nobody() -> None:
    async def body(rig: DeskRig) -> None:
        first = await did(rig, "term.execute")
        again = await did(rig, "term.execute")
        assert first.answers == again.answers
        assert len(rig.shells.asked) == 1
        kept = rig.take("term.operation", HERE)
        assert kept.answers == first.answers

    forwarding(body)


@pytest.mark.parametrize("what", [LOST, NEVER])
def test_a_lost_answer_is_unknown_and_the_same_again_runs_once_at_most(what: str) -> None:
    async def body(rig: DeskRig) -> None:
        rig.shells.plan.append(what)
        lost = await did(rig, "term.execute")
        assert lost.said == "UNKNOWN_OUTCOME no_answer"
        later = await did(rig, "term.execute", request_id="5", source="other")
        found = await did(rig, "term.execute")
        if what == LOST:
            assert found.body["operation_id"] == "1000"
        else:  # a later one has arrived before it: it never will
            assert found.said == "UNKNOWN_OUTCOME not_remembered"
        sent = [asked.body["request_id"] for asked in rig.shells.asked]
        assert sent == ["1", "2", "1"]
        assert rig.shells.asked[0].body == rig.shells.asked[2].body
        assert rig.shells.runs == (["1", "2"] if what == LOST else ["2"])
        assert (await did(rig, "term.execute")).answers == found.answers
        assert later.said == "ok"
        assert rig.ledger.high_water(A) == 5

    forwarding(body)


def test_another_body_under_the_id_is_a_conflict_also_while_nothing_is_recorded() -> None:
    async def body(rig: DeskRig) -> None:
        rig.shells.plan.append(NEVER)
        await did(rig, "term.execute")
        assert (await did(rig, "term.execute", source="x")).said == "CONFLICT request_mismatch"
        assert (await did(rig, "term.task.submit")).said == "CONFLICT request_mismatch"
        assert len(rig.shells.asked) == 1

    forwarding(body)


def test_two_callers_have_ids_of_their_own() -> None:
    async def body(rig: DeskRig) -> None:
        mine = await did(rig, "term.execute")
        theirs = await did(rig, "term.execute", OTHER, source="other")
        assert mine.body["operation_id"] != theirs.body["operation_id"]
        assert rig.shells.runs == ["1", "2"]

    forwarding(body)


def test_what_lapsed_is_retired_and_never_sent_again() -> None:
    async def body(rig: DeskRig) -> None:
        rig.shells.plan.append(LOST)
        await did(rig, "term.execute")
        rig.now += FORWARDED_S - 1
        assert (await did(rig, "term.execute")).said == "ok"
        rig.now += FORWARDED_S + RETENTION_S
        rig.forwards.ended(next(iter(rig.forwards._by_request.values())), rig.now)
        rig.now += FORWARDED_S
        assert (await did(rig, "term.execute")).said == "UNKNOWN_OUTCOME retired_request_id"
        assert rig.shells.runs == ["1"]

    forwarding(body)


# -- what is recorded ----------------------------------------------------------------------------

BUSY = Refusal(ErrorCode.BUSY, "a person types", reason="person")


@pytest.mark.parametrize(
    ("answer", "said", "recorded"),
    [
        (BUSY, "BUSY person", True),
        (Refusal(ErrorCode.STALE_GENERATION, "moved on"), "STALE_GENERATION", True),
        (Refusal(ErrorCode.UNSUPPORTED, "no", reason="no_integration"),
         "UNSUPPORTED no_integration", True),
        (forbidden(), "FORBIDDEN", True),
        (limit_reached("tasks", 4, "four run"), "RESOURCE_LIMIT tasks", False),
        (Refusal(ErrorCode.UNAVAILABLE, "no room", reason="spawn_failed"),
         "UNAVAILABLE spawn_failed", False),
        (Refusal(ErrorCode.UNAVAILABLE, "none", reason="not_registered"),
         "UNAVAILABLE not_registered", False),
        (Refusal(ErrorCode.UNAVAILABLE, "gone", reason="peer_gone"),
         "UNKNOWN_OUTCOME no_answer", False),
        (Refusal(ErrorCode.UNAVAILABLE, "failed", reason="handler_failed"),
         "UNKNOWN_OUTCOME no_answer", False),
        (Refusal(ErrorCode.UNKNOWN_OUTCOME, "perhaps", reason="admission_claimed_without_report"),
         "UNKNOWN_OUTCOME admission_claimed_without_report", False),
        (Refusal(ErrorCode.CONFLICT, "another", reason="request_mismatch"),
         "UNKNOWN_OUTCOME not_remembered", False),
        (Refusal(ErrorCode.UNKNOWN_OUTCOME, "old", reason="retired_request_id",
                 request_high_water="77"), "UNKNOWN_OUTCOME not_remembered", False),
        (RequestTimeout(5), "UNKNOWN_OUTCOME no_answer", False),
        (BrokerLost("e" * 32), "UNKNOWN_OUTCOME no_answer", False),
        (NotConnected(), "UNAVAILABLE not_forwarded", False),
        (Overloaded("pending", 256), "RESOURCE_LIMIT forwarding", False),
        (MessageTooLarge(9, 8), "INVALID_ARGUMENT", True),
        (good(state="running"), "UNKNOWN_OUTCOME malformed_answer", False),
        (good(operation_id="01"), "UNKNOWN_OUTCOME malformed_answer", False),
        (Reply(0, b"[]"), "UNKNOWN_OUTCOME malformed_answer", False),
        (Reply(10, b"{}"), "UNKNOWN_OUTCOME no_answer", False),
        (good(operation_id="9", more="x" * MAX_RESPONSE_BODY),
         "UNKNOWN_OUTCOME response_too_large", False),
    ],
)  # fmt: skip
def test_what_a_submission_comes_to(answer: object, said: str, recorded: bool) -> None:
    async def body(rig: DeskRig) -> None:
        rig.shells.plan.append(answer)
        first = await did(rig, "term.execute")
        assert first.said == said or (first.said.startswith(said) and said == "INVALID_ARGUMENT")
        if said == "FORBIDDEN":
            assert first.body == forbidden().body()
        assert "request_high_water" not in first.body["details"]
        again = await did(rig, "term.execute")
        if recorded:
            assert (again.answers, len(rig.shells.asked)) == (first.answers, 1)
            assert len(rig.forwards) == 0
        else:
            assert (again.said, len(rig.shells.asked)) == ("ok", 2)
            one, two = rig.shells.asked
            assert one.body == two.body
        rig.forwards.verify()
        rig.ledger.verify()

    forwarding(body)


ANEW = Refusal(ErrorCode.STALE_GENERATION, "another attachment", field="target")


def test_a_shell_that_was_attached_anew_was_asked_nothing_and_may_be_asked_again() -> None:
    async def body(rig: DeskRig) -> None:
        rig.shells.plan.append(ANEW)
        first = await did(rig, "term.execute")
        assert first.said == "UNAVAILABLE attached_anew"
        taken = await did(rig, "term.execute")
        assert (taken.said, rig.shells.runs) == ("ok", ["1"])
        number = taken.body["operation_id"]
        rig.shells.plan.append(ANEW)
        look = await did(rig, "term.exec.result", operation_id=number)
        assert look.said == "DISCONNECTED attached_anew"
        assert (await did(rig, "term.exec.result", operation_id=number)).said == "ok"

    forwarding(body)


def test_a_repeat_that_finds_it_attached_anew_is_not_said_to_have_run_nothing() -> None:
    async def body(rig: DeskRig) -> None:
        rig.shells.plan.extend([LOST, ANEW])
        assert (await did(rig, "term.execute")).said == "UNKNOWN_OUTCOME no_answer"
        assert (await did(rig, "term.execute")).said == "UNKNOWN_OUTCOME attached_anew"
        assert (await did(rig, "term.execute")).said == "ok"
        assert rig.shells.runs == ["1"]

    forwarding(body)


# -- between the decision and the sending --------------------------------------------------------

Change = Callable[[DeskRig], object]

CHANGES: dict[str, tuple[Change, str]] = {
    "the pane is closed": (lambda rig: rig.world.facts.pop(1), "FORBIDDEN"),
    "its program is another one": (
        lambda rig: rig.world.facts.update({1: PaneFacts(2, ready=True, tab=1)}),
        "FORBIDDEN",
    ),
    "its shell has gone": (lambda rig: rig.shells.bound.pop(1), "FORBIDDEN"),
    "its shell was enrolled anew": (lambda rig: rig.shells.bind(1, 2), "FORBIDDEN"),
    "the connection is lost": (lambda rig: setattr(rig.world, "up", False), "DISCONNECTED"),
    "the own record is gone": (lambda rig: setattr(rig.world, "mine", None), "FORBIDDEN"),
    "the caller's lease is in doubt": (lambda rig: rig.leases.clear(), "FORBIDDEN"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_does_not_hold_in_the_step_of_the_sending_is_not_sent(what: str) -> None:
    async def body(rig: DeskRig) -> None:
        change, gate_says = CHANGES[what]
        rig.world.stance = Posture.STRICT
        mine = child(1, 1)
        asked = rig.take("term.execute", mine, request_epoch=mine.connection_id)
        await until(lambda: rig.queued)
        await rig.all_turns()
        change(rig)
        await until(lambda: asked.answers)
        assert asked.said == "UNAVAILABLE not_forwarded"
        assert rig.shells.asked == []
        rig.broker.remaining = None
        again = rig.take("term.execute", mine, request_epoch=mine.connection_id)
        await rig.all_turns()
        await until(lambda: again.answers)
        assert again.said == gate_says
        assert rig.shells.asked == []
        rig.ledger.verify()
        rig.forwards.verify()

    forwarding(body)


def test_the_same_for_a_question_which_may_be_a_cancellation() -> None:
    async def body(rig: DeskRig) -> None:
        number = (await did(rig, "term.execute")).body["operation_id"]
        sent = len(rig.shells.asked)
        asked = rig.take("term.exec.cancel", HERE, operation_id=number)
        rig.world.facts[1] = PaneFacts(2, ready=True, tab=1)
        await until(lambda: asked.answers)
        assert asked.said == "FORBIDDEN"
        assert len(rig.shells.asked) == sent

    forwarding(body)


def test_a_shell_of_a_newer_attachment_is_the_one_that_is_asked() -> None:
    async def body(rig: DeskRig) -> None:
        asked = rig.take("term.execute", HERE, request_epoch=HERE.connection_id)
        await rig.all_turns()
        before = rig.shells.bound[1].record
        after = replace(before, binding_generation=before.binding_generation + 1)
        rig.shells.bound[1] = BoundShell(after, after.ref)
        await until(lambda: asked.answers)
        (sent,) = rig.shells.asked
        assert sent.body["target"]["record"] == after.ref.to_json()

    forwarding(body)


def test_it_would_be_sent_without_the_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guard that the tests above are about, taken out."""
    monkeypatch.setattr(Line, "still", Line.shell)
    with pytest.raises(ExceptionGroup):
        test_what_does_not_hold_in_the_step_of_the_sending_is_not_sent("the pane is closed")


def test_who_submitted_a_command_is_told_to_whoever_tells_its_output() -> None:
    async def body(rig: DeskRig) -> None:
        await did(rig, "term.execute")
        await did(rig, "term.task.submit", request_id="2")
        rig.shells.state = "finished"
        rig.shells.plan.append(LOST)
        await did(rig, "term.execute", request_id="3", source="lost")
        await did(rig, "term.execute", request_id="3", source="lost")
        assert rig.accepted == [(1, 1000)]
        await did(rig, "term.execute", request_id="4", source="short")
        assert rig.accepted == [(1, 1000), (1, 1003)]

    forwarding(body)


def test_a_repeat_while_the_shell_decides_may_meet_itself() -> None:
    async def body(rig: DeskRig) -> None:
        admission = Refusal(ErrorCode.BUSY, "it decides", reason="admission")
        rig.shells.plan.extend([NEVER, admission])
        await did(rig, "term.execute")
        assert (await did(rig, "term.execute")).said == "UNKNOWN_OUTCOME admission"
        assert (await did(rig, "term.execute")).said == "ok"
        rig.shells.plan.append(admission)
        assert (await did(rig, "term.execute", request_id="2")).said == "BUSY admission"

    forwarding(body)


def test_an_operation_that_may_run_can_be_read() -> None:
    async def body(rig: DeskRig) -> None:
        rig.shells.plan.append(
            Refusal(
                ErrorCode.UNKNOWN_OUTCOME,
                "perhaps",
                reason="admission_claimed_without_report",
                operation_id="77",
            )
        )
        await did(rig, "term.execute")
        assert (await did(rig, "term.exec.result", operation_id="77")).said == "ok"

    forwarding(body)


# -- questions -----------------------------------------------------------------------------------


def test_results_are_the_callers_and_the_familys_own() -> None:
    async def body(rig: DeskRig) -> None:
        command = (await did(rig, "term.execute")).body["operation_id"]
        task = (await did(rig, "term.task.submit", request_id="2")).body["operation_id"]
        nobody = await did(rig, "term.exec.result", operation_id="5")
        assert nobody.said == "UNKNOWN_OUTCOME unknown_operation"
        for verb, number in [("term.exec", task), ("term.task", command)]:
            for what in ("result", "cancel"):
                foreign = await did(rig, f"{verb}.{what}", operation_id=number)
                assert foreign.answers == nobody.answers
        theirs = await did(rig, "term.exec.result", OTHER, operation_id=command)
        assert theirs.said == nobody.said
        elsewhere = await did(rig, "term.exec.result", operation_id=command, target=target(2))
        assert elsewhere.answers == nobody.answers
        assert len(rig.shells.asked) == 2
        found = await did(rig, "term.exec.result", operation_id=command, wait_ms=None)
        assert found.body == {
            "version": 1, "operation_id": command, "state": "running", "target": target(),
        }  # fmt: skip
        asked = rig.shells.asked[-1]
        assert asked.command == "shell.execute.result"
        assert asked.body.keys() == {"version", "target", "operation_id"}
        await did(rig, "term.task.cancel", operation_id=task)
        assert rig.shells.asked[-1].command == "shell.task.cancel"

    forwarding(body)


def test_a_wait_is_passed_on_and_given_its_time() -> None:
    async def body(rig: DeskRig) -> None:
        number = (await did(rig, "term.execute")).body["operation_id"]
        await did(rig, "term.exec.result", operation_id=number, wait_ms=45_000)
        assert rig.shells.asked[-1].body["wait_ms"] == 45_000
        assert rig.shells.asked[-1].timeout == 50.0
        over = await did(rig, "term.exec.result", operation_id=number, wait_ms=45_001)
        assert over.said.startswith("INVALID_ARGUMENT")
        none = await did(rig, "term.exec.result", operation_id=None)
        assert none.said.startswith("INVALID_ARGUMENT")

    forwarding(body)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (RequestTimeout(5), "DISCONNECTED no_answer"),
        (NotConnected(), "DISCONNECTED no_answer"),
        (Refusal(ErrorCode.UNAVAILABLE, "gone", reason="peer_gone"), "DISCONNECTED no_answer"),
        (Reply(10, b""), "DISCONNECTED no_answer"),
        (Reply(0, b"[]"), "DISCONNECTED no_answer"),
        (Refusal(ErrorCode.UNKNOWN_OUTCOME, "none", field="operation_id"),
         "UNKNOWN_OUTCOME operation_id"),
        (good(more="x" * MAX_RESPONSE_BODY), "RESOURCE_LIMIT response_bytes"),
    ],
)  # fmt: skip
def test_what_a_question_comes_to(answer: object, said: str) -> None:
    async def body(rig: DeskRig) -> None:
        number = (await did(rig, "term.execute")).body["operation_id"]
        rig.shells.plan.append(answer)
        found = await did(rig, "term.exec.result", operation_id=number)
        assert found.said == said or found.body["error_code"] == said.split(maxsplit=1)[0]
        assert (await did(rig, "term.exec.result", operation_id=number)).said == "ok"

    forwarding(body)


def test_what_was_waited_for_is_told_only_to_who_may_know_it_then() -> None:
    async def body(rig: DeskRig) -> None:
        number = (await did(rig, "term.execute")).body["operation_id"]
        answered = trio.Event()
        rig.shells.plan.append(answered)
        asked = rig.take("term.exec.result", HERE, operation_id=number)
        await until(lambda: len(rig.shells.asked) == 2)
        rig.world.facts[1] = PaneFacts(2, ready=True, tab=1)
        answered.set()
        await until(lambda: asked.answers)
        assert asked.said == "FORBIDDEN"

    forwarding(body)


def test_the_result_of_a_command_that_ended_the_shell_is_still_told() -> None:
    async def body(rig: DeskRig) -> None:
        number = (await did(rig, "term.execute")).body["operation_id"]
        answered = trio.Event()
        rig.shells.plan.append(answered)
        asked = rig.take("term.exec.result", HERE, operation_id=number)
        await until(lambda: len(rig.shells.asked) == 2)
        rig.world.facts[1] = PaneFacts(1, ready=False, tab=1, ended=True)
        answered.set()
        await until(lambda: asked.answers)
        assert asked.said == "ok"

    forwarding(body)


@pytest.mark.parametrize("waiting", [True, False])
def test_the_term_tells_it_when_the_shell_went_before_it_could(waiting: bool) -> None:
    async def body(rig: DeskRig) -> None:
        number = (await did(rig, "term.execute")).body["operation_id"]
        answered = trio.Event()
        asked = None
        if waiting:
            asked = rig.take("term.exec.result", HERE, operation_id=number)
            rig.shells.plan.append(answered)
            await until(lambda: len(rig.shells.asked) == 2)
            rig.shells.after.append(Refusal(ErrorCode.UNAVAILABLE, "gone", reason="peer_gone"))
        rig.world.facts[1] = PaneFacts(1, ready=False, tab=1, ended=True)
        rig.ended[1] = relaying.Ended({"code": 3}, NOW + 2)
        del rig.shells.bound[1]
        answered.set()
        found = asked or rig.take("term.exec.result", HERE, operation_id=number)
        await until(lambda: found.answers)
        result: Any = found.body["result"]
        assert (result["outcome"], result["duration_ms"]) == ("completed", 2_000)
        assert result["exit"] == {"shell_exited": True, "code": 3}
        cancelled = await did(rig, "term.exec.cancel", operation_id=number)
        assert cancelled.said == "FORBIDDEN"

    forwarding(body)


def test_a_strict_callers_lease_is_checked_for_a_submission() -> None:
    async def body(rig: DeskRig) -> None:
        rig.world.stance = Posture.STRICT
        shell = replace(child(), peer_pid=os.getpid())
        asked = rig.take("term.execute", shell, request_epoch=shell.connection_id)
        await until(lambda: rig.queued)
        await rig.all_turns()
        await until(lambda: asked.answers)
        assert asked.said == "ok"
        assert rig.shells.asked[0].body["on_behalf_of"] == "PaneShell bbbbbbbb"

    forwarding(body)


# -- bounds --------------------------------------------------------------------------------------


def process(pid: int) -> Principal:
    """A caller of another process."""
    return replace(HERE, peer_pid=pid, connection_id=f"{pid:032x}")


def test_so_many_are_under_way_and_one_caller_has_half_of_them() -> None:
    async def body(rig: DeskRig) -> None:
        held = trio.Event()
        rig.shells.plan.extend([held] * (FORWARDED_CALLS + FORWARDED_WAITS))
        half = FORWARDED_CALLS // 2
        one, two, three = HERE, process(os.getppid()), process(1)
        asked = []
        for who, count in ((one, half + 1), (two, half)):
            for each in range(count):
                epoch = who.connection_id
                asked.append(
                    rig.take("term.execute", who, request_id=str(1 + each), request_epoch=epoch)
                )
                await rig.all_turns()
        refused = asked.pop(half)
        assert refused.said == "RESOURCE_LIMIT forwarded_calls_share"
        assert refused.body["details"]["limit"] == half
        full = rig.take("term.execute", three, request_epoch=three.connection_id)
        await rig.all_turns()
        assert full.said == "RESOURCE_LIMIT forwarded_calls"
        assert rig.ledger.high_water(actor_of(one)) == half, "the refused one spent nothing"
        assert rig.ledger.high_water(actor_of(three)) == 0
        held.set()
        await until(lambda: all(each.answers for each in asked))
        assert (await did(rig, "term.execute", request_id="900")).said == "ok"

    forwarding(body)


def test_so_many_wait_and_one_caller_has_half_of_them() -> None:
    async def body(rig: DeskRig) -> None:
        one, two, three = HERE, process(os.getppid()), process(1)
        numbers = [(await did(rig, "term.execute", who)).body["operation_id"] for who in (one, two)]
        third = (await did(rig, "term.execute", three)).body["operation_id"]
        held = trio.Event()
        rig.shells.plan.extend([held] * FORWARDED_WAITS)

        def wait(who: Principal, number: str) -> FakeRequest:
            return rig.take("term.exec.result", who, operation_id=number, wait_ms=1)

        asked = [wait(one, numbers[0]) for _ in range(FORWARDED_WAITS // 2 + 1)]
        assert asked[-1].said == "RESOURCE_LIMIT forwarded_waits_share"
        asked += [wait(two, numbers[1]) for _ in range(FORWARDED_WAITS // 2)]
        assert wait(three, third).said == "RESOURCE_LIMIT forwarded_waits"
        held.set()
        await until(lambda: all(each.answers for each in asked))

    forwarding(body)


def test_a_full_table_refuses_what_is_new_and_spends_nothing() -> None:
    async def body(rig: DeskRig) -> None:
        rig.forwards.most = 2
        rig.shells.plan.extend([LOST, LOST])
        await did(rig, "term.execute")
        await did(rig, "term.execute", request_id="2")
        full = await did(rig, "term.execute", request_id="3")
        assert full.said == "RESOURCE_LIMIT forwarded_ids"
        assert (rig.ledger.high_water(A), rig.shells.runs) == (2, ["1", "2"])
        assert (await did(rig, "term.execute")).said == "ok"
        rig.now += FORWARDED_S
        rig.forwards.ended(rig.forwards._by_request[A, 1], rig.now)
        assert (await did(rig, "term.execute", request_id="3")).said == "ok"

    forwarding(body)


def test_an_id_is_remembered_for_longer_than_its_shell_remembers_it() -> None:
    assert CHILD_KEPT_S == KEPT_MS / 1000 == 900
    assert FORWARDED_S > CHILD_KEPT_S
    assert FORWARDED_S == 960
    assert (FORWARDED_IDS, OPERATIONS) == (4_096, 256 + FORWARDED_CALLS)


# -- the table -----------------------------------------------------------------------------------


def put(
    table: Forwards,
    number: int,
    *,
    actor: Actor = A,
    place: Target = PANE,
    family: str = EXECUTE,
    now: float = 0.0,
    within: float | None = None,
) -> Forward:
    """One that was taken, as operation 100 + ``number``."""
    table.check_room(now, there)
    made = table.add((actor, number), b"x", place, family, now)
    table.sending(made, now)
    table.accepted(made, 100 + number, now, within)
    table.verify()
    return made


def test_a_command_that_runs_is_remembered_for_as_long() -> None:
    table = Forwards()
    first = put(table, 1)
    assert table.owned(A, PANE, 101, EXECUTE, 1e9) is first
    put(table, 2, now=50.0)
    assert table.owned(A, PANE, 101, EXECUTE, 50 + FORWARDED_S - 1) is first
    assert table.owned(A, PANE, 101, EXECUTE, 50 + FORWARDED_S) is None
    assert table.find((A, 1), b"x", 50 + FORWARDED_S) is None
    assert table.find((A, 2), b"x", 1e9) is not None


def test_answers_that_change_places_end_the_earlier_command() -> None:
    table = Forwards()
    first, second = (table.add((A, n), b"x", PANE, EXECUTE, 0) for n in (1, 2))
    for each in (first, second):
        table.sending(each, 0)
    table.accepted(second, 2, 5.0)
    table.accepted(first, 1, 5.0)
    assert (first.ends, second.ends) == (5.0, float("inf"))


def test_a_task_has_its_time() -> None:
    table = Forwards()
    task = put(table, 1, family=TASK, within=10.0)
    put(table, 2, family=TASK, within=10.0)
    assert table.owned(A, PANE, 101, TASK, 10 + FORWARDED_S - 1) is task
    assert table.owned(A, PANE, 101, TASK, 10 + FORWARDED_S) is None


def test_shells_that_are_gone_make_room() -> None:
    table = Forwards(most=2)
    put(table, 1)
    put(table, 2, place=NEXT)
    with pytest.raises(Refusal, match="RESOURCE_LIMIT"):
        table.check_room(1.0, there)
    table.check_room(1.0, lambda place: place != PANE)
    assert table.find((A, 1), b"x", 1.0) is None
    assert table.find((A, 2), b"x", 1.0) is not None
    table.verify()


def test_of_one_shell_no_more_are_remembered_than_it_remembers() -> None:
    table = Forwards()
    for number in range(1, OPERATIONS + 11):
        put(table, number)
    assert len(table) == OPERATIONS
    assert table.owned(A, PANE, 100 + 10, EXECUTE, 0.0) is None
    assert table.owned(A, PANE, 100 + 11, EXECUTE, 0.0) is not None


def test_what_may_still_run_is_never_given_up_for_others() -> None:
    table = Forwards()
    task = put(table, 1, family=TASK, within=600.0)
    for number in range(2, OPERATIONS + 11):
        put(table, number)
    assert table.owned(A, PANE, 101, TASK, 0.0) is task
    assert table.find((A, 1), b"x", 0.0) is task
    table.ended(task, 1.0)
    assert table.owned(A, PANE, 101, TASK, 1 + FORWARDED_S) is None


def test_a_shell_cannot_give_one_callers_operation_to_another() -> None:
    table = Forwards()
    mine = put(table, 1)
    theirs = table.add((B, 1), b"x", NEXT, EXECUTE, 0)
    table.accepted(theirs, 101, 0.0)
    assert table.owned(A, PANE, 101, EXECUTE, 0.0) is mine
    assert table.owned(B, PANE, 101, EXECUTE, 0.0) is None


# -- the tests can fail --------------------------------------------------------------------------


def test_without_the_table_a_lost_answer_could_not_be_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Forwards, "find", lambda *_: None)
    with pytest.raises(AssertionError):
        in_process(LOST)


def test_with_an_id_per_sending_it_would_run_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    def fresh(table: Forwards, forward: Any, _now: float) -> int:  # noqa: ANN401
        table._last_number += 1
        forward.number = table._last_number
        return table._last_number

    monkeypatch.setattr(forwards_module.Forwards, "sending", fresh)
    with pytest.raises(AssertionError):
        in_process(LOST)


def test_with_unknown_answers_kept_nobody_would_ever_know(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = Sealed(10, b'{"error_code":"UNKNOWN_OUTCOME","details":{}}', "UNKNOWN_OUTCOME")
    monkeypatch.setattr(Reservation, "drop", lambda self: self.record(kept, NOW))
    with pytest.raises(AssertionError):
        in_process(LOST)


def in_process(what: str) -> None:
    """The property itself; whatever fails in one of its tasks is a failure of it."""
    try:
        test_a_lost_answer_is_unknown_and_the_same_again_runs_once_at_most(what)
    except* (AssertionError, KeyError) as several:
        raise AssertionError from several
