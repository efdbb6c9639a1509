"""Sessions in the core: each guard holds, and its test fails against a core without the guard."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import pytest

from brokerd.core import rights, routing, sightings
from brokerd.core.bus import Bus
from brokerd.core.connections import Connection
from brokerd.core.names import Names
from brokerd.errors import Refusal
from brokerd.limits import DEFAULTS, Limits, SessionLimits
from brokerd.peers import NodePeer
from brokerd.principal import NodePrincipal, principal_from_stamp
from brokerd.wire import Header
from tests.support.core_world import Held, SessionWorld

EXPIRED = (10, "EXPIRED", "binding_lost")
FORBIDDEN = {"error_code": "FORBIDDEN", "message": "forbidden", "details": {}}


def lose(world: SessionWorld, held: Held) -> None:
    """The lease ends; the connection stays."""
    world.later(15_000)
    world.hear(held.at)


# -- checks: what must hold of a fresh world ---------------------------------------------------


def a_route_takes_the_place_of_other_names(world: SessionWorld) -> None:
    who, client = world.connect(), world.connect()
    world.verb(who, "broker.register", {"name": "term"})
    world.ask(client, "term")
    world.hear(who)
    held = world.bind(who)
    assert world.reason(client) == (20, "UNAVAILABLE", "deregistered")
    names = world.verb(client, "broker.list")["names"]
    assert [each["name"] for each in names] == [held.name]  # type: ignore[attr-defined]  # JSON
    world.ask(client, held.name)
    assert world.take(who)[0].to == held.name


def a_bound_connection_registers_nothing(world: SessionWorld) -> None:
    held = world.term()
    refused = world.verb(held.at, "broker.register", {"name": "term"})
    assert refused["details"] == {"reason": "bound_connection"}


def nobody_registers_an_allocated_name(world: SessionWorld) -> None:
    held, client = world.term(), world.connect()
    for verb in ("register", "deregister"):
        for who, name in ((client, held.name), (client, "c0-" + "a" * 22), (held.at, held.name)):
            assert world.verb(who, f"broker.{verb}", {"name": name}) == FORBIDDEN
    # One letter more or less is an ordinary name.
    assert "name" in world.verb(client, "broker.register", {"name": "c0-" + "a" * 21})
    assert "name" in world.verb(client, "broker.register", {"name": "c0-" + "a" * 21 + "1"})


def who_lost_its_record_asks_nothing(world: SessionWorld) -> None:
    held, service = world.term(), world.connect()
    world.verb(service, "broker.register", {"name": "echo"})
    lose(world, held)
    for to, command in (("echo", "x.y"), ("nobody", "x.y"), ("brokerd", "broker.list")):
        world.ask(held.at, to, command=command)
        assert world.reason(held.at) == EXPIRED
    assert world.core.take(service) is None


def who_lost_its_record_may_not_serve_again(world: SessionWorld) -> None:
    held = world.term()
    lose(world, held)
    for verb, body in (("register", {"name": "term"}), ("publish", {"topic": "t", "value": 1})):
        world.ask(held.at, "brokerd", body, command=f"broker.{verb}")
        assert world.reason(held.at) == EXPIRED
    for command in ("session.hello", "session.list", "broker.ping", "broker.info", "broker.bye"):
        assert "error_code" not in world.verb(held.at, command)


def who_lost_its_record_answers_nothing(world: SessionWorld) -> None:
    held, client = world.term(), world.connect()
    world.ask(client, held.name)
    world.take(held.at)
    lose(world, held)
    assert world.reason(client) == (20, "UNAVAILABLE", "deregistered")
    world.send(held.at, type="response", id="r", to=client, rc=0)
    assert world.core.statistics()["binding_lost"] == 1
    assert world.core.take(client) is None


def who_lost_its_record_sends_no_events(world: SessionWorld) -> None:
    held, client = world.term(), world.connect()
    world.verb(client, "broker.subscribe", {"service": held.name})
    lose(world, held)
    world.send(held.at, type="event", command="e.v", recipient_connection=client)
    assert world.core.statistics()["binding_lost"] == 1
    assert world.core.take(client) is None


def a_term_may_tell_who_subscribed_to_nothing(world: SessionWorld) -> None:
    held, client = world.term(), world.connect()
    world.send(held.at, type="event", command="e.v", recipient_connection=client)
    principal = world.principal(client)
    assert principal is not None
    assert principal.session is not None
    assert principal.session.record_id == held.record["record_id"]


def nobody_else_may_tell_who_subscribed_to_nothing(world: SessionWorld) -> None:
    term, ambient, client = world.term(), world.connect(), world.connect()
    shell = world.shell(term)
    world.verb(ambient, "broker.register", {"name": "term"})
    stranger = world.connect(uid=8)
    for sender, recipient in ((ambient, client), (shell.at, client), (term.at, stranger)):
        world.send(sender, type="event", command="e.v", recipient_connection=recipient)
        assert world.core.take(recipient) is None


def session_events_are_the_brokers_word(world: SessionWorld) -> None:
    held, client = world.term(), world.connect()
    world.send(held.at, type="event", command="session.lifecycle", recipient_connection=client)
    assert world.core.take(client) is None


def a_delivery_can_be_checked_by_its_recipient(world: SessionWorld) -> None:
    held, service = world.term(), world.connect()
    world.verb(service, "broker.register", {"name": "echo"})
    target = {"target": held.ref}
    assert world.verb(service, "session.lease.check", target)["error_code"] == "NOT_FOUND"
    world.ask(held.at, "echo")
    world.take(service)
    world.later(5_000)
    assert world.verb(service, "session.lease.check", target) == {"lease_remaining_ms": "10000"}


def a_delivery_over_the_cap_leaves_no_trace(world: SessionWorld) -> None:
    first, second, service = world.term(), world.term(), world.connect()
    world.verb(service, "broker.register", {"name": "echo"})
    world.ask(first.at, "echo")
    world.take(service)
    world.ask(second.at, "echo")
    assert world.reason(second.at) == (10, "RESOURCE_LIMIT", "recipient_dependency_limit")
    world.send(second.at, type="event", command="e.v", recipient_connection=service)
    assert world.core.take(service) is None
    assert world.core.statistics()["pending"] == 1
    world.ask(first.at, "echo", id="r2")  # one that was heard already takes no more room
    assert world.take(service)[0].gap is True


def a_fresh_stamp_says_what_is_left(world: SessionWorld) -> None:
    term = world.term()
    shell, service = world.shell(term), world.connect()
    world.verb(service, "broker.register", {"name": "echo"})
    world.later(6_000)
    world.verb(shell.at, "session.renew", {"target": shell.ref})
    world.ask(shell.at, "echo")
    principal = world.principal(service)
    assert principal is not None
    assert principal.assurance == "session-bound"
    assert principal.session is not None
    assert principal.session.lease_remaining_ms == 9_000  # the Term's, which was not renewed
    assert principal.session.parent_instance == term.record["instance_id"]
    assert (principal.session.pane_id, principal.session.pane_generation) == (1, 1)


def machines_ask_services_and_little_else(world: SessionWorld) -> None:
    node, service = world.connect_node(), world.connect()
    world.verb(service, "broker.register", {"name": "echo"})
    world.ask(node, "echo")
    who = principal_from_stamp(world.take(service)[2])
    assert who == NodePrincipal(owner_node="there", broker_epoch="e" * 32, connection_id=node)
    world.send(service, type="response", id="r", to=node, rc=0)
    assert world.take(node)[0].rc == 0
    assert world.verb(node, "session.hello")["uid"] is None
    assert "error_code" not in world.verb(node, "broker.info")
    for command, body in (
        ("broker.register", {"name": "mine"}),
        ("broker.publish", {"topic": "t", "value": 1}),
        ("broker.subscribe", {"service": "echo"}),
        ("broker.list", {}),
        ("broker.connected", {"connection_ids": [node]}),
        ("broker.no", {}),
        ("broker.observe.start", {"service": "echo"}),
        ("session.list", {}),
        ("session.no", {}),
        ("session.self", {"record_id": "0" * 32}),
    ):
        assert world.verb(node, command, body) == FORBIDDEN
    assert "error_code" not in world.verb(node, "broker.bye")


def other_users_neither_serve_nor_publish(world: SessionWorld) -> None:
    other, root, service = world.connect(uid=8), world.connect(uid=0), world.connect()
    world.verb(service, "broker.register", {"name": "echo"})
    for verb, body in (
        ("register", {"name": "mine"}),
        ("publish", {"topic": "t", "value": 1}),
        ("subscribe", {"topic": "t"}),
        ("list", {}),
    ):
        assert world.verb(other, f"broker.{verb}", body) == FORBIDDEN
        assert "error_code" not in world.verb(root, f"broker.{verb}", body)
    world.ask(other, "echo")
    principal = world.principal(service)
    assert principal is not None
    assert principal.unix_uid == 8


def without_a_clock_there_are_no_records(world: SessionWorld) -> None:
    held, client = world.term(), world.connect()
    world.ask(client, held.name)
    world.core.fail_clock()
    world.core.verify()
    assert world.reason(client) == (20, "UNAVAILABLE", "deregistered")
    for command in ("session.list", "session.renew", "session.allocate"):
        assert world.verb(client, command)["details"] == {"reason": "clock_unavailable"}
    assert world.verb(client, "session.hello")["uid"] == 7
    assert "name" in world.verb(client, "broker.register", {"name": "echo"})
    world.hear(held.at)
    world.ask(held.at, "echo")
    assert world.reason(held.at) == EXPIRED
    world.ask(client, "echo", id="slow")
    world.take(client)
    world.later(DEFAULTS.pending_ms)  # the core's own time goes on
    assert world.reason(client) == (20, "UNAVAILABLE", "pending_expired")


def a_successor_takes_the_route(world: SessionWorld) -> None:
    held, client = world.term(), world.connect()
    world.ask(client, held.name)
    world.hear(held.at)
    successor = world.prove(world.connect(), held.key)
    assert successor.name == held.name
    assert world.reason(client) == (20, "UNAVAILABLE", "deregistered")
    world.ask(held.at, held.name)
    assert world.reason(held.at) == EXPIRED
    world.ask(client, held.name)
    assert world.take(successor.at)[0].to == held.name


# -- the same against cores that lack the guard ------------------------------------------------


class Guard(NamedTuple):
    check: Callable[[SessionWorld], None]
    target: object
    name: str
    broken: object
    limits: Limits = DEFAULTS


def _never(*_args: object) -> None:
    """In the place of a check: nothing is refused."""


def _no_deliveries(bus: Bus, sender: Connection, recipient: Connection) -> None:
    """In the place of noting one."""


def _always_welcome(bus: Bus, sender: Connection, recipient: Connection, header: Header) -> bool:
    return True


def _ambient(bus: Bus, sender: Connection) -> bytes:
    """A connection that lost its record is taken for its user."""
    return sender.stamp


def _forgets_the_loss(names: Names, connection: Connection) -> None:
    if connection.route is not None:
        names._take(connection.route, connection)
        connection.route = None


def _only_adds(names: Names, connection: Connection) -> None:
    names.release(connection)


FEW = replace(DEFAULTS, sessions=SessionLimits(dependencies_per_recipient=1))
GUARDS = (
    Guard(a_route_takes_the_place_of_other_names, Names, "drop", _only_adds),
    Guard(a_bound_connection_registers_nothing, Names, "register", _never),
    Guard(nobody_registers_an_allocated_name, "brokerd.core.names", "_require_ordinary", _never),
    Guard(who_lost_its_record_asks_nothing, Bus, "require_not_lost", _never),
    Guard(who_lost_its_record_may_not_serve_again, Bus, "require_not_lost", _never),
    Guard(who_lost_its_record_answers_nothing, "brokerd.core.bindings", "abandon", _never),
    Guard(who_lost_its_record_sends_no_events, Names, "release", _forgets_the_loss),
    Guard(a_term_may_tell_who_subscribed_to_nothing, routing, "_welcome", _never),
    Guard(nobody_else_may_tell_who_subscribed_to_nothing, routing, "_welcome", _always_welcome),
    Guard(session_events_are_the_brokers_word, routing, "_welcome", _always_welcome),
    Guard(a_delivery_can_be_checked_by_its_recipient, Bus, "note_delivery", _no_deliveries),
    Guard(a_delivery_over_the_cap_leaves_no_trace, Bus, "note_delivery", _no_deliveries, FEW),
    Guard(a_fresh_stamp_says_what_is_left, Bus, "stamp_of", _ambient),
    Guard(machines_ask_services_and_little_else, "brokerd.core.verbs", "require_right", _never),
    Guard(other_users_neither_serve_nor_publish, rights, "_require_user", _never),
    Guard(without_a_clock_there_are_no_records, "brokerd.core.broker", "settle", _never),
    Guard(a_successor_takes_the_route, "brokerd.core.broker", "settle", _never),
)
IDS = [guard.check.__name__ for guard in GUARDS]


@pytest.mark.parametrize("guard", GUARDS, ids=IDS)
def test_it_holds(guard: Guard) -> None:
    guard.check(SessionWorld(guard.limits))


@pytest.mark.parametrize("guard", GUARDS, ids=IDS)
def test_without_its_guard_it_does_not(guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(guard.target, str):
        monkeypatch.setattr(f"{guard.target}.{guard.name}", guard.broken)
    else:
        monkeypatch.setattr(guard.target, guard.name, guard.broken)
    with pytest.raises((AssertionError, KeyError)):
        guard.check(SessionWorld(guard.limits))


# -- notices -----------------------------------------------------------------------------------


def test_notices_go_in_front_and_one_that_was_not_sent_is_put_back() -> None:
    world = SessionWorld()
    term = world.term()
    shell = world.shell(term)
    world.hear(shell.at)
    world.ask(shell.at, term.name)
    world.later(15_000)
    assert term.at in world.core.ready()
    frames = world.core.take(term.at)
    assert frames is not None
    world.core.unsent(term.at, frames)
    world.core.verify()
    first = [command for command, _ in world.hear(term.at)]
    assert first == ["session.lifecycle", "session.lifecycle", "x.y"]
    assert world.hear(shell.at)[0][1]["state"] == "suspended"


def test_a_gap_is_told_first_and_again_when_it_was_not_sent() -> None:
    world = SessionWorld(replace(DEFAULTS, sessions=SessionLimits(notices_per_connection=1)))
    term = world.term()
    for key in [world.grant(term, pane)[0] for pane in (1, 2)]:
        world.prove(world.connect(), key)
    frames = world.core.take(term.at)
    assert frames is not None
    assert json.loads(frames[1]) == {"broker_epoch": "e" * 32}
    world.core.unsent(term.at, frames)
    heard = world.hear(term.at)
    assert [command for command, _ in heard] == ["session.lifecycle.gap", "session.lifecycle"]
    assert set(heard[1][1]) == {"target", "state", "broker_epoch"}


def test_a_delivery_that_could_not_be_sent_is_not_taken_for_a_notice() -> None:
    world = SessionWorld()
    term = world.term()
    world.ask(term.at, "brokerd", command="broker.ping")
    frames = world.core.take(term.at)
    while frames is not None and b"session.lifecycle" in frames[0]:
        frames = world.core.take(term.at)
    assert frames is not None
    world.core.unsent(term.at, frames)
    assert [command for command, _ in world.hear(term.at)] == ["response"]


def test_next_deadline_covers_a_lease() -> None:
    world = SessionWorld()
    term = world.term()
    world.hear(term.at)
    due = world.core.next_deadline()
    assert due is not None
    assert due <= world.now + DEFAULTS.sessions.lease_ms


def test_everything_is_given_back() -> None:
    world = SessionWorld()
    term = world.term()
    shell = world.shell(term)
    world.grant(term, 2)
    world.ask(shell.at, term.name)
    for held in (term, shell):
        world.core.disconnected(held.at, world.now)
    world.later(30_000)
    held_now = world.core.statistics()
    assert {key: n for key, n in held_now.items() if key.startswith("sessions_") and n} == {}
    assert (held_now["names"], held_now["pending"], held_now["connections"]) == (0, 0, 0)


def test_a_topic_that_a_record_published_stays_protected() -> None:
    world = SessionWorld()
    term, ambient = world.term(), world.connect()
    for who in (term.at, ambient):
        world.verb(who, "broker.publish", {"topic": "t", "value": 1})
    world.verb(ambient, "broker.publish", {"topic": "u", "value": 1})
    kept = {topic.name: topic.protected for topic in world.core._bus.topics.all()}
    assert kept == {"t": True, "u": False}


@pytest.mark.parametrize(
    ("sender", "recipient", "command", "expected"),
    [
        ("ambient", "ambient", "x.y", False),
        ("ambient", "ambient", "sessions", False),
        ("ambient", None, "x.y", False),
        ("bound", "ambient", "x.y", True),
        ("bound", None, "x.y", True),
        ("ambient", "bound", "x.y", True),
        ("ambient", "ambient", "session.list", True),
    ],
)
def test_what_is_protected(
    sender: str, recipient: str | None, command: str, expected: bool
) -> None:
    world = SessionWorld()
    held = world.core._bus.connections
    all_of = {"ambient": held.get(world.connect()), "bound": held.get(world.term().at), None: None}
    who = all_of[sender]
    assert who is not None
    assert sightings.protected(who, all_of[recipient], command) is expected


def test_a_machine_is_charged_as_itself() -> None:
    world = SessionWorld(replace(DEFAULTS, connections_per_uid=1, connections_per_node=1))
    world.connect_node("one")
    world.connect_node("two")
    world.connect()
    with pytest.raises(Refusal, match="at most 1"):
        world.core.accept(NodePeer("one", "k" * 40), world.now)
