"""The native lane's dispatcher: what waits, what does not, what is decided anew after a wait."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from typing import Any

import pytest
import trio
import trio.testing

from brokerd.client import ErrorCode, Refusal, forbidden
from termnode.control.native.decisions import Go
from termnode.control.native.limits import LEASE_FRESH_MS
from termnode.control.native.request import Ask
from termnode.control.native.world import PaneFacts
from termnode.control.posture import Posture
from termnode.service.native import desk as desk_module
from termnode.service.native import turns as turns_module
from termnode.service.native.jobs import ROUNDS
from termnode.service.native.performing import Done, Unfinished
from termnode.service.state import State
from tests.support.native_desk import DeskRig, FakeRequest, in_desk_rig, until
from tests.support.native_gate import AMBIENT, MINE, child, target

SELECT = "term.pane.select"
OTHER = replace(AMBIENT, connection_id="7" * 32, peer_pid=os.getpid())
HERE = replace(AMBIENT, peer_pid=os.getpid())
"""A caller whose process lives, so that its waits do."""


def strict(rig: DeskRig) -> None:
    rig.world.stance = Posture.STRICT


def shell() -> Any:  # noqa: ANN401
    return replace(child(1, 1), peer_pid=os.getpid())


def of(principal: Any) -> dict[str, str]:  # noqa: ANN401
    return {"request_epoch": principal.connection_id}


# -- turns ---------------------------------------------------------------------------------------


def test_a_read_is_answered_at_once_and_a_mutation_at_its_turn() -> None:
    async def body(rig: DeskRig) -> None:
        change = rig.take(SELECT)
        read = rig.take("term.snapshot")
        assert (change.said, read.said, rig.performed) == ("", "ok", [])
        await rig.turn()
        assert change.said == "ok"
        assert change.body == {"done": True, "operation_id": "1"}
        assert rig.settled == [f"{SELECT} ok"]

    in_desk_rig(body)


def test_the_same_bytes_again_get_the_recorded_reply_and_run_nothing() -> None:
    async def body(rig: DeskRig) -> None:
        first, second = rig.take(SELECT), rig.take(SELECT)
        await rig.all_turns()
        third = rig.take(SELECT)
        assert first.answers == second.answers == third.answers
        assert len(rig.performed) == 1
        assert [entry["replayed"] for entry in rig.entries()] == [False, True, True]

    in_desk_rig(body)


def test_a_repeat_of_what_still_runs_is_pending() -> None:
    ended = trio.Event()

    def slow(_state: State, _go: Go) -> Unfinished:
        async def rest() -> dict[str, object]:
            await ended.wait()
            return {"pane_id": "4"}

        return rest

    async def body(rig: DeskRig) -> None:
        rig.perform = slow
        first = rig.take("term.pane.split")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(rig.turn)
            await until(lambda: rig.performed)
            again = rig.take("term.pane.split")
            assert again.body == {"status": "pending", "operation_id": "1"}
            asked = rig.take("term.operation")
            assert asked.body["status"] == "pending"
            ended.set()
        assert first.body == {"pane_id": "4", "operation_id": "1"}
        assert rig.take("term.operation").body == first.body

    in_desk_rig(body)


@pytest.mark.parametrize("decided_again", [True, False])
def test_what_changed_before_its_turn_counts(
    decided_again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A layout that affects one more pane, and a lost generation, between admission and turn."""
    if not decided_again:
        monkeypatch.setattr(turns_module.Turns, "_turn", _turn_on_the_first_decision)

    async def body(rig: DeskRig) -> None:
        zoom = rig.take("term.pane.zoom", affected=(2,))
        _keep_decision(rig, zoom)
        rig.world.tabs[0].append(4)
        rig.world.facts[4] = PaneFacts(4, ready=True, tab=1)
        await rig.turn()
        gone = rig.take("term.pane.rename", affected=(2, 4), request_id="2")
        _keep_decision(rig, gone)
        rig.world.facts[1] = PaneFacts(5, ready=True, tab=1)
        await rig.turn()
        said = [zoom.said, gone.said]
        assert (said == ["FORBIDDEN", "FORBIDDEN"]) is decided_again
        assert (not rig.performed) is decided_again

    in_desk_rig(body)


