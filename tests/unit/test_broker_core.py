"""The core by itself: verbs, routing, queues and departures, with a clock that we move."""

from __future__ import annotations

import copy
import json
import tomllib
from pathlib import Path

import pytest

from brokerd import __version__
from brokerd.core.verbs import VERBS
from brokerd.errors import Refusal
from brokerd.limits import DEFAULTS, MAX_MESSAGE_BYTES, Limits
from brokerd.principal import Principal
from brokerd.wire import encode_header
from tests.support.core_world import World


def limited(limit: str, value: int) -> Limits:
    limits = copy.copy(DEFAULTS)
    object.__setattr__(limits, limit, value)  # frozen; this copy is ours
    return limits


@pytest.fixture
def world() -> World:
    return World()


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert project["project"]["version"] == __version__


def test_hello_says_who_and_where(world: World) -> None:
    a = world.connect()
    assert world.verb(a, "session.hello") == {
        "broker_epoch": "e" * 32,
        "connection_id": a,
        "node": "here",
        "uid": 7,
    }


def test_a_request_and_its_response_go_through_untouched(world: World) -> None:
    client, server = world.connect(pid=5), world.connect(pid=6)
    world.verb(server, "broker.register", {"name": "echo"})
    world.ask(client, "echo.here", b"\x00\xff", GAP=True, Topic="x")
    header, body, stamp = world.take(server)
    assert (header.from_, header.to, body) == (client, "echo.here", b"\x00\xff")
    assert header.gap is None
    principal = Principal.from_stamp(stamp)
    assert principal is not None
    assert (principal.connection_id, principal.peer_pid) == (client, 5)
    world.send(server, b"\xfe", type="response", id="r", to=client, rc=5)
    header, body, stamp = world.take(client)
    assert (header.from_, header.rc, header.id, body) == (server, 5, "r", b"\xfe")
    assert world.core.statistics()["pending"] == 0


def test_only_who_was_asked_may_answer_and_only_once(world: World) -> None:
    client, server, thief = world.connect(), world.connect(), world.connect()
    world.verb(server, "broker.register", {"name": "echo"})
    world.ask(client, "echo")
    for who in (thief, client, server, server):
        world.send(who, type="response", id="r", to=client, rc=0)
    assert world.take(client)[0].from_ == server
    assert world.core.take(client) is None
    assert world.core.statistics()["unexpected_response"] == 3


def test_nobody_serves_that_name(world: World) -> None:
    a = world.connect()
    world.ask(a, "nobody")
    assert world.reason(a) == (20, "UNAVAILABLE", "not_registered")
    world.verb(a, "broker.register", {"name": "nobody"})
    world.ask(a, "nobody.elsewhere")
    assert world.reason(a) == (20, "UNAVAILABLE", "not_registered")


@pytest.mark.parametrize("how", ["peer_gone", "bye", "deregistered", "pending_expired"])
def test_a_holder_that_goes_is_told_at_once(how: str) -> None:
    world = World(Limits(pending_ms=5_000))
    client, server = world.connect(), world.connect()
    world.verb(server, "broker.register", {"name": "echo"})
    world.ask(client, "echo")
    world.take(server)
    if how == "peer_gone":
        world.core.disconnected(server, world.now)
    elif how == "bye":
        world.verb(server, "broker.bye")
    elif how == "deregistered":
        world.verb(server, "broker.deregister", {"name": "echo"})
    else:
        world.later(4_999)
        assert world.core.take(client) is None
        world.later(1)
    expected = "peer_gone" if how == "bye" else how
    assert world.reason(client) == (20, "UNAVAILABLE", expected)
    world.send(server, type="response", id="r", to=client, rc=0)
    assert world.core.take(client) is None
    world.core.verify()


def test_a_reply_slot_dies_with_its_requester(world: World) -> None:
    client, server = world.connect(), world.connect()
    world.verb(server, "broker.register", {"name": "echo"})
    world.ask(client, "echo")
    world.core.disconnected(client, world.now)
    world.core.verify()
    world.send(server, type="response", id="r", to=client, rc=0)
    assert world.core.statistics()["pending"] == 0
    assert world.core.statistics()["unexpected_response"] == 1


def test_an_id_that_is_pending_is_in_use(world: World) -> None:
    client, server = world.connect(), world.connect()
    world.verb(server, "broker.register", {"name": "echo"})
    world.ask(client, "echo")
    world.ask(client, "echo")
    assert world.reason(client) == (10, "CONFLICT", "id_in_use")
    world.ask(server, "echo")  # the same id of another connection is another request
    assert world.core.statistics()["pending"] == 2


