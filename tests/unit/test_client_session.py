"""The client's conversation with the broker, without I/O: what goes out, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd import bodies, wire
from brokerd.client import (
    BrokerLost,
    BusError,
    DirectedEvent,
    Event,
    Limits,
    MessageTooLarge,
    NameTaken,
    NotConnected,
    Overloaded,
    Refused,
    Reply,
    Request,
)
from brokerd.client.session import Phase, Session
from brokerd.client.slots import Slot, refusal_of

EPOCHS = ("e" * 32, "f" * 32)
ME, OTHER = "a" * 32, "b" * 32


class Broker:
    """The other side, by hand: takes what the session queued, and answers it."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def take(self) -> tuple[wire.Header, bytes]:
        """The next message that has gone out."""
        message = self.session.outbox.head()
        assert message is not None, "nothing has gone out"
        self.session.outbox.drop_head()
        return wire.decode_header(message[0], from_broker=False), message[1]

    def send(self, fields: Mapping[str, object], body: object = None) -> None:
        raw = body if isinstance(body, bytes) else bodies.encode({} if body is None else body)
        self.session.receive([wire.encode_header({"v": 1, **fields}), raw, b""])

    def answer(self, rc: int = 0, body: object = None) -> wire.Header:
        """Answer the next message that has gone out; returns its header."""
        header, _ = self.take()
        self.respond(header.id, rc, body)
        return header

    def respond(self, request_id: str | None, rc: int = 0, body: object = None) -> None:
        fields = {"type": "response", "id": request_id, "to": ME, "rc": rc, "from": wire.BROKER}
        self.send(fields, body)

    def hello(self, epoch: str = EPOCHS[0]) -> None:
        header = self.answer(0, {"broker_epoch": epoch, "connection_id": ME})
        assert header.command == "session.hello"

    def request(self, request_id: str, to: str = "svc", **more: object) -> None:
        fields = {"type": "request", "id": request_id, "to": to, "command": "svc.x", "from": OTHER}
        self.send({**fields, **more})

    def refuse(self, reason: str) -> wire.Header:
        details = {"reason": reason}
        return self.answer(10, {"error_code": "CONFLICT", "message": "no", "details": details})


class Inbox:
    """A sink of every kind."""

    def __init__(self, capacity: int = 10) -> None:
        self.capacity = capacity
        self.items: list[Request | Event | DirectedEvent] = []
        self.told: list[str] = []
        self.errors: list[BusError] = []

    def deliver(self, request: Request) -> bool:
        if len(self.items) >= self.capacity:
            return False
        self.items.append(request)
        return True

    def put(self, event: Event | DirectedEvent) -> None:
        self.items.append(event)

    put_retained = put

    def lost(self) -> None:
        self.told.append("lost")
        self.items.clear()

    def mark_gap(self) -> None:
        self.told.append("gap")

    def fail(self, error: BusError) -> None:
        self.errors.append(error)


def ignore(_outcome: object) -> None:
    """Nobody needs this answer."""


def connected(limits: Limits | None = None) -> tuple[Session, Broker]:
    session = Session(limits or Limits())
    broker = Broker(session)
    session.opened()
    broker.hello()
    return session, broker


def test_nothing_goes_out_before_hello_is_answered() -> None:
    session = Session()
    with pytest.raises(NotConnected):
        session.request("svc", "svc.x", b"", Slot())
    session.opened()
    assert session.phase is Phase.OPENING
    with pytest.raises(NotConnected):
        session.request("svc", "svc.x", b"", Slot())
    assert not session.send_event(OTHER, "svc.x", b"")
    assert len(session.outbox) == 1
    Broker(session).hello()
    assert (session.phase, session.epoch, session.connection_id) == (Phase.OPEN, EPOCHS[0], ME)
    session.request("svc", "svc.x", b"", Slot())
    assert len(session.outbox) == 1


def test_a_refused_hello_opens_nothing() -> None:
    session = Session()
    session.opened()
    Broker(session).refuse("nonsense")
    assert session.phase is Phase.OPENING


def test_each_answer_finds_its_request() -> None:
    session, broker = connected()
    slots = [Slot() for _ in range(3)]
    ids = [session.request("svc", "svc.x", b"", slot) for slot in slots]
    for request_id in reversed(ids):
        broker.respond(request_id, 0, {"id": request_id})
    bodies_seen = [slot.outcome.body for slot in slots if isinstance(slot.outcome, Reply)]
    assert bodies_seen == [{"id": request_id} for request_id in ids]
    assert session.pending == 0
    broker.respond(ids[0])
    assert session.counters["late"] == 1


