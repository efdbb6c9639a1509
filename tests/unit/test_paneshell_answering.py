"""How a pane shell answers: it decides, asks the broker again, decides again; all is bounded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
import trio
import trio.testing

from brokerd.client import (
    Authority,
    BrokerLost,
    Bus,
    NotConnected,
    Overloaded,
    Principal,
    RecordView,
    Ref,
    Refused,
    Request,
    RequestTimeout,
    decode_object,
    encode,
    forbidden,
)
from termnode.paneshell import confirming
from termnode.paneshell.answering import ADMISSION_SECONDS, MAX_WAITING, SHARED_SLOTS, StatusService
from termnode.paneshell.calls import Call, Verb
from termnode.paneshell.policy import READ_STATE
from termnode.paneshell.status import target_of
from tests.props.test_paneshell_status_props import ALLOWED, OWN, STRANGERS

REPORT = {"here": "it is"}


class FakeSessions:
    """The broker's answers, given when ``gate`` is open."""

    def __init__(self) -> None:
        self.gate = trio.Event()
        self.gate.set()
        self.gates: dict[str, trio.Event] = {}
        """Of one of the two questions alone."""
        self.asked: list[object] = []
        self.lease: int | Exception = 5_000
        self.own: RecordView | Exception = OWN
        self.under_way = 0

    async def lease_check(self, ref: Ref) -> int:
        return cast(int, await self._answer("lease", ref, self.lease))

    async def self_record(self, record_id: str) -> RecordView:
        return cast(RecordView, await self._answer("own", record_id, self.own))

    async def _answer(self, what: str, asked: object, answer: object) -> object:
        self.asked.append(asked)
        self.under_way += 1
        try:
            await self.gates.get(what, self.gate).wait()
        finally:
            self.under_way -= 1
        if isinstance(answer, Exception):
            raise answer
        return answer