def test_a_name_is_never_taken_over(world: World) -> None:
    a, b = world.connect(), world.connect()
    assert world.verb(a, "broker.register", {"name": "svc"}) == {"name": "svc"}
    assert world.verb(a, "broker.register", {"name": "svc"}) == {"name": "svc"}
    refusal = world.verb(b, "broker.register", {"name": "svc"})
    assert (refusal["error_code"], refusal["details"]) == ("CONFLICT", {"reason": "name_in_use"})
    assert world.verb(b, "broker.deregister", {"name": "svc"})["error_code"] == "NOT_FOUND"
    world.core.disconnected(a, world.now)
    assert world.verb(b, "broker.register", {"name": "svc"}) == {"name": "svc"}
    assert world.verb(b, "broker.list")["names"] == [
        {"name": "svc", "connection_id": b, "uid": 7, "pid": 100}
    ]


@pytest.mark.parametrize(
    ("command", "body", "field"),
    [
        ("broker.register", {"name": "brokerd"}, "name"),
        ("broker.register", {"name": "x"}, "name"),
        ("broker.register", {"name": "svc\n"}, "name"),
        ("broker.register", {"name": 1}, "name"),
        ("broker.register", {}, "name"),
        ("broker.register", {"name": "svc", "force": True}, "body"),
        ("broker.register", b"", "body"),
        ("broker.register", b"[]", "body"),
        ("broker.register", b'{"name":"aa","name":"bb"}', "body"),
        ("broker.subscribe", {}, "body"),
        ("broker.subscribe", {"topic": "t", "service": "svc"}, "body"),
        ("broker.subscribe", {"topic": "T"}, "topic"),
        ("broker.publish", {"topic": "t"}, "value"),
        ("broker.publish", b'{"topic":"t","value":NaN}', "body"),
        ("broker.ping", {"x": 1}, "body"),
        ("broker.connected", {}, "connection_ids"),
        ("broker.connected", {"connection_ids": "a" * 32}, "connection_ids"),
        ("broker.connected", {"connection_ids": []}, "connection_ids"),
        ("broker.connected", {"connection_ids": ["a" * 32] * 129}, "connection_ids"),
        ("broker.connected", {"connection_ids": ["A" * 32]}, "connection_ids"),
        ("broker.connected", {"connection_ids": ["a" * 32, 1]}, "connection_ids"),
    ],
)
def test_a_wrong_body_is_refused_by_its_field(
    world: World, command: str, body: object, field: str
) -> None:
    a = world.connect()
    world.ask(a, "brokerd", body or (b"{}" if body == {} else b""), command=command)
    header, raw, _ = world.take(a)
    answer = json.loads(raw)
    assert (header.rc, answer["error_code"]) == (10, "INVALID_ARGUMENT")
    assert answer["details"]["field"] == field


def test_who_is_connected_is_told_whoever_it_is() -> None:
    world = World(Limits(hello_ms=1_000))
    a, b, silent = world.connect(), world.connect(uid=8), world.connect()
    for one in (a, b):
        world.verb(one, "broker.ping")
    ids = [silent, "f" * 32, b, a, b]
    assert world.verb(a, "broker.connected", {"connection_ids": ids}) == {
        "connected": [silent, b, a, b]
    }
    world.later(2_000)
    assert world.verb(a, "broker.connected", {"connection_ids": [silent]})["connected"] == [silent]
    world.core.disconnected(b, world.now)
    many = [b, a] * 64
    assert world.verb(a, "broker.connected", {"connection_ids": many})["connected"] == [a] * 64


def test_what_one_that_is_gone_had_sent_comes_before_the_answer_that_it_is_gone(
    world: World,
) -> None:
    server, caller = world.connect(), world.connect()
    world.verb(server, "broker.register", {"name": "echo"})
    world.ask(caller, "echo")
    world.core.disconnected(caller, world.now)
    world.ask(server, "brokerd", {"connection_ids": [caller]}, command="broker.connected")
    assert world.take(server)[0].from_ == caller
    header, body, _ = world.take(server)
    assert (header.from_, json.loads(body)) == ("brokerd", {"connected": []})


def test_an_unknown_verb_lists_those_there_are(world: World) -> None:
    a = world.connect()
    answer = world.verb(a, "broker.no")
    assert answer["error_code"] == "UNSUPPORTED"
    assert all(verb in str(answer["message"]) for verb in VERBS)


