"""A state machine against the core: whatever happens in whatever order, the books balance."""

from __future__ import annotations

import json

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from brokerd.core import BrokerCore, PeerCredentials
from brokerd.encodings import Proof, allocation_transcript
from brokerd.errors import Refusal
from brokerd.limits import Limits, SessionLimits
from brokerd.wire import Header, decode_header, encode_header
from tests.support.core_world import key_number

SMALL = Limits(
    connections_per_uid=4,
    names_per_connection=2,
    names_per_uid=3,
    subscriptions_per_connection=3,
    pending_per_connection=3,
    pending_per_recipient=4,
    queue_messages=4,
    queue_bytes=2_000,
    topics_per_uid=2,
    topic_bytes_per_uid=200,
    hello_ms=50,
    pending_ms=100,
    topic_grace_ms=70,
    sessions=SessionLimits(
        terms_per_uid=3,
        lease_ms=60,
        window_ms=40,
        challenge_ms=30,
        interest_ms=50,
        dependencies_per_recipient=2,
        dependency_ms=90,
        notices_per_connection=2,
        notices=5,
        retained_ms=80,
        retained_per_connection=2,
        retained=3,
    ),
)
HELD = (
    "connections",
    "names",
    "subscriptions",
    "topics",
    "pending",
    "queued_messages",
    "queued_bytes",
    "sessions_records",
    "sessions_terms",
    "sessions_challenges",
    "sessions_dependencies",
    "sessions_notices",
    "sessions_interests",
    "sessions_bindings",
    "sessions_retained",
)
NAMES = st.sampled_from(["aa", "bb", "cc"])
TOPICS = st.sampled_from(["t", "u", "w"])
INDEX = st.integers(0, 7)