_decisions: dict[int, Go] = {}


def _keep_decision(rig: DeskRig, request: FakeRequest) -> None:
    """What the mutant runs on: the decision of when the request came."""
    verdict = rig.lane._gate.evaluate(
        Ask(request.principal, request.command, request.raw), rig.now, rig.now_ms
    )
    assert isinstance(verdict, Go), verdict
    _decisions[id(request)] = verdict


async def _turn_on_the_first_decision(self: turns_module.Turns, job: Any) -> None:  # noqa: ANN401
    go = _decisions[id(job.request)]
    with self._desk.reserve(go) as reservation:
        self._begin(job, go, reservation)


def test_a_refusal_of_the_performer_spends_nothing() -> None:
    def busy(_state: State, _go: Go) -> Done:
        raise Refusal(ErrorCode.BUSY, "another writes", reason="writer_busy")

    async def body(rig: DeskRig) -> None:
        rig.perform = busy
        refused = rig.take("term.type")
        await rig.turn()
        assert refused.said == "BUSY writer_busy"
        rig.perform = None
        again = rig.take("term.type")
        await rig.turn()
        assert again.said == "ok", "the same id runs now"

    in_desk_rig(body)


def test_a_failure_that_nobody_foresaw_is_an_unknown_outcome_also_when_repeated() -> None:
    def broken(_state: State, _go: Go) -> Done:
        raise LookupError

    async def later() -> dict[str, object]:
        raise LookupError

    async def body(rig: DeskRig) -> None:
        for number, perform in (("1", broken), ("2", lambda *_: later)):
            rig.perform = perform
            first = rig.take(SELECT, request_id=number)
            await rig.turn()
            again = rig.take(SELECT, request_id=number)
            assert first.said == again.said == "UNKNOWN_OUTCOME abandoned"
        good = rig.take("term.snapshot")
        assert good.said == "ok", "one request's failure is not the service's"

    in_desk_rig(body)


