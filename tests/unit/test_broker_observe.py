"""Observing a service: metadata only, for the broker's own user, within its bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from brokerd import bodies
from brokerd.core import observe
from brokerd.core.observe import Observer, Observers, Sight
from brokerd.limits import DEFAULTS
from tests.support.core_world import SessionWorld

MARK = b"canary-5f3a"
CANARY = b'{"text":"%b"}' % MARK
FIELDS = {
    "seq",
    "time_ms",
    "direction",
    "outcome",
    "from",
    "to",
    "command",
    "type",
    "id",
    "size",
    "rc",
    "payload",
    "payload_omitted",
}
ECHO = frozenset({"echo"})
FORBIDDEN = {"error_code": "FORBIDDEN", "message": "forbidden", "details": {}}


class Watched(SessionWorld):
    """A service ``echo``, and somebody who observes it."""

    def __init__(self) -> None:
        super().__init__(observable=ECHO)
        self.service, self.watcher = self.connect(), self.connect()
        self.verb(self.service, "broker.register", {"name": "echo"})
        self.observe_id = self.start()

    def start(self, **more: object) -> str:
        answer = self.verb(self.watcher, "broker.observe.start", {"service": "echo", **more})
        return str(answer["observe_id"])

    def seen(self, **more: object) -> list[dict[str, Any]]:
        body = {"observe_id": self.observe_id, **more}
        events: Any = self.verb(self.watcher, "broker.observe.read", body)["events"]
        return list(events)

    def exchange(self, who: str, body: bytes = b"{}") -> None:
        self.ask(who, "echo", body)
        self.send(self.service, body, type="response", id="r", to=who, rc=5)
        self.hear(self.service)
        self.core.take(who)


def all_kinds(world: Watched) -> None:
    """Every way in which a body can go to and from the service."""
    client = world.connect()
    world.verb(client, "broker.subscribe", {"service": "echo"})
    world.exchange(client, CANARY)
    world.ask(client, "echo", CANARY)
    world.ask(client, "echo", CANARY)  # refused: the id is in use
    world.send(world.service, CANARY, type="event", command="e.v", recipient_connection=client)
    bound = world.term()
    world.ask(bound.at, "echo", CANARY, command="session.list")
    world.send(bound.at, CANARY, type="event", command="e.v", recipient_connection=world.service)
    world.core.disconnected(world.service, world.now)
    world.ask(client, "echo", CANARY, id="late")


def test_a_request_and_its_response_are_seen_from_outside() -> None:
    world = Watched()
    client = world.connect()
    world.exchange(client)
    request, response = world.seen()
    assert request == {
        "seq": 1,
        "time_ms": world.now,
        "direction": "in",
        "outcome": "delivered",
        "from": client,
        "to": "echo",
        "command": "x.y",
        "type": "request",
        "id": "r",
        "size": 2,
        "rc": None,
        "payload": None,
        "payload_omitted": "metadata_only",
    }
    assert (response["direction"], response["type"], response["rc"]) == ("out", "response", 5)
    assert (response["from"], response["to"], response["command"]) == (world.service, client, "x.y")


def no_body_is_ever_seen(world: Watched) -> None:
    all_kinds(world)
    world.ask(
        world.watcher, "brokerd", {"observe_id": world.observe_id}, command="broker.observe.read"
    )
    raw = world.take(world.watcher)[1]
    assert MARK not in raw
    events: Any = bodies.decode_object(raw)["events"]
    assert len(events) == 9
    assert all(set(event) == FIELDS and event["payload"] is None for event in events)


def test_no_body_is_ever_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    no_body_is_ever_seen(Watched())
    # The gate has teeth: an observer that is told one body is found out.
    encode = Sight.encode
    leak = b'"payload":"%b"' % MARK
    monkeypatch.setattr(
        Sight, "encode", lambda *args: encode(*args).replace(b'"payload":null', leak)
    )
    with pytest.raises(AssertionError):
        no_body_is_ever_seen(Watched())


def test_every_kind_of_outcome_is_seen() -> None:
    world = Watched()
    all_kinds(world)
    told = [(each["type"], each["outcome"], each["rc"]) for each in world.seen()]
    assert told == [
        ("request", "delivered", None),
        ("response", "delivered", 5),
        ("request", "delivered", None),
        ("request", "refused", 10),
        ("event", "delivered", None),
        ("request", "delivered", None),
        ("response", "delivered", 20),
        ("response", "delivered", 20),
        ("request", "refused", 20),
    ]


def what_is_of_a_record_says_so(world: Watched) -> None:
    bound, client = world.term(), world.connect()
    for who in (bound.at, client):
        world.exchange(who)
    world.ask(client, "echo", command="session.list")
    marks = [each["payload_omitted"] for each in world.seen()]
    assert marks == [
        "native_session_protected",
        "native_session_protected",
        "metadata_only",
        "metadata_only",
        "native_session_protected",
    ]


def test_what_is_of_a_record_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    what_is_of_a_record_says_so(Watched())
    monkeypatch.setattr("brokerd.core.routing.protected", lambda *_: False)
    with pytest.raises(AssertionError):
        what_is_of_a_record_says_so(Watched())


def test_only_the_brokers_user_observes_and_only_what_may_be_observed() -> None:
    world = Watched()
    body = {"service": "echo"}
    for uid in (0, 8):
        assert world.verb(world.connect(uid=uid), "broker.observe.start", body) == FORBIDDEN
    assert world.verb(world.connect_node(), "broker.observe.start", body) == FORBIDDEN
    for service in ("other", "t7-" + "a" * 22):
        answer = world.verb(world.connect(), "broker.observe.start", {"service": service})
        assert answer == FORBIDDEN
    plain = SessionWorld()
    assert plain.verb(plain.connect(), "broker.observe.start", body) == FORBIDDEN


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("service", "brokerd"),
        ("service", 1),
        ("verbs", []),
        ("verbs", "x"),
        ("verbs", [1]),
        ("verbs", ["x"] * 33),
        ("verbs", ["x" * 129]),
        ("verbs", ["\u00e9" * 65]),
        ("verbs", None),
        ("ring", 63),
        ("ring", 4_097),
        ("ring", True),
        ("ring", "64"),
    ],
)
def test_bad_arguments_are_refused_by_their_field(field: str, value: object) -> None:
    world = Watched()
    body = {"service": "echo", field: value}
    answer: Any = world.verb(world.watcher, "broker.observe.start", body)
    assert (answer["error_code"], answer["details"]["field"]) == ("INVALID_ARGUMENT", field)


@pytest.mark.parametrize("more", [{"verbs": ["x" * 128] * 32}, {"ring": 64}, {"ring": 4_096}])
def test_arguments_at_their_bounds_are_good(more: dict[str, object]) -> None:
    assert len(Watched().start(**more)) == 32


@pytest.mark.parametrize(
    ("globs", "expected"),
    [(["x.*"], 2), (["x.z", "x.y"], 2), (["X.*"], 0), (["?.[xy]"], 2), (["x"], 0)],
)
def test_patterns_choose_commands(globs: list[str], expected: int) -> None:
    world = Watched()
    world.observe_id = world.start(verbs=globs)
    world.exchange(world.connect())
    assert len(world.seen()) == expected


def test_the_ring_keeps_the_newest_and_says_how_many_went() -> None:
    world = Watched()
    world.observe_id = world.start(ring=64)
    client = world.connect()
    for _ in range(40):
        world.exchange(client)
    answer: Any = world.verb(
        world.watcher, "broker.observe.read", {"observe_id": world.observe_id, "after": 79}
    )
    assert ([each["seq"] for each in answer["events"]], answer["dropped"]) == ([80], 16)
    assert [each["seq"] for each in world.seen()] == list(range(17, 81))


def test_the_ring_is_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observe, "MAX_RING_BYTES", 1_000)
    world = Watched()
    for _ in range(5):
        world.exchange(world.connect())
    observer = world.core._bus.observers.get(
        world.observe_id, next(world.core._bus.observers.holders().__iter__())
    )
    assert observer.bytes <= 1_000
    assert observer.dropped > 0


def test_a_long_answer_is_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observe, "MAX_READ_BYTES", 1_000)
    world = Watched()
    for _ in range(5):
        world.exchange(world.connect())
    got: list[int] = []
    while events := world.seen(after=got[-1] if got else 0):
        got += [each["seq"] for each in events]
    assert got == list(range(1, 11))


def test_observers_are_bounded() -> None:
    world = Watched()
    for _ in range(3):
        world.start()
    answer: Any = world.verb(world.watcher, "broker.observe.start", {"service": "echo"})
    assert answer["details"] == {"reason": "observers_per_connection", "limit": 4}
    small = SessionWorld(replace(DEFAULTS, observers=1), ECHO)
    small.verb(small.connect(), "broker.observe.start", {"service": "echo"})
    answer = small.verb(small.connect(), "broker.observe.start", {"service": "echo"})
    assert answer["details"] == {"reason": "observers", "limit": 1}


@pytest.mark.parametrize("verb", ["read", "stop"])
def test_an_observer_belongs_to_its_connection(verb: str) -> None:
    world = Watched()
    body = {"observe_id": world.observe_id}
    assert world.verb(world.connect(), f"broker.observe.{verb}", body)["error_code"] == "NOT_FOUND"
    assert "error_code" not in world.verb(world.watcher, f"broker.observe.{verb}", body)


@pytest.mark.parametrize("after", [-1, True, "0", None, 1.0])
def test_a_bad_place_to_read_from_is_refused(after: object) -> None:
    world = Watched()
    body = {"observe_id": world.observe_id, "after": after}
    answer: Any = world.verb(world.watcher, "broker.observe.read", body)
    assert answer["details"] == {"field": "after"}


def stopped(world: Watched) -> None:
    world.verb(world.watcher, "broker.observe.stop", {"observe_id": world.observe_id})


def gone(world: Watched) -> None:
    world.core.disconnected(world.watcher, world.now)


def left(world: Watched) -> None:
    world.verb(world.watcher, "broker.bye")


@pytest.mark.parametrize("end", [stopped, gone, left])
def test_an_observer_ends_with_its_connection(
    end: Callable[[Watched], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    world = Watched()
    assert world.core.statistics()["observers"] == 1
    end(world)
    world.core.verify()
    assert world.core.statistics()["observers"] == 0
    assert world.core._bus.observers.watching == {}


def test_an_observer_that_outlives_its_connection_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = Watched()
    monkeypatch.setattr(Observers, "drop", lambda *_: None)
    gone(world)
    with pytest.raises(AssertionError, match="observer"):
        world.core.verify()


def test_nothing_is_made_when_nobody_observes(monkeypatch: pytest.MonkeyPatch) -> None:
    world = Watched()
    stopped(world)

    def fail(*_args: object, **_more: object) -> None:
        raise AssertionError("a sight without an observer")

    monkeypatch.setattr("brokerd.core.sightings.Sight", fail)
    all_kinds(world)
    world.start()
    with pytest.raises(AssertionError, match="without an observer"):
        world.ask(world.connect(), "echo")


def test_an_observer_holds_bytes_and_counts_them() -> None:
    observer = Observer("echo", ("*",), 64)
    sight = Sight(
        direction="in",
        outcome="delivered",
        from_="a",
        to="echo",
        command="x.y",
        type="request",
        size=1,
        protected=False,
    )
    for _ in range(100):
        observer.see(sight, 5)
    events: Any = bodies.decode_object(observer.read(0))["events"]
    assert observer.bytes == sum(len(bodies.encode(event)) for event in events)