def test_a_verb_body_is_at_most_8192_bytes_but_for_publish(world: World) -> None:
    a = world.connect()
    assert world.verb(a, "broker.ping", b"{}" + b" " * 8_190) == {"pong": True}
    assert world.verb(a, "broker.ping", b"{}" + b" " * 8_191)["error_code"] == "RESOURCE_LIMIT"
    large = {"topic": "t", "value": "x" * 1_000_000}
    assert world.verb(a, "broker.publish", large)["seq"] == 1
    assert (
        world.verb(a, "broker.publish", b" " * MAX_MESSAGE_BYTES)["error_code"] == "RESOURCE_LIMIT"
    )


def test_the_largest_topic_value_fits_the_answer_to_subscribe(world: World) -> None:
    a = world.connect()
    room = MAX_MESSAGE_BYTES - 256 - 2
    assert world.verb(a, "broker.publish", {"topic": "t" * 64, "value": "x" * room})["seq"] == 1
    world.ask(a, "brokerd", {"topic": "t" * 64}, command="broker.subscribe")
    assert len(world.take(a)[1]) <= MAX_MESSAGE_BYTES


def test_a_topic_is_its_latest_value(world: World) -> None:
    a, b = world.connect(), world.connect()
    assert world.verb(b, "broker.subscribe", {"topic": "t"}) == {
        "topic": "t",
        "seq": 0,
        "value": None,
        "stale": False,
    }
    for value in (1, 2, 3):
        answer = world.verb(a, "broker.publish", {"topic": "t", "value": [value]})
        assert (answer["seq"], answer["delivered"], answer["dropped"]) == (value, 1, 0)
    header, body, stamp = world.take(b)
    assert (header.command, header.topic, header.seq) == ("broker.topic", "t", 3)
    assert (body, stamp, header.gap) == (b"[3]", b"", None)
    assert world.core.take(b) is None
    assert world.verb(b, "broker.unsubscribe", {"topic": "t"}) == {"topic": "t"}
    assert world.verb(b, "broker.unsubscribe", {"topic": "t"})["error_code"] == "NOT_FOUND"
    assert world.verb(a, "broker.publish", {"topic": "t", "value": 4})["delivered"] == 0


def test_a_topic_is_stale_then_gone_and_its_numbers_never_go_back() -> None:
    world = World(Limits(topic_grace_ms=60_000))
    a, b, other = world.connect(), world.connect(), world.connect(uid=0)
    world.verb(b, "session.hello")
    world.verb(other, "session.hello")
    world.verb(a, "broker.publish", {"topic": "t", "value": 1})
    mine = {"topic": "t", "value": 2}
    assert world.verb(other, "broker.publish", mine)["details"] == {"reason": "topic_in_use"}
    world.core.disconnected(a, world.now)
    assert world.verb(b, "broker.subscribe", {"topic": "t"})["stale"] is True
    assert world.verb(other, "broker.publish", mine)["details"] == {"reason": "topic_in_use"}
    world.later(59_999)
    assert world.verb(b, "broker.subscribe", {"topic": "t"})["seq"] == 1
    world.later(1)
    assert world.verb(b, "broker.subscribe", {"topic": "t"})["seq"] == 0
    assert world.verb(other, "broker.publish", mine)["seq"] == 2


def test_connections_of_one_user_share_a_topic_and_the_last_publisher_counts(world: World) -> None:
    a, b = world.connect(), world.connect()
    world.verb(a, "session.hello")
    assert world.verb(a, "broker.publish", {"topic": "t", "value": 1})["seq"] == 1
    assert world.verb(b, "broker.publish", {"topic": "t", "value": 2})["seq"] == 2
    world.core.disconnected(a, world.now)
    assert world.verb(b, "broker.subscribe", {"topic": "t"})["stale"] is False
    world.core.verify()


def test_a_value_that_is_refused_leaves_the_topic_to_its_owner() -> None:
    world = World(Limits(topic_bytes_per_uid=10))
    a, b = world.connect(), world.connect()
    world.verb(a, "broker.publish", {"topic": "t", "value": 1})
    refused = world.verb(b, "broker.publish", {"topic": "t", "value": "x" * 20})
    assert refused["error_code"] == "RESOURCE_LIMIT"
    world.core.verify()


def test_a_directed_event_needs_a_name_a_subscription_and_one_uid(world: World) -> None:
    service, client, foreign = world.connect(), world.connect(), world.connect(uid=8)

    def arrives(at: str) -> bool:
        world.send(service, type="event", command="e.v", recipient_connection=at)
        return world.core.take(at) is not None

    world.verb(client, "broker.subscribe", {"service": "term"})
    world.verb(foreign, "broker.subscribe", {"service": "term"})
    assert not arrives(client)
    world.verb(service, "broker.register", {"name": "term"})
    assert arrives(client)
    assert not arrives(foreign)
    assert not arrives("f" * 32)
    world.verb(client, "broker.unsubscribe", {"service": "term"})
    assert not arrives(client)
    assert world.core.statistics()["unroutable_event"] == 4


