"""The native lane: what is sealed, recorded and noted of each request."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from brokerd.client import MAX_RESPONSE_BODY, ErrorCode, Refusal
from termnode.control.audit import Audit
from termnode.control.native.decisions import Go, Need
from termnode.control.native.ledger import Later
from termnode.control.native.request import Ask
from termnode.control.posture import Posture
from termnode.lanes.calls import Reply, Sealed
from termnode.lanes.native_lane import NativeCall, NativeLane, Verdict, native_summary
from tests.support.native_gate import (
    AMBIENT,
    NODE,
    Rig,
    Who,
    body_for,
    child,
    encoded,
    target,
)


class LaneRig:
    """A lane over a gate in a small world."""

    def __init__(self) -> None:
        self.rig = Rig()
        self.audit = Audit()
        self.lane = NativeLane(self.rig.gate, self.rig.ledger, self.audit, lambda: 5_000)

    def call(self, verb: str, principal: Who = AMBIENT, raw: bytes | None = None) -> NativeCall:
        body = encoded(body_for(verb)) if raw is None else raw
        return NativeCall(Ask(principal, verb, body), self.rig.now)

    def judge(self, call: NativeCall) -> Verdict:
        return self.lane.judge(call, self.rig.now, self.rig.now_ms)

    def go(self, call: NativeCall) -> Go:
        verdict = self.judge(call)
        assert isinstance(verdict, Go), verdict
        return verdict

    def record(self, call: NativeCall, reply: Reply | None, later: Later | None = None) -> Sealed:
        go = self.go(call)
        reservation = self.lane.reserve(go, self.rig.now)
        return self.lane.record(call, go, reservation, reply, now=self.rig.now, later=later)

    def answer(self, verb: str, **how: Any) -> Sealed:  # noqa: ANN401
        verdict = self.judge(self.call(verb, **how))
        assert isinstance(verdict, Sealed), verdict
        return verdict

    def entry(self) -> dict[str, object]:
        """The newest one."""
        return self.audit.tail(1)[0]


def code(sealed: Sealed) -> str:
    found: str = json.loads(sealed.raw).get("error_code", "ok")
    return found


def test_a_success_of_a_mutation_names_its_operation() -> None:
    rig = LaneRig()
    sealed = rig.record(rig.call("term.pane.select"), Reply.ok(selected=target()))
    assert json.loads(sealed.raw) == {"selected": target(), "operation_id": "1"}


def test_an_accepted_input_names_its_request_too() -> None:
    rig = LaneRig()
    sealed = rig.record(rig.call("term.type"), Reply.ok(status="accepted"))
    assert json.loads(sealed.raw) == {
        "status": "accepted",
        "request_id": "1",
        "operation_id": "1",
    }


def test_a_refusal_names_no_operation_and_is_replayed() -> None:
    rig = LaneRig()
    refusal = Refusal(ErrorCode.NOT_FOUND, "no such directory", field="cwd")
    first = rig.record(rig.call("term.pane.split"), Reply.refused(refusal))
    assert "operation_id" not in json.loads(first.raw)
    assert rig.answer("term.pane.split") == first


@pytest.mark.parametrize("about_load", [ErrorCode.RESOURCE_LIMIT, ErrorCode.UNAVAILABLE])
def test_a_refusal_about_load_is_not_kept(about_load: ErrorCode) -> None:
    rig = LaneRig()
    rig.record(rig.call("term.pane.split"), Reply.refused(Refusal(about_load, "later")))
    assert code(rig.answer("term.pane.split")) == ErrorCode.UNKNOWN_OUTCOME


def test_a_reply_that_is_too_large_is_a_refusal_and_of_a_mutation_a_recorded_one() -> None:
    rig = LaneRig()
    large = Reply.ok(text="x" * MAX_RESPONSE_BODY)
    read = rig.call("term.snapshot")
    assert code(rig.lane.settle(read, rig.go(read), large, rig.rig.now)) == "RESOURCE_LIMIT"
    first = rig.record(rig.call("term.pane.rename"), large)
    assert code(first) == ErrorCode.UNKNOWN_OUTCOME
    assert rig.answer("term.pane.rename") == first


def test_a_reply_of_just_the_size_travels() -> None:
    rig = LaneRig()
    call = rig.call("term.snapshot")
    spare = len('{"text":""}')
    fits = Reply.ok(text="x" * (MAX_RESPONSE_BODY - spare))
    sealed = rig.lane.settle(call, rig.go(call), fits, rig.rig.now)
    assert (sealed.rc, len(sealed.raw)) == (0, MAX_RESPONSE_BODY)


def test_what_nobody_knows_is_unknown_for_good() -> None:
    rig = LaneRig()
    first = rig.record(rig.call("term.pane.rename"), None)
    assert code(first) == ErrorCode.UNKNOWN_OUTCOME
    assert rig.answer("term.pane.rename") == first


def test_an_operation_is_told_as_it_was_recorded_and_then_as_it_ended() -> None:
    rig, later = LaneRig(), Later()
    first = rig.record(rig.call("term.type"), Reply.ok(status="accepted"), later)
    assert rig.answer("term.operation") == first
    later.settle({"operation_id": "1", "status": "completed"})
    told = rig.answer("term.operation")
    assert json.loads(told.raw) == {"operation_id": "1", "status": "completed"}
    assert rig.entry()["replayed"] is False


def test_the_shell_of_a_pane_is_noted_by_its_record() -> None:
    assert native_summary(child()) == "pane-shell bbbbbbbb uid 1000"
    assert native_summary(AMBIENT) == "uid 1000 pid 4242"
    assert native_summary(NODE) == "node there"
    assert native_summary(None) == "unstamped"


def test_a_mutation_is_noted_with_verb_pane_outcome_and_time() -> None:
    rig = LaneRig()
    call = rig.call("term.props.set")
    rig.rig.now += 0.25
    rig.record(call, Reply.ok(selected=target()))
    entry = rig.entry()
    assert (entry["verb"], entry["pane"], entry["outcome"]) == ("term.pane.select", 1, "ok")
    assert (entry["duration_ms"], entry["request_id"], entry["replayed"]) == (250, True, False)
    rig.answer("term.props.set")
    assert rig.entry()["replayed"] is True


@pytest.mark.parametrize(
    ("verb", "raw", "noted"),
    [
        ("term.type", b'{"text":"s3cret"', "term.type INVALID_ARGUMENT"),
        ("s3cret", b"{}", "unknown INVALID_ARGUMENT"),
        ("term.type", b'{"s3cret":1}', "term.type INVALID_ARGUMENT"),
    ],
)
def test_nothing_that_a_caller_chose_is_noted(verb: str, raw: bytes, noted: str) -> None:
    rig = LaneRig()
    sealed = rig.answer(verb, raw=raw)
    entry = rig.entry()
    assert f"{entry['verb']} {entry['outcome']}" == noted
    assert "s3cret" not in str(entry)
    assert b"s3cret" not in sealed.raw


def test_denials_are_noted_and_all_alike_to_their_callers() -> None:
    rig = LaneRig()
    rig.rig.world.stance = Posture.STRICT
    stranger = replace(AMBIENT, unix_uid=1001)
    answers = {rig.answer("term.type", principal=who).raw for who in (None, NODE, stranger)}
    assert len(answers) == 1
    assert [entry["outcome"] for entry in rig.audit.tail()] == ["FORBIDDEN"] * 3


def test_a_lease_that_is_needed_is_no_answer_and_is_not_noted() -> None:
    rig = LaneRig()
    rig.rig.world.stance = Posture.STRICT
    assert isinstance(rig.judge(rig.call("term.type", principal=child())), Need)
    assert rig.audit.tail() == []