@pytest.mark.parametrize(
    ("where", "said", "again"),
    [
        ("decide", "UNAVAILABLE failed", "ok"),
        ("reserve", "UNAVAILABLE failed", "ok"),
        ("record", "UNKNOWN_OUTCOME abandoned", "UNKNOWN_OUTCOME retired_request_id"),
        ("settled", "ok", "ok"),
    ],
)
def test_a_failure_outside_of_the_verb_ends_nothing_but_that_request(
    where: str,
    said: str,
    again: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The one that carries out all mutations goes on; its caller is told whether it had begun."""

    def broken(*_: object, **__: object) -> None:
        raise LookupError("secret")

    async def body(rig: DeskRig) -> None:
        first = rig.take(SELECT)
        with monkeypatch.context() as patch:
            if where == "settled":
                patch.setattr(rig.turns, "_on_settled", broken)
            else:
                patch.setattr(desk_module.Desk, where, broken)
            await rig.turn()
        assert first.said == said
        repeated = rig.take(SELECT)
        following = rig.take(SELECT, request_id="2")
        await rig.all_turns()
        assert (repeated.said, following.said) == (again, "ok")
        assert "LookupError" in caplog.text
        assert "secret" not in caplog.text

    in_desk_rig(body)


def test_a_mutation_given_up_half_way_stays_spent() -> None:
    async def never() -> dict[str, object]:
        await trio.sleep_forever()
        raise AssertionError

    async def body(rig: DeskRig) -> None:
        rig.perform = lambda *_: never
        rig.take(SELECT)
        with trio.CancelScope() as scope:
            scope.cancel()
            await rig.turn()
        assert rig.take(SELECT).said == "UNKNOWN_OUTCOME retired_request_id"

    in_desk_rig(body)


def test_a_load_refusal_of_a_mutation_is_not_kept() -> None:
    async def full() -> dict[str, object]:
        raise Refusal(ErrorCode.RESOURCE_LIMIT, "no room", reason="processes")

    async def body(rig: DeskRig) -> None:
        rig.perform = lambda *_: full
        first = rig.take("term.pane.split")
        await rig.turn()
        assert first.said == "RESOURCE_LIMIT processes"
        assert rig.take("term.pane.split").said == "UNKNOWN_OUTCOME retired_request_id"

    in_desk_rig(body)


# -- room ----------------------------------------------------------------------------------------


def test_the_queue_is_bounded_and_refuses_without_spending() -> None:
    async def body(rig: DeskRig) -> None:
        waiting = [rig.take(SELECT, request_id=str(number)) for number in range(1, 33)]
        over = rig.take(SELECT, request_id="65")
        assert over.said == "RESOURCE_LIMIT dispatch_queue_share"
        assert over.body["details"]["limit"] == 32
        again = rig.take(SELECT, principal=replace(AMBIENT, connection_id="7" * 32), **of(OTHER))
        assert again.said == over.said, "another connection of a process is no other caller"
        others = [
            rig.take(SELECT, principal=OTHER, request_id=str(number), **of(OTHER))
            for number in range(1, 33)
        ]
        third = replace(AMBIENT, connection_id="6" * 32, peer_pid=1)
        for who in (AMBIENT, third):
            full = rig.take(SELECT, principal=who, request_id="65", **of(who))
            assert full.said == "RESOURCE_LIMIT dispatch_queue_full"
        assert rig.ledger.high_water(("ambient", 1000, AMBIENT.broker_epoch, MINE)) == 0
        assert rig.take("term.snapshot").said == "ok", "reads do not wait behind them"
        assert rig.take(SELECT, principal=None).said == "FORBIDDEN", "who may not, learns nothing"
        await rig.turn()
        last = rig.take(SELECT, request_id="65")
        await rig.all_turns()
        assert {each.said for each in (*waiting, *others, last)} == {"ok"}
        numbers = [go.request.request_id for go in rig.performed]
        assert numbers == [*range(1, 33), *range(1, 33), 65]

    in_desk_rig(body)


def test_waits_are_bounded() -> None:
    async def body(rig: DeskRig) -> None:
        waits = [rig.take("term.wait", principal=HERE)]
        assert rig.take("term.wait", principal=HERE).said == "RESOURCE_LIMIT waits_share"
        parent = replace(HERE, peer_pid=os.getppid())
        waits.append(rig.take("term.wait", principal=parent))
        await until(lambda: len(rig.watches.under_way) == 2)
        assert rig.take("term.wait", principal=HERE).said == "RESOURCE_LIMIT waits"
        rig.watches.end()
        rig.watches.end()
        await until(lambda: all(each.answers for each in waits))
        third = rig.take("term.wait", principal=HERE)
        await until(lambda: rig.watches.under_way)
        assert third.said == ""

    in_desk_rig(body, waits=2)


# -- waits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", ["strict", "generation", "lost"])
def test_what_a_wait_saw_is_told_only_if_that_is_still_allowed(change: str) -> None:
    async def body(rig: DeskRig) -> None:
        rig.world.mine = (
            replace(rig.world.mine, record=_restricted(rig)) if rig.world.mine else None
        )
        wait = rig.take("term.wait", principal=HERE)
        await until(lambda: rig.watches.under_way)
        if change == "strict":
            strict(rig)
        elif change == "generation":
            rig.world.facts[1] = PaneFacts(2, ready=True, tab=1)
        else:
            rig.world.up = False
        rig.watches.end()
        await until(lambda: wait.answers)
        assert wait.said == ("DISCONNECTED" if change == "lost" else "FORBIDDEN")

    in_desk_rig(body)


def _restricted(rig: DeskRig) -> Any:  # noqa: ANN401
    assert rig.world.mine is not None
    return replace(rig.world.mine.record, policy="restricted")


def test_a_wait_for_the_end_of_a_program_is_told_of_it() -> None:
    async def body(rig: DeskRig) -> None:
        wait = rig.take("term.wait", principal=HERE)
        await until(lambda: rig.watches.under_way)
        rig.world.facts[1] = PaneFacts(1, ready=False, tab=1, ended=True)
        rig.watches.end(outcome="exited")
        await until(lambda: wait.answers)
        assert wait.body["outcome"] == "exited"
        assert wait.body["exit"] == {"code": 0}

    in_desk_rig(body)


def test_a_wait_and_a_slow_check_and_a_full_queue_hold_up_nobody_else() -> None:
    async def body(rig: DeskRig) -> None:
        rig.broker.slow = True
        strict(rig)
        wait = rig.take("term.wait", principal=HERE)
        bound = rig.take("term.snapshot", principal=shell())
        queued = [rig.take(SELECT, request_id=str(number)) for number in range(1, 33)]
        await until(lambda: rig.watches.under_way and rig.broker.asked)
        other = rig.take("term.snapshot", principal=OTHER)
        assert other.said == "ok"
        assert not any(each.answers for each in (wait, bound, *queued)), "all of them still wait"
        await rig.turn()
        mine = rig.take(SELECT, principal=OTHER, **of(OTHER))
        await rig.all_turns()
        assert mine.said == "ok"
        assert not wait.answers
        assert not bound.answers

    in_desk_rig(body)


# -- leases --------------------------------------------------------------------------------------


def test_requests_of_one_caller_share_a_check_and_keep_their_order() -> None:
    async def body(rig: DeskRig) -> None:
        strict(rig)
        rig.broker.slow = True
        changes = [
            rig.take("term.type", principal=shell(), request_id=str(number)) for number in (1, 2, 3)
        ]
        await until(lambda: rig.broker.asked)
        rig.broker.answer()
        await until(lambda: len(rig.queued) == 3)
        await rig.all_turns()
        assert len(rig.broker.asked) == 1
        assert {each.said for each in changes} == {"ok"}
        assert [go.request.request_id for go in rig.performed] == [1, 2, 3]

    in_desk_rig(body)


def test_a_caller_whose_lease_is_not_confirmed_is_forbidden() -> None:
    async def body(rig: DeskRig) -> None:
        strict(rig)
        rig.broker.remaining = None
        request = rig.take("term.snapshot", principal=shell())
        await until(lambda: request.answers)
        assert request.said == "FORBIDDEN"

    in_desk_rig(body)


def test_a_check_that_takes_longer_than_two_seconds_is_a_failure() -> None:
    clock = trio.testing.MockClock()

    async def body() -> None:
        rig = DeskRig()
        strict(rig)
        rig.broker.slow = True
        async with trio.open_nursery() as nursery:
            await nursery.start(rig.checks.run)
            request = rig.take("term.snapshot", principal=shell())
            await trio.testing.wait_all_tasks_blocked()
            clock.jump(1.99)
            await trio.testing.wait_all_tasks_blocked()
            assert not request.answers
            clock.jump(0.02)
            await trio.testing.wait_all_tasks_blocked()
            assert request.said == "FORBIDDEN"
            nursery.cancel_scope.cancel()

    trio.run(body, clock=clock)


def test_a_notice_while_the_check_was_under_way_makes_it_ask_again() -> None:
    async def body(rig: DeskRig) -> None:
        strict(rig)
        rig.broker.slow = True
        request = rig.take("term.snapshot", principal=shell())
        await until(lambda: rig.broker.asked)
        rig.leases.clear()
        rig.broker.answer()
        await until(lambda: len(rig.broker.asked) == 2)
        assert not request.answers
        rig.broker.answer()
        await until(lambda: request.answers)
        assert request.said == "ok"

    in_desk_rig(body)


def test_a_lease_too_old_at_its_turn_is_checked_again_beside_the_queue() -> None:
    async def body(rig: DeskRig) -> None:
        strict(rig)
        change = rig.take("term.type", principal=shell())
        await until(lambda: rig.queued)
        rig.now_ms += LEASE_FRESH_MS
        await rig.turn()
        assert not change.answers
        assert rig.performed == []
        await until(lambda: rig.queued)
        await rig.turn()
        assert change.said == "ok"
        assert len(rig.broker.asked) == 2

    in_desk_rig(body)


def test_checking_again_and_again_ends() -> None:
    async def body(rig: DeskRig) -> None:
        strict(rig)
        change = rig.take("term.type", principal=shell())
        for _ in range(ROUNDS):
            await until(lambda: rig.queued)
            rig.now_ms += LEASE_FRESH_MS
            await rig.turn()
        assert change.said == "UNAVAILABLE too_busy"
        assert rig.performed == []

    in_desk_rig(body)


def test_those_who_wait_for_checks_are_bounded() -> None:
    async def body(rig: DeskRig) -> None:
        strict(rig)
        rig.broker.slow = True
        waiting = [rig.take("term.snapshot", principal=shell()) for _ in range(3)]
        over = rig.take("term.snapshot", principal=shell())
        assert over.said == "RESOURCE_LIMIT lease_checks_share"
        other = child(2, 2)
        assert other.session is not None
        other = replace(other, session=replace(other.session, record_id="d" * 32))
        two: dict[str, Any] = {"principal": other, "target": target(2)}
        waiting += [rig.take("term.snapshot", **two) for _ in range(3)]
        assert rig.take("term.snapshot", **two).said == "RESOURCE_LIMIT lease_checks"
        assert rig.take("term.snapshot").said == "ok", "who needs no check is not refused"
        await until(lambda: len(rig.broker.asked) == 2)
        rig.broker.answer()
        await until(lambda: all(each.answers for each in waiting))
        assert {each.said for each in waiting} == {"ok"}

    in_desk_rig(body, checks_at_once=6)


@pytest.mark.parametrize("looked_up", [True, False])
def test_a_repeat_that_waited_for_a_check_is_looked_up_again(
    looked_up: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of the same wait for one check: the second must find what the first did by then."""
    if not looked_up:
        monkeypatch.setattr(desk_module.Desk, "decide", _decide_without_lookup)

    async def body(rig: DeskRig) -> None:
        strict(rig)
        rig.broker.slow = True
        both = [rig.take("term.type", principal=shell()) for _ in range(2)]
        await until(lambda: rig.broker.asked)
        rig.broker.answer()
        await until(lambda: len(rig.queued) == 2)
        if looked_up:
            await rig.all_turns()
            assert len(rig.performed) == 1
            assert both[0].answers == both[1].answers
        else:
            await rig.all_turns()
            assert both[1].said == "UNAVAILABLE failed", "the ledger itself would not have it"
            assert len(rig.performed) == 1

    in_desk_rig(body)


def _decide_without_lookup(self: desk_module.Desk, job: Any) -> Go | None:  # noqa: ANN401
    gate: Any = self._lane._gate
    earlier, gate._earlier = gate._earlier, lambda *_: None
    try:
        return _DECIDE(self, job)
    finally:
        gate._earlier = earlier


_DECIDE = desk_module.Desk.decide


# -- everything else -----------------------------------------------------------------------------


@pytest.mark.parametrize("principal", [None, replace(AMBIENT, unix_uid=1001)])
def test_denials_are_the_same_bytes(principal: Any) -> None:  # noqa: ANN401
    async def body(rig: DeskRig) -> None:
        strict(rig)
        ((rc, raw),) = rig.take(SELECT, principal=principal).answers
        there = rig.take(SELECT, target=target(99)).answers
        assert there == [(rc, raw)]
        assert forbidden().rc == rc
        assert b"99" not in raw

    in_desk_rig(body)


def test_every_request_is_answered_once_and_noted_once() -> None:
    async def body(rig: DeskRig) -> None:
        requests = [
            rig.take("term.snapshot"),
            rig.take("term.events"),
            rig.take(SELECT),
            rig.take_raw("x.y", b"{}"),
            rig.take_raw(SELECT, b"no json"),
            rig.take("term.type", principal=None),
        ]
        await rig.all_turns()
        assert all(len(each.answers) == 1 for each in requests)
        assert len(rig.entries()) == len(requests)

    in_desk_rig(body)


def test_the_process_that_waits_and_ends_makes_room() -> None:
    async def body(rig: DeskRig) -> None:
        gone = replace(AMBIENT, peer_pid=_ended_process())
        rig.take("term.wait", principal=gone)
        await until(lambda: rig.take("term.wait", principal=HERE).said == "")

    in_desk_rig(body, waits=1)


def _ended_process() -> int:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    return process.pid