def test_an_abandoned_request_leaves_nothing() -> None:
    session, broker = connected()
    slot = Slot()
    request_id = session.request("svc", "svc.x", b"", slot)
    session.abandon(request_id)
    broker.respond(request_id)
    assert (slot.outcome, session.pending, session.counters["late"]) == (None, 0, 1)


def test_own_bounds_are_typed_and_leave_nothing_behind() -> None:
    session, broker = connected(Limits(pending_per_connection=3, queue_messages=2))
    for _ in range(2):
        session.request("svc", "svc.x", b"", Slot())
    with pytest.raises(Overloaded) as full:
        session.request("svc", "svc.x", b"", Slot())
    assert (full.value.limit, session.pending) == (2, 2)
    assert not session.send_event(OTHER, "svc.x", b"")
    assert session.counters["dropped"] == 1
    broker.take()
    session.request("svc", "svc.x", b"", Slot())
    broker.take()
    with pytest.raises(Overloaded) as pending:
        session.request("svc", "svc.x", b"", Slot())
    assert pending.value.limit == 3
    with pytest.raises(MessageTooLarge):
        session.send_event(OTHER, "svc.x", b"x" * 1_048_576)


def test_bytes_in_the_queue_are_bounded() -> None:
    session, _ = connected(Limits(queue_bytes=1_000))
    session.request("svc", "svc.x", b"x" * 900, Slot())
    with pytest.raises(Overloaded):
        session.request("svc", "svc.x", b"x" * 900, Slot())
    assert session.outbox.size < 1_100


class KeepsItsQueue(Session):
    """A deliberate mistake: what was queued for the old broker goes to the next one."""

    def opened(self) -> None:
        kept = session_messages(self)
        super().opened()
        for header, body in kept:
            self.outbox.put(header, body)

    def lost(self) -> None:
        kept = session_messages(self)
        super().lost()
        for header, body in kept:
            self.outbox.put(header, body)


def session_messages(session: Session) -> list[tuple[bytes, bytes]]:
    kept = []
    while (message := session.outbox.head()) is not None:
        kept.append(message)
        session.outbox.drop_head()
    return kept


def replays_after_loss(session: Session) -> bool:
    """Whether anything but hello reaches the next broker."""
    session.opened()
    Broker(session).hello()
    session.request("svc", "svc.x", b"old", Slot())
    session.lost()
    session.opened()
    Broker(session).hello(EPOCHS[1])
    return len(session.outbox) > 0


def test_nothing_of_an_old_epoch_reaches_the_next_broker() -> None:
    assert not replays_after_loss(Session())
    assert replays_after_loss(KeepsItsQueue())  # the check can fail


def test_a_lost_broker_fails_all_that_is_pending() -> None:
    session, broker = connected()
    slots = [Slot() for _ in range(5)]
    ids = [session.request("svc", "svc.x", b"", slot) for slot in slots]
    session.lost()
    for slot in slots:
        assert isinstance(slot.outcome, BrokerLost)
        assert slot.outcome.epoch == EPOCHS[0]
    assert (session.pending, session.phase) == (0, Phase.DOWN)
    session.opened()
    broker.hello(EPOCHS[1])
    broker.respond(ids[0])
    assert isinstance(slots[0].outcome, BrokerLost)


def test_a_request_of_an_old_epoch_cannot_be_answered() -> None:
    session, broker = connected()
    inbox = Inbox()
    session.names.serve("svc", inbox, ignore)
    broker.answer()
    broker.request("1")
    (request,) = inbox.items
    assert isinstance(request, Request)
    session.lost()
    assert inbox.told == ["lost"]
    session.opened()
    broker.hello(EPOCHS[1])
    broker.answer()
    assert not request.respond(0, {})
    assert len(session.outbox) == 0


def test_names_and_subscriptions_are_made_again() -> None:
    session, broker = connected()
    session.names.serve("svc", Inbox(), ignore)
    session.subscriptions.follow_topic("news", Inbox(), ignore)
    session.subscriptions.follow_service("other", Inbox(), ignore)
    asked = [broker.take() for _ in range(3)]
    session.lost()
    session.opened()
    broker.hello(EPOCHS[1])
    again = [broker.take() for _ in range(3)]
    assert [(header.command, body) for header, body in again] == [
        (header.command, body) for header, body in asked
    ]


def test_a_name_taken_under_the_next_broker_ends_its_sink() -> None:
    session, broker = connected()
    inbox = Inbox()
    session.names.serve("svc", inbox, ignore)
    broker.answer()
    session.lost()
    session.opened()
    broker.hello(EPOCHS[1])
    broker.refuse("name_in_use")
    (error,) = inbox.errors
    assert isinstance(error, NameTaken)
    assert session.names.list() == []
    successor = Inbox()
    session.names.serve("svc", successor, ignore)
    session.names.stop("svc", inbox)
    assert session.names.list() == ["svc"]