def test_a_full_queue_refuses_requests_and_marks_the_gap() -> None:
    world = World(Limits(queue_messages=2))
    client, slow = world.connect(), world.connect()
    world.verb(slow, "broker.register", {"name": "slow"})
    world.verb(slow, "broker.subscribe", {"topic": "t"})
    for number in range(3):
        world.ask(client, "slow", id=f"r{number}")
    assert world.reason(client) == (10, "RESOURCE_LIMIT", "recipient_queue_full")
    answer = world.verb(client, "broker.publish", {"topic": "t", "value": 1})
    assert (answer["delivered"], answer["dropped"]) == (0, 1)
    assert [world.take(slow)[0].gap for _ in range(2)] == [True, None]
    assert world.core.take(slow) is None


def test_what_could_not_be_sent_keeps_its_place_and_its_gap() -> None:
    world = World(Limits(queue_messages=1))
    a = world.connect()
    world.ask(a, "brokerd", id="r1", command="broker.ping")
    world.ask(a, "brokerd", id="r2", command="broker.ping")
    frames = world.core.take(a)
    assert frames is not None
    world.core.unsent(a, frames)
    world.core.verify()
    header = world.take(a)[0]
    assert (header.id, header.gap) == ("r1", True)


def test_what_cannot_be_sent_again_and_again_says_its_gap_once() -> None:
    """A recipient that stands still, while more and more is dropped."""
    world = World(Limits(queue_messages=1))
    a = world.connect()
    world.ask(a, "brokerd", id="first", command="broker.ping")
    for number in range(300):
        world.ask(a, "brokerd", id=f"r{number}", command="broker.ping")
        frames = world.core.take(a)
        assert frames is not None
        world.core.unsent(a, frames)
    world.core.verify()
    header = world.take(a)[0]
    assert (header.id, header.gap) == ("first", True)


@pytest.mark.parametrize(
    ("limit", "command", "bodies"),
    [
        ("names_per_connection", "broker.register", [{"name": "aa"}, {"name": "bb"}]),
        ("names_per_uid", "broker.register", [{"name": "aa"}, {"name": "bb"}]),
        (
            "subscriptions_per_connection",
            "broker.subscribe",
            [{"topic": "a"}, {"service": "aa"}],
        ),
        (
            "topics_per_uid",
            "broker.publish",
            [{"topic": "a", "value": 1}, {"topic": "b", "value": 1}],
        ),
        (
            "topic_bytes_per_uid",
            "broker.publish",
            [{"topic": "a", "value": 1}, {"topic": "a", "value": 12}],
        ),
    ],
)
def test_every_quota_is_named_when_it_is_reached(
    limit: str, command: str, bodies: list[dict[str, object]]
) -> None:
    world = World(limited(limit, 1))
    a = world.connect()
    assert "error_code" not in world.verb(a, command, bodies[0])
    refusal = world.verb(a, command, bodies[1])
    assert refusal["error_code"] == "RESOURCE_LIMIT"
    assert refusal["details"] == {"reason": limit, "limit": 1}


@pytest.mark.parametrize("limit", ["pending_per_connection", "pending_per_recipient"])
def test_pending_requests_are_bounded(limit: str) -> None:
    world = World(limited(limit, 1))
    client, server = world.connect(), world.connect()
    world.verb(server, "broker.register", {"name": "echo"})
    world.ask(client, "echo", id="r1")
    world.ask(client, "echo", id="r2")
    assert world.reason(client) == (10, "RESOURCE_LIMIT", limit)


def test_connections_per_uid_are_bounded_and_given_back() -> None:
    world = World(Limits(connections_per_uid=1))
    a = world.connect()
    with pytest.raises(Refusal) as caught:
        world.connect()
    assert caught.value.details == {"reason": "connections_per_uid", "limit": 1}
    world.connect(uid=8)
    world.core.disconnected(a, world.now)
    world.connect()


def test_a_silent_connection_holds_no_slot_but_may_still_speak() -> None:
    world = World(Limits(connections_per_uid=1, hello_ms=10_000))
    silent = world.connect()
    world.core.receive(silent, [b"garbage", b""], world.now)
    world.later(10_000)
    second = world.connect()
    world.verb(second, "session.hello")
    world.ask(silent, "brokerd", command="session.hello")
    assert world.core.take(silent) is None  # there is no slot for it now
    world.core.disconnected(second, world.now)
    assert world.verb(silent, "session.hello")["connection_id"] == silent
    world.later(20_000)
    assert world.core.statistics()["connections"] == 1


