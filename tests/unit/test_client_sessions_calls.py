"""Calls about sessions, against a broker played by hand: ids, repetition, refusals, signatures."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

import pytest
import trio
import trio.testing

from brokerd import bodies, wire
from brokerd.client import (
    BrokerLost,
    Bus,
    ChallengeMismatch,
    MalformedReply,
    NotConnected,
    RecordView,
    Refused,
    RequestTimeout,
)
from brokerd.client.session import Session
from brokerd.encodings import allocation_transcript
from brokerd.keys import verify
from tests.support.session_lab import until
from tests.support.session_values import (
    CHILD_RECORD,
    CONNECTION,
    EPOCH,
    GRANT,
    KEY,
    TERM_RECORD,
    identity,
    proof_of,
)

T = TypeVar("T")
REFUSAL = {"error_code": "FORBIDDEN", "message": "forbidden", "details": {}}


class HandBroker:
    """The other end of one session; ``seen`` is what has come, as (id, command, body's bytes)."""

    def __init__(self) -> None:
        self.session = Session()
        self.bus = Bus(self.session)
        self.connect()

    def connect(self, connection: str = CONNECTION) -> None:
        self.session.opened()
        request_id, _, _ = self.take()
        self.answer(request_id, {"broker_epoch": EPOCH, "connection_id": connection})

    def take(self) -> tuple[str, str, bytes]:
        message = self.session.outbox.head()
        assert message is not None, "nothing has gone out"
        self.session.outbox.drop_head()
        header = wire.decode_header(message[0], from_broker=False)
        return header.id or "", header.command or "", message[1]

    def answer(self, request_id: str, body: object, rc: int = 0) -> None:
        fields = {"type": "response", "id": request_id, "to": CONNECTION, "rc": rc}
        header = wire.encode_header({"v": 1, **fields, "from": wire.BROKER})
        self.session.receive([header, bodies.encode(body), b""])

    async def taken(self) -> tuple[str, str, bytes]:
        """The next that goes out, whenever that is."""
        await until(lambda: self.session.outbox.head() is not None)
        return self.take()


class Outcome:
    """What a call came to."""

    value: object = None
    error: BaseException | None = None


def run(test: Callable[[HandBroker], Awaitable[None]]) -> None:
    async def main() -> None:
        with trio.fail_after(100):
            await test(HandBroker())

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


async def call(nursery: trio.Nursery, ask: Callable[[], Awaitable[object]]) -> Outcome:
    """Start ``ask`` in a task; its outcome comes later."""
    outcome = Outcome()

    async def task() -> None:
        try:
            outcome.value = await ask()
        except Exception as error:  # noqa: BLE001  # the test looks at it
            outcome.error = error

    nursery.start_soon(task)
    await trio.testing.wait_all_tasks_blocked()
    return outcome


def test_a_retained_call_is_repeated_once_with_the_same_id_and_bytes() -> None:
    async def main(broker: HandBroker) -> None:
        async with trio.open_nursery() as nursery:
            outcome = await call(nursery, lambda: broker.bus.sessions.revoke(TERM_RECORD.ref))
            first = await broker.taken()
            second = await broker.taken()
            assert first == second
            broker.answer(second[0], {"revoked": True})
            await trio.testing.wait_all_tasks_blocked()
            assert outcome.value is True
            broker.answer(second[0], {"revoked": False})  # the first one's, late
            assert broker.session.counters["late"] == 1

    run(main)


def test_a_retained_call_gives_up_after_two() -> None:
    async def main(broker: HandBroker) -> None:
        async with trio.open_nursery() as nursery:
            began = trio.current_time()
            outcome = await call(nursery, lambda: broker.bus.sessions.revoke(TERM_RECORD.ref))
            await broker.taken()
            await broker.taken()
            await trio.sleep(3)
            assert isinstance(outcome.error, RequestTimeout)
            assert trio.current_time() - began >= 4
            assert broker.session.outbox.head() is None
            assert broker.session.pending == 0

    run(main)


def test_the_late_answer_to_the_first_is_the_answer() -> None:
    async def main(broker: HandBroker) -> None:
        async with trio.open_nursery() as nursery:
            outcome = await call(nursery, lambda: broker.bus.sessions.revoke(TERM_RECORD.ref))
            first = await broker.taken()
            await broker.taken()
            broker.answer(first[0], {"revoked": True})
            await trio.testing.wait_all_tasks_blocked()
            assert outcome.value is True

    run(main)


def test_nothing_is_repeated_on_another_connection() -> None:
    async def main(broker: HandBroker) -> None:
        async with trio.open_nursery() as nursery:
            outcome = await call(nursery, lambda: broker.bus.sessions.revoke(TERM_RECORD.ref))
            await broker.taken()
            broker.session.lost()
            broker.connect(identity(77))
            await trio.sleep(10)
            assert isinstance(outcome.error, BrokerLost)
            assert broker.session.outbox.head() is None

    run(main)


def test_other_calls_are_sent_once() -> None:
    async def main(broker: HandBroker) -> None:
        async with trio.open_nursery() as nursery:
            outcome = await call(nursery, lambda: broker.bus.sessions.renew(TERM_RECORD.ref))
            await broker.taken()
            await trio.sleep(10)
            assert isinstance(outcome.error, RequestTimeout)
            assert broker.session.outbox.head() is None

    run(main)


@pytest.mark.parametrize(
    ("body", "rc", "error"),
    [
        ({"record": TERM_RECORD.to_json()}, 0, None),
        ({"record": TERM_RECORD.to_json(), "more": 1}, 0, MalformedReply),
        ({}, 0, MalformedReply),
        ([], 0, MalformedReply),
        ({"record": {}}, 0, MalformedReply),
        (REFUSAL, 10, Refused),
    ],
)
def test_an_answer_is_a_record_a_refusal_or_nothing(
    body: object, rc: int, error: type[Exception] | None
) -> None:
    async def main(broker: HandBroker) -> None:
        async with trio.open_nursery() as nursery:
            outcome = await call(nursery, lambda: broker.bus.sessions.renew(TERM_RECORD.ref))
            request_id, command, raw = await broker.taken()
            assert command == "session.renew"
            assert bodies.decode_object(raw) == {"target": TERM_RECORD.ref.to_json()}
            broker.answer(request_id, body, rc)
            await trio.testing.wait_all_tasks_blocked()
            assert outcome.value == (TERM_RECORD if error is None else None)
            assert (type(outcome.error) if outcome.error else None) is error

    run(main)


def test_without_a_connection_nothing_is_signed_or_sent() -> None:
    async def main(broker: HandBroker) -> None:
        broker.session.lost()
        with pytest.raises(NotConnected):
            await broker.bus.sessions.allocate(KEY)
        with pytest.raises(NotConnected):
            await broker.bus.sessions.prove_as(KEY, proof_of(TERM_RECORD), {})

    run(main)


def test_an_allocation_is_signed_for_this_connection_and_policy() -> None:
    async def main(broker: HandBroker) -> None:
        async with trio.open_nursery() as nursery:
            outcome = await call(nursery, lambda: broker.bus.sessions.allocate(KEY, "restricted"))
            request_id, _, raw = await broker.taken()
            body = bodies.decode_object(raw)
            message = allocation_transcript(EPOCH, CONNECTION, KEY.public_key, "restricted")
            assert verify(KEY.public_key, bytes.fromhex(str(body["signature"])), message)
            assert body["policy"] == "restricted"
            broker.answer(request_id, {"record": TERM_RECORD.to_json()})  # of another policy
            await trio.testing.wait_all_tasks_blocked()
            assert isinstance(outcome.error, MalformedReply)

    run(main)


async def prove(
    broker: HandBroker, ask: Callable[[], Awaitable[object]], challenge: object, record: RecordView
) -> Outcome:
    """Answer a challenge with ``challenge`` and the proof, if one comes, with ``record``."""
    async with trio.open_nursery() as nursery:
        outcome = await call(nursery, ask)
        request_id, command, _ = await broker.taken()
        assert command == "session.challenge"
        broker.answer(request_id, {"challenge": challenge})
        await trio.testing.wait_all_tasks_blocked()
        if broker.session.outbox.head() is not None:
            request_id, command, raw = broker.take()
            assert command == "session.prove"
            outcome.proof = bodies.decode_object(raw)  # type: ignore[attr-defined]
            broker.answer(request_id, {"record": record.to_json()})
    return outcome


ATTACHED_CHILD = replace(CHILD_RECORD, state="attached", binding_generation=1, lease_remaining_ms=1)


def test_an_enrolment_is_signed_when_it_is_the_granted_one() -> None:
    async def main(broker: HandBroker) -> None:
        def enrol() -> Awaitable[object]:
            return broker.bus.sessions.enrol(KEY, GRANT, CHILD_RECORD)

        proof = proof_of(CHILD_RECORD, GRANT)
        outcome = await prove(broker, enrol, proof.to_json(), ATTACHED_CHILD)
        assert outcome.value == ATTACHED_CHILD
        signature = bytes.fromhex(str(outcome.proof["signature"]))  # type: ignore[attr-defined]
        assert verify(KEY.public_key, signature, proof.transcript())

    run(main)


@pytest.mark.parametrize(
    ("field", "value"),
    [("connection_id", identity(5)), ("broker_epoch", identity(5)), ("owner_uid", 4_000_000_000)],
)
def test_a_challenge_for_another_connection_is_not_signed(field: str, value: object) -> None:
    async def main(broker: HandBroker) -> None:
        changed = {field: value}
        proof = replace(proof_of(TERM_RECORD), **changed)  # type: ignore[arg-type]  # any field
        for ask in (
            lambda: broker.bus.sessions.by_key(KEY),
            lambda: broker.bus.sessions.resume(KEY, TERM_RECORD),
        ):
            outcome = await prove(broker, ask, proof.to_json(), TERM_RECORD)
            assert isinstance(outcome.error, ChallengeMismatch)
            assert outcome.error.field == field
            assert not hasattr(outcome, "proof"), "something was signed"

    run(main)


def test_a_proof_that_attached_something_else_is_not_believed() -> None:
    async def main(broker: HandBroker) -> None:
        wrong = replace(TERM_RECORD, binding_generation=3)
        outcome = await prove(
            broker,
            lambda: broker.bus.sessions.by_key(KEY),
            proof_of(TERM_RECORD).to_json(),
            wrong,
        )
        assert isinstance(outcome.error, MalformedReply)

    run(main)