def test_a_broker_that_goes_again_is_no_refusal() -> None:
    session, broker = connected()
    inbox = Inbox()
    session.names.serve("svc", inbox, ignore)
    broker.answer()
    for epoch in EPOCHS:
        session.lost()
        session.opened()
        broker.hello(epoch)
    assert inbox.errors == []
    assert session.names.list() == ["svc"]


def test_a_full_or_missing_sink_answers_at_once() -> None:
    session, broker = connected()
    session.names.serve("svc", Inbox(capacity=1), ignore)
    broker.answer()
    for number in range(2):
        broker.request(str(number))
    broker.request("9", to="gone.node")
    refused, gone = broker.take(), broker.take()
    assert (refused[0].id, refused[0].rc, refused[0].to) == ("1", 10, OTHER)
    assert bodies.decode_object(refused[1])["details"] == {
        "reason": "service_queue_full",
        "limit": 1,
    }
    assert (gone[0].id, gone[0].rc) == ("9", 20)


def test_a_gap_is_told_to_every_stream() -> None:
    session, broker = connected()
    topic, service = Inbox(), Inbox()
    session.subscriptions.follow_topic("news", topic, ignore)
    session.subscriptions.follow_service("svc", service, ignore)
    event = {"type": "event", "command": "svc.x", "from": OTHER, "recipient_connection": ME}
    broker.send({**event, "gap": True}, {"n": 1})
    assert (topic.told, service.told) == (["gap"], ["gap"])
    (arrived,) = service.items
    assert isinstance(arrived, DirectedEvent)
    assert session.counters["gaps"] == 1


def test_topic_values_of_any_kind_arrive() -> None:
    session, broker = connected()
    inbox = Inbox()
    session.subscriptions.follow_topic("news", inbox, ignore)
    broker.answer(0, {"topic": "news", "seq": 0, "value": None, "stale": False})
    topic = {"type": "event", "command": "broker.topic", "from": wire.BROKER, "topic": "news"}
    for seq, raw in enumerate((b"null", b"[1,2]", b'"x"', b'{"a":1}'), start=1):
        broker.send({**topic, "seq": seq}, raw)
    for raw in (b"", b"{", b'1,"value":2', b'1},{"x":2', b'1,"x":2'):
        broker.send({**topic, "seq": 9}, raw)
    values = [event.value for event in inbox.items if isinstance(event, Event)]
    assert values == [None, [1, 2], "x", {"a": 1}]
    assert session.counters["malformed"] == 5


def test_refusals_are_typed() -> None:
    session, broker = connected()
    slot = Slot()
    session.request("svc", "svc.x", b"", slot)
    broker.answer(10, b"not json")
    assert isinstance(slot.outcome, Reply)
    assert slot.outcome.error is not None
    assert (slot.outcome.error.code, slot.outcome.body) == ("", None)
    registered = Slot()
    session.names.serve("svc", Inbox(), registered.complete)
    broker.refuse("something_else")
    assert registered.outcome is not None
    assert isinstance(refusal_of(registered.outcome), Refused)


@given(st.lists(st.binary(max_size=64), max_size=5))
def test_no_message_makes_the_session_raise(frames: list[bytes]) -> None:
    session, _ = connected()
    session.receive(frames)
    assert session.counters["malformed"] == 1


HEADERS = st.fixed_dictionaries(
    {
        "v": st.just(1),
        "type": st.sampled_from(["request", "response", "event"]),
        "from": st.sampled_from([OTHER, wire.BROKER]),
    },
    optional={
        "id": st.sampled_from(["1", "2", "x"]),
        "to": st.sampled_from(["svc", "svc.node", ME]),
        "command": st.sampled_from(["svc.x", "broker.topic"]),
        "rc": st.sampled_from([0, 5, 10, 20]),
        "topic": st.sampled_from(["news", "other"]),
        "seq": st.integers(0, 5),
        "gap": st.just(True),
        "recipient_connection": st.just(ME),
    },
)


@given(st.lists(st.tuples(HEADERS, st.binary(max_size=16)), max_size=12))
def test_no_well_formed_nonsense_makes_the_session_raise(
    messages: list[tuple[dict[str, object], bytes]],
) -> None:
    session, _ = connected()
    session.names.serve("svc", Inbox(), ignore)
    session.subscriptions.follow_topic("news", Inbox(), ignore)
    for header, body in messages:
        session.receive([wire.encode_header(header), body, b"stamp"])
    assert session.phase is Phase.OPEN