class BrokerMachine(RuleBasedStateMachine):
    """Random peers of two users; ``asked`` is what each has heard and not answered."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0
        self.serial = 0
        self.core = BrokerCore(
            epoch="e" * 32,
            node="n",
            uid=1,
            pid=1,
            limits=SMALL,
            now_ms=0,
            new_id=self.fresh,
        )
        self.peers: list[str] = []
        self.asked: dict[str, list[Header]] = {}
        self.last_seq: dict[tuple[str, str], int] = {}
        self.waiting: set[tuple[str, str]] = set()

    def fresh(self) -> str:
        self.serial += 1
        return f"{self.serial:032x}"

    def pick(self, index: int) -> str:
        return self.peers[index % len(self.peers)] if self.peers else "f" * 32

    def say(self, who: str, body: object, **fields: object) -> None:
        raw = json.dumps(body).encode()
        self.core.receive(who, [encode_header({"v": 1, **fields}), raw], self.now)

    def ask(self, who: str, to: str, body: object, command: str) -> None:
        self.serial += 1
        self.say(who, body, type="request", id=f"r{self.serial}", to=to, command=command)

    @rule(uid=st.integers(0, 2))
    def connect(self, uid: int) -> None:
        try:
            peer = self.core.accept(PeerCredentials(uid, uid, 10 + uid), self.now)
        except Refusal:
            return
        self.peers.append(peer)
        self.asked[peer] = []

    @rule(index=INDEX)
    def disconnect(self, index: int) -> None:
        who = self.pick(index)
        self.core.disconnected(who, self.now)
        self.forget(who)

    @rule(index=INDEX, name=NAMES, verb=st.sampled_from(["register", "deregister"]))
    def names(self, index: int, name: str, verb: str) -> None:
        self.ask(self.pick(index), "brokerd", {"name": name}, f"broker.{verb}")

    @rule(index=INDEX, to=NAMES, size=st.integers(0, 900))
    def request(self, index: int, to: str, size: int) -> None:
        self.ask(self.pick(index), to, "x" * size, "x.y")

    @rule(index=INDEX, to=INDEX, number=st.integers(0, 9))
    def forged_response(self, index: int, to: int, number: int) -> None:
        self.say(self.pick(index), {}, type="response", id=f"r{number}", to=self.pick(to), rc=0)

    @rule(index=INDEX)
    def respond(self, index: int) -> None:
        who = self.pick(index)
        if self.asked.get(who):
            header = self.asked[who].pop(0)
            self.say(who, {}, type="response", id=header.id, to=header.from_, rc=0)

    @rule(index=INDEX, topic=TOPICS, size=st.integers(0, 150))
    def publish(self, index: int, topic: str, size: int) -> None:
        body = {"topic": topic, "value": "x" * size}
        self.ask(self.pick(index), "brokerd", body, "broker.publish")

    @rule(index=INDEX, topic=TOPICS, verb=st.sampled_from(["subscribe", "unsubscribe"]))
    def topics(self, index: int, topic: str, verb: str) -> None:
        self.ask(self.pick(index), "brokerd", {"topic": topic}, f"broker.{verb}")

    @rule(index=INDEX, name=NAMES, verb=st.sampled_from(["subscribe", "unsubscribe"]))
    def services(self, index: int, name: str, verb: str) -> None:
        self.ask(self.pick(index), "brokerd", {"service": name}, f"broker.{verb}")

    @rule(index=INDEX, to=INDEX)
    def event(self, index: int, to: int) -> None:
        self.say(
            self.pick(index), {}, type="event", command="e.v", recipient_connection=self.pick(to)
        )

    @rule(index=INDEX, number=st.integers(1, 3))
    def allocate(self, index: int, number: int) -> None:
        """Ask for a record, and remember the reference that comes back."""
        who, key = self.pick(index), key_number(number)
        signed = key.sign(allocation_transcript("e" * 32, who, key.public_key, "default-open"))
        body = {"public_key": key.public_key.hex(), "signature": signed.hex()}
        self.mutate(who, body, "session.allocate")

    @rule(index=INDEX, number=st.integers(1, 3), sound=st.booleans())
    def prove(self, index: int, number: int, sound: bool) -> None:
        """Ask for a challenge of a key, and sign it if one comes; else the last thing heard."""
        who, key = self.pick(index), key_number(number)
        body = {"public_key": key.public_key.hex(), "purpose": "enrol"}
        self.ask(who, "brokerd", body, "session.challenge")
        told = self.last(who).get("challenge")
        if isinstance(told, dict):
            told.pop("wake_error")
            proof = Proof.from_json(told)
            assert proof is not None
            signed = key.sign(proof.transcript() if sound else b"")
            answer = {"challenge_id": proof.challenge_id, "signature": signed.hex()}
            self.ask(who, "brokerd", answer, "session.prove")

    @rule(index=INDEX, verb=st.sampled_from(["renew", "revoke", "lease.check"]))
    def target(self, index: int, verb: str) -> None:
        for record in self.core._bus.sessions.list(index % 3)[:1]:
            who = self.pick(index)
            ref = {key: str(value) for key, value in record.ref._asdict().items()}
            self.mutate(who, {"target": ref}, f"session.{verb}")

    def mutate(self, who: str, body: object, command: str) -> None:
        self.serial += 1
        self.say(who, body, type="request", id=str(self.serial), to="brokerd", command=command)

    def last(self, who: str) -> dict[str, object]:
        """Take all that waits; the body of the last of it."""
        body = b"{}"
        while (frames := self.core.take(who)) is not None:
            self.hear(who, decode_header(frames[0], from_broker=True))
            body = frames[1]
        told = json.loads(body)
        return told if isinstance(told, dict) else {}

    @rule(index=INDEX)
    def bye(self, index: int) -> None:
        self.ask(self.pick(index), "brokerd", {}, "broker.bye")

    @rule(index=INDEX, raw=st.binary(max_size=30))
    def noise(self, index: int, raw: bytes) -> None:
        self.core.receive(self.pick(index), [raw, b""], self.now)

    @rule(index=INDEX, count=st.integers(1, 5), full=st.booleans())
    def read(self, index: int, count: int, full: bool) -> None:
        """Take some messages; with ``full`` the last does not go out and is put back."""
        who = self.pick(index)
        for _ in range(count):
            frames = self.core.take(who)
            if frames is None:
                break
            self.hear(who, decode_header(frames[0], from_broker=True))
        else:
            if full and (frames := self.core.take(who)) is not None:
                self.core.unsent(who, frames)

    @rule(milliseconds=st.integers(0, 80))
    def time(self, milliseconds: int) -> None:
        self.now += milliseconds
        due = self.core.next_deadline()
        self.core.tick(self.now)
        after = self.core.next_deadline()
        assert due is None or due > self.now or after is None or after > self.now

    @invariant()
    def books_balance(self) -> None:
        self.core.verify()
        for closed in self.core.closed():
            self.forget(closed)

    def hear(self, who: str, header: Header) -> None:
        if header.type == "request":
            self.asked.setdefault(who, []).append(header)
        if header.topic is not None and header.seq is not None:
            key = who, header.topic
            assert header.seq > self.last_seq.get(key, 0), "a topic's numbers went back"
            self.last_seq[key] = header.seq

    def forget(self, who: str) -> None:
        if who in self.peers:
            self.peers.remove(who)
        self.asked.pop(who, None)

    def teardown(self) -> None:
        for who in tuple(self.peers):
            self.core.disconnected(who, self.now)
        for _ in range(3):
            self.now += 10_000
            self.core.tick(self.now)
        self.core.verify()
        statistics = self.core.statistics()
        assert {key: statistics[key] for key in HELD} == dict.fromkeys(HELD, 0)
        assert self.core.next_deadline() is None
        assert self.core.ready() == ()


BrokerMachine.TestCase.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, database=None
)
TestBroker = BrokerMachine.TestCase


class ForgetfulMachine(BrokerMachine):
    """The same, against a broker that keeps the names of who is gone."""

    def __init__(self) -> None:
        super().__init__()
        names = self.core._bus.names
        names.drop = lambda *_: None  # type: ignore[method-assign]


def test_the_machine_finds_a_name_that_is_not_given_back() -> None:
    """The gate has teeth."""
    once = settings(
        BrokerMachine.TestCase.settings, phases=(Phase.generate,), report_multiple_bugs=False
    )
    with pytest.raises(AssertionError):
        run_state_machine_as_test(ForgetfulMachine, settings=once)