def test_the_longest_silent_are_forgotten_when_there_are_too_many() -> None:
    world = World(Limits(connections_per_uid=1, hello_ms=10))
    first = world.connect()
    world.later(10)
    world.connect()
    world.later(10)
    assert world.core.closed() == (first,)
    assert world.core.closed() == ()


def test_bye_is_answered_and_then_closes(world: World) -> None:
    a = world.connect()
    world.verb(a, "broker.register", {"name": "svc"})
    world.verb(a, "broker.publish", {"topic": "t", "value": 1})
    assert world.verb(a, "broker.bye") == {}
    assert world.core.statistics()["names"] == 0
    world.ask(a, "brokerd", command="broker.ping")
    assert world.core.take(a) is None
    assert world.core.closed() == (a,)
    assert world.core.statistics()["connections"] == 0


def test_bye_does_not_wait_for_ever_for_a_peer_that_reads_nothing(world: World) -> None:
    a = world.connect()
    world.ask(a, "brokerd", command="broker.bye")
    world.later(999)
    assert world.core.closed() == ()
    world.later(1)
    assert world.core.closed() == (a,)
    assert world.core.statistics()["queued_messages"] == 0


@pytest.mark.parametrize(
    "frames", [[], [b""], [b"", b""], [b"\x80", b"", b""], [b"\xff" * 5_000, b""]]
)
def test_what_is_no_message_is_dropped_and_counted(world: World, frames: list[bytes]) -> None:
    a = world.connect()
    world.core.receive(a, frames, world.now)
    assert world.core.take(a) is None
    assert world.core.statistics()["malformed"] == 1
    assert world.verb(a, "broker.ping") == {"pong": True}


def test_a_bad_header_with_an_id_is_answered(world: World) -> None:
    a = world.connect()
    world.ask(a, "brokerd", unknown=1)
    header, raw, _ = world.take(a)
    assert (header.id, header.rc, json.loads(raw)["error_code"]) == ("r", 10, "INVALID_ARGUMENT")


def test_a_message_over_its_size_is_refused_exactly_there(world: World) -> None:
    a = world.connect()
    header = encode_header({"v": 1, "type": "request", "id": "r", "to": "nobody", "command": "x.y"})
    room = MAX_MESSAGE_BYTES - len(header)
    world.core.receive(a, [header, b"x" * room], world.now)
    assert world.reason(a) == (20, "UNAVAILABLE", "not_registered")
    world.core.receive(a, [header, b"x" * (room + 1)], world.now)
    assert world.reason(a) == (10, "RESOURCE_LIMIT", "message")


def test_a_request_does_not_go_to_a_connection(world: World) -> None:
    a, b = world.connect(), world.connect()
    world.ask(a, b)
    header, raw, _ = world.take(a)
    assert (header.rc, json.loads(raw)["details"]["field"]) == (10, "to")


def test_an_unknown_connection_is_not_heard(world: World) -> None:
    world.send("0" * 32, type="request", id="r", to="brokerd", command="broker.ping")
    assert world.core.ready() == ()
    assert world.core.statistics()["unknown_connection"] == 1


def test_info_lists_what_the_contract_says(world: World) -> None:
    a = world.connect()
    world.later(5)
    info = world.verb(a, "broker.info")
    assert set(info) == {
        "version",
        "broker_epoch",
        "node",
        "pid",
        "uid",
        "uptime_ms",
        "ephemeral",
        "connections",
        "counters",
        "limits",
    }
    assert (info["uptime_ms"], info["connections"], info["ephemeral"]) == (5, 1, False)


def test_a_clock_that_goes_back_is_not_followed(world: World) -> None:
    a = world.connect()
    world.verb(a, "broker.publish", {"topic": "t", "value": 1})
    world.core.disconnected(a, 0)
    world.core.tick(0)
    deadline = world.core.next_deadline()
    assert deadline is not None
    assert deadline > 1_000


def test_the_audit_sees_a_charge_that_was_not_given_back(world: World) -> None:
    """The gate has teeth: with one release left out, verify fails."""
    a = world.connect()
    world.verb(a, "broker.register", {"name": "svc"})
    names = world.core._bus.names
    names._charge = lambda *_: None  # type: ignore[method-assign]
    with pytest.raises(AssertionError, match="names_per_connection"):
        world.verb(a, "broker.deregister", {"name": "svc"})