class Lab:
    """A service with a fake broker and a clock of the test's own."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.now = 1_000
        self.sessions = FakeSessions()
        self.authority: Authority | None = Authority(OWN, "c" * 32, 16_000, lambda: self.now)
        self.answers: list[tuple[int, dict[str, Any]]] = []
        self.answered = trio.Event()
        self._nursery = nursery
        self.serve({})

    def serve(self, verbs: Mapping[str, Verb]) -> None:
        """With further verbs."""
        self.service = StatusService(
            cast(Bus, SimpleNamespace(sessions=self.sessions)),
            self._nursery,
            lambda: self.authority,
            lambda: dict(REPORT),
            lambda: self.now,
            verbs=verbs,
        )

    def ask(self, caller: object, command: str = "shell.status", **changed: object) -> None:
        stamp = caller.to_stamp() if isinstance(caller, Principal) else b""
        body = {"version": 1, "target": target_of(OWN), **changed}
        self.service.take(
            Request(
                command=command,
                raw=encode(body),
                request_id="1",
                name=OWN.name,
                from_connection="d" * 32,
                stamp=stamp,
                respond=self._respond,
            )
        )

    def _respond(self, _request: Request, rc: int, body: bytes | Mapping[str, object]) -> bool:
        self.answered.set()
        self.answers.append((rc, decode_object(body) if isinstance(body, bytes) else dict(body)))
        return True

    def codes(self) -> list[str]:
        return [str(body.get("error_code", "")) for _, body in self.answers]

    async def settled(self) -> list[str]:
        """What was answered, once nothing moves any more."""
        await trio.testing.wait_all_tasks_blocked()
        return self.codes()


def with_lab(test: Callable[[Lab], Awaitable[None]]) -> None:
    async def main() -> None:
        async with trio.open_nursery() as nursery:
            await test(Lab(nursery))
            nursery.cancel_scope.cancel()

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


@pytest.mark.parametrize("who", ALLOWED)
def test_a_bound_caller_s_lease_and_the_own_record_are_asked_of_the_broker(who: str) -> None:
    async def test(lab: Lab) -> None:
        caller = ALLOWED[who]
        lab.ask(caller)
        assert await lab.settled() == [""]
        assert lab.answers == [(0, REPORT)]
        leases = [asked for asked in lab.sessions.asked if isinstance(asked, Ref)]
        assert len(leases) == (0 if caller.session is None else 1)
        assert OWN.record_id in lab.sessions.asked

    with_lab(test)


@pytest.mark.parametrize("who", STRANGERS)
def test_a_stranger_is_refused_without_a_word_to_the_broker(who: str) -> None:
    async def test(lab: Lab) -> None:
        lab.ask(STRANGERS[who])
        lab.ask(STRANGERS[who], version=2)
        lab.ask(STRANGERS[who], target={})
        assert lab.codes() == ["FORBIDDEN"] * 3
        assert len({encode(body) for _, body in lab.answers}) == 1
        assert lab.sessions.asked == []

    with_lab(test)


def test_another_verb_is_unsupported_to_anybody() -> None:
    async def test(lab: Lab) -> None:
        lab.ask(None, "shell.execute")
        lab.ask(ALLOWED["parent"], "SHELL.STATUS")
        assert lab.codes() == ["UNSUPPORTED"] * 2
        assert lab.sessions.asked == []

    with_lab(test)


def test_nobody_is_answered_without_authority() -> None:
    async def test(lab: Lab) -> None:
        assert lab.authority is not None
        lab.now = 16_000
        lab.ask(ALLOWED["parent"])
        lab.authority = None
        lab.ask(ALLOWED["parent"])
        assert lab.codes() == ["FORBIDDEN"] * 2

    with_lab(test)


REFUSALS: dict[str, tuple[str, object]] = {
    "the lease is unknown": ("lease", Refused("NOT_FOUND", "x", {"reason": "dependency_missing"})),
    "the lease is over": ("lease", 0),
    "the own record is unknown": ("own", Refused("FORBIDDEN", "forbidden", {})),
    "the own record moved on": ("own", replace(OWN, binding_generation=10)),
    "the own record is suspended": (
        "own",
        replace(OWN, state="suspended", lease_remaining_ms=None),
    ),
    "the own lease is over": ("own", replace(OWN, lease_remaining_ms=0)),
}


@pytest.mark.parametrize("why", REFUSALS)
def test_what_the_broker_does_not_confirm_is_forbidden(why: str) -> None:
    async def test(lab: Lab) -> None:
        field, answer = REFUSALS[why]
        setattr(lab.sessions, field, answer)
        lab.ask(ALLOWED["parent"])
        assert await lab.settled() == ["FORBIDDEN"]
        assert lab.answers[0][1]["details"] == {}

    with_lab(test)


UNASKED: dict[str, tuple[str, object]] = {
    "the broker is away": ("lease", NotConnected()),
    "it has gone": ("own", BrokerLost("e" * 32)),
    "it is slow about the lease": ("lease", RequestTimeout(2)),
    "it is slow about the record": ("own", RequestTimeout(2)),
    "too much is asked": ("own", Overloaded("pending", 256)),
    "it has no room": ("lease", Refused("RESOURCE_LIMIT", "x", {})),
    "its clock is gone": ("own", Refused("UNAVAILABLE", "x", {"reason": "clock_unavailable"})),
}


@pytest.mark.parametrize("why", UNASKED)
def test_that_the_broker_could_not_say_is_no_word_about_a_right(why: str) -> None:
    async def test(lab: Lab) -> None:
        field, answer = UNASKED[why]
        setattr(lab.sessions, field, answer)
        lab.ask(ALLOWED["parent"])
        assert await lab.settled() == ["UNAVAILABLE"]
        assert lab.answers[0][1]["details"] == {"reason": "not_confirmed"}

    with_lab(test)


def test_the_check_of_that_fails_when_any_failure_is_a_refusal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(confirming, "not_confirmed", forbidden)
    with pytest.raises(ExceptionGroup):
        test_that_the_broker_could_not_say_is_no_word_about_a_right("it has gone")


@pytest.mark.parametrize("slow", ["lease", "own"])
def test_a_refusal_is_told_though_the_other_answer_is_late(slow: str) -> None:
    async def test(lab: Lab) -> None:
        lab.sessions.gates[slow] = trio.Event()
        setattr(lab.sessions, {"lease": "own", "own": "lease"}[slow], Refused("FORBIDDEN", "", {}))
        lab.ask(ALLOWED["parent"])
        assert await lab.settled() == ["FORBIDDEN"]
        assert lab.sessions.under_way == 0

    with_lab(test)


def test_both_questions_are_asked_at_once() -> None:
    async def test(lab: Lab) -> None:
        lab.sessions.gate = trio.Event()
        lab.ask(ALLOWED["parent"])
        await trio.testing.wait_all_tasks_blocked()
        assert len(lab.sessions.asked) == 2
        lab.sessions.gate.set()
        assert await lab.settled() == [""]

    with_lab(test)


class Waiting:
    """A verb that waits for ``over`` before it asks whether it may answer."""

    capability = READ_STATE
    shape_first = False

    def __init__(self) -> None:
        self.over = trio.Event()

    def read(self, raw: bytes) -> dict[str, Any]:
        return {"target": decode_object(raw)["target"]}

    def arrived(self, call: Call) -> None:
        pass

    async def answer(self, call: Call) -> dict[str, object]:
        await self.over.wait()
        await call.confirm(ADMISSION_SECONDS)
        return dict(REPORT)


@pytest.mark.parametrize(("binding", "code"), [(None, ""), (10, "STALE_GENERATION")])
def test_a_long_wait_may_outlive_an_authority_but_no_attachment(
    binding: int | None, code: str
) -> None:
    """After notices were missed the same attachment is asked for anew: it is no other one."""

    async def test(lab: Lab) -> None:
        verb = Waiting()
        lab.serve({"shell.wait": verb})
        lab.ask(ALLOWED["parent"], "shell.wait")
        await trio.testing.wait_all_tasks_blocked()
        own = OWN if binding is None else replace(OWN, binding_generation=binding)
        lab.authority = Authority(own, "c" * 32, 16_000, lambda: lab.now)
        verb.over.set()
        assert await lab.settled() == [code]

    with_lab(test)


def test_a_lease_counts_from_before_the_question() -> None:
    async def test(lab: Lab) -> None:
        lab.sessions.lease = 500
        lab.sessions.gate = trio.Event()
        lab.ask(ALLOWED["parent"])
        await trio.testing.wait_all_tasks_blocked()
        lab.now += 500
        lab.sessions.gate.set()
        assert await lab.settled() == ["FORBIDDEN"]

    with_lab(test)


@pytest.mark.parametrize("what", ["dropped", "replaced", "gone"])
def test_an_authority_that_ends_during_the_question_is_none(what: str) -> None:
    async def test(lab: Lab) -> None:
        lab.sessions.gate = trio.Event()
        lab.ask(ALLOWED["parent"])
        await trio.testing.wait_all_tasks_blocked()
        assert lab.authority is not None
        if what == "dropped":
            lab.authority.drop()
        elif what == "replaced":
            lab.authority = Authority(OWN, "c" * 32, 16_000, lambda: lab.now)
        else:
            lab.authority = None
        lab.sessions.gate.set()
        assert await lab.settled() == ["FORBIDDEN"]

    with_lab(test)


def test_a_broker_that_does_not_answer_costs_one_bounded_wait() -> None:
    async def test(lab: Lab) -> None:
        lab.sessions.gate = trio.Event()
        began = trio.current_time()
        lab.ask(ALLOWED["parent"])
        await lab.answered.wait()  # virtual time: it jumps when nothing else is to do
        assert lab.codes() == ["UNAVAILABLE"]
        assert lab.answers[0][1]["details"] == {"reason": "not_confirmed"}
        assert trio.current_time() - began >= ADMISSION_SECONDS

    with_lab(test)


def test_the_owning_term_gets_a_slot_while_others_have_all_of_theirs() -> None:
    async def test(lab: Lab) -> None:
        lab.sessions.gate = trio.Event()
        for _ in range(SHARED_SLOTS + 2):
            lab.ask(ALLOWED["ambient"])
        await trio.testing.wait_all_tasks_blocked()
        assert lab.sessions.under_way == SHARED_SLOTS
        for _ in range(2):
            lab.ask(ALLOWED["parent"])
        await trio.testing.wait_all_tasks_blocked()
        assert lab.sessions.under_way == SHARED_SLOTS + 2, "two questions of one more"
        lab.sessions.gate.set()
        assert await lab.settled() == [""] * (SHARED_SLOTS + 4)

    with_lab(test)


def test_only_so_many_are_under_way() -> None:
    async def test(lab: Lab) -> None:
        lab.sessions.gate = trio.Event()
        for _ in range(MAX_WAITING + 3):
            lab.ask(ALLOWED["ambient"])
        assert lab.codes() == ["RESOURCE_LIMIT"] * 3
        lab.sessions.gate.set()
        assert len(await lab.settled()) == MAX_WAITING + 3
        lab.ask(ALLOWED["ambient"])
        assert (await lab.settled())[-1] == ""

    with_lab(test)


def test_what_goes_wrong_inside_is_one_request_s_failure() -> None:
    async def test(lab: Lab) -> None:
        lab.sessions.own = RuntimeError("a secret")
        lab.ask(ALLOWED["ambient"])
        assert await lab.settled() == ["UNAVAILABLE"]
        assert b"secret" not in encode(lab.answers[0][1])
        lab.sessions.own = OWN
        lab.ask(ALLOWED["ambient"])
        assert (await lab.settled())[-1] == ""

    with_lab(test)
