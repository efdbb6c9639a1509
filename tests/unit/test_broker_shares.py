"""What all users share: nobody else's connections use up what the broker's own user needs.

Each rule is a check of its own, carried out once as it is and once with its guard broken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import pytest

from brokerd.core import arrival, routing
from brokerd.core.bus import Bus
from brokerd.core.connections import Connection, Connections
from brokerd.core.outbox import Frames, GuestOutbox, Outbox
from brokerd.core.sessions.notices import Notices
from brokerd.core.sessions.refusals import SharedQuota
from brokerd.core.sessions.retained import Retained
from brokerd.errors import Refusal
from brokerd.limits import DEFAULTS, SessionLimits
from brokerd.peers import Peer
from tests.support.core_world import Held, SessionWorld

OTHER = 8
"""A user that is not the broker's."""

SMALL = replace(
    DEFAULTS,
    queue_bytes_per_guest=20_000,
    queue_bytes_of_guests=30_000,
    connections_per_node=2,
    sessions=SessionLimits(
        grants=4, dependencies=4, dependencies_per_recipient=2, issued_names=8, retained=6
    ),
)


def proved_again(world: SessionWorld, held: Held) -> Held:
    return world.prove(held.at, held.key)


def refused(answer: dict[str, object]) -> object:
    details = answer.get("details")
    assert isinstance(details, dict), answer
    return details["reason"]


def answer_of(world: SessionWorld, who: str, to: str) -> object:
    """The reason for which a request is refused; None when it was delivered."""
    world.ask(who, to, id="asked")
    heard = [body for kind, body in world.hear(who) if kind == "response"]
    return heard[0]["details"]["reason"] if heard else None


def deliveries_at_a_recipient(world: SessionWorld) -> None:
    service = world.connect()
    world.verb(service, "broker.register", {"name": "service"})
    stranger = world.term(OTHER)
    assert answer_of(world, stranger.at, "service") is None
    stranger = proved_again(world, stranger)
    world.ask(stranger.at, "service", id="more")
    assert world.reason(stranger.at)[2] == "recipient_dependency_limit"
    assert answer_of(world, world.term().at, "service") is None


def deliveries_in_all(world: SessionWorld) -> None:
    stranger = world.term(OTHER)
    for _ in range(4):
        event = {"command": "x.event", "recipient_connection": world.connect(OTHER)}
        world.send(stranger.at, type="event", **event)
    assert world.core.statistics()["sessions_dependencies"] == 2
    service = world.connect()
    world.verb(service, "broker.register", {"name": "service"})
    assert answer_of(world, world.term().at, "service") is None


def pending_grants(world: SessionWorld) -> None:
    stranger = world.term(OTHER)
    world.grant(stranger, 1)
    world.grant(stranger, 2)
    body = {
        "parent": stranger.ref,
        "pane_id": "3",
        "pane_generation": "1",
        "public_key": "ab" * 32,
        "role": "pane-shell",
        "capabilities": ["execute"],
    }
    for _ in range(3):
        body["public_key"] = next(world.keys).public_key.hex()
        answer = world.mutate(stranger.at, "session.grant.create", body)
        assert refused(answer) == "grant_limit"
    world.grant(world.term(), 1)


def names(world: SessionWorld) -> None:
    for _ in range(4):
        world.term(OTHER)
    who = world.connect(OTHER)
    answer = world.mutate(who, "session.allocate", world.allocation(who, next(world.keys)))
    assert refused(answer) == "issued_name_limit"
    world.term()


def _answer(world: SessionWorld, strangers: Sequence[str], times: int) -> None:
    """Each asks a service, which answers with 6,000 bytes that nobody takes."""
    service = world.connect()
    world.verb(service, "broker.register", {"name": "echo"})
    for who in strangers:
        for number in range(times):
            world.ask(who, "echo", id=f"{number}")
            told = {"type": "response", "id": f"{number}", "to": who, "rc": 0}
            world.send(service, {"value": "x" * 6_000}, **told)
    world.hear(service)


def bytes_that_wait(world: SessionWorld) -> None:
    """However many connections a stranger has that take nothing."""
    strangers = [world.connect(OTHER) for _ in range(8)]
    _answer(world, strangers, times=3)
    assert 10_000 < world.core.statistics()["queued_bytes"] <= 20_000
    owner = world.connect()
    assert world.verb(owner, "broker.ping") == {"pong": True}
    for who in strangers:
        world.hear(who)
        assert world.verb(who, "broker.ping") == {"pong": True}
        world.core.disconnected(who, world.now)
    world.core.verify()


def bytes_that_wait_for_many_users(world: SessionWorld) -> None:
    """One person may be many users."""
    _answer(world, [world.connect(uid) for uid in range(100, 110)], times=1)
    assert 18_000 < world.core.statistics()["queued_bytes"] <= 30_000


def silent_connections_of_a_machine(world: SessionWorld) -> None:
    """They hold no place once they were silent for long; who speaks late must find one."""
    first, second = world.connect_node(), world.connect_node()
    with pytest.raises(Refusal):
        world.connect_node()
    world.connect_node("another")
    world.later(10_000)
    third, fourth = world.connect_node(), world.connect_node()
    assert world.verb(third, "broker.ping") == world.verb(fourth, "broker.ping") == {"pong": True}
    world.ask(first, "brokerd", command="broker.ping")
    assert world.hear(first) == []
    world.core.disconnected(third, world.now)
    assert world.verb(second, "broker.ping") == {"pong": True}


def an_event_for_who_says_nothing(world: SessionWorld) -> None:
    """It waits for that connection as long as the connection is there, and no longer."""
    term, silent = world.term(), world.connect()
    event = {"command": "x.event", "recipient_connection": silent}
    world.send(term.at, type="event", **event)
    world.later(10_000)
    assert silent in world.core.ready()
    world.core.disconnected(silent, world.now)
    assert silent not in world.core.ready()
    world.core.verify()


def kept_results(world: SessionWorld) -> None:
    """Who asks for many mutations pushes out its own results, not another's."""
    mine = world.connect()
    first = world.allocation(mine, next(world.keys))
    answer = world.mutate(mine, "session.allocate", first, number=1)
    stranger = world.term(OTHER)
    ref = {**stranger.ref, "binding_generation": "1"}
    world.mutate(stranger.at, "session.revoke", {"target": ref})
    for _ in range(12):
        world.mutate(stranger.at, "session.revoke", {"target": ref})
    assert world.mutate(mine, "session.allocate", first, number=1)["record"] == answer["record"]


class Guard(NamedTuple):
    check: Callable[[SessionWorld], None]
    target: object
    name: str
    broken: object


def _never_concerned(quota: SharedQuota, uid: int) -> bool:
    return False


def _same_for_all(bus: Bus, peer: Peer) -> Outbox:
    return Outbox(bus.limits)


def _by_user_alone(bus: Bus, peer: Peer) -> Outbox:
    return GuestOutbox(bus.limits, (bus.guest_bytes, peer.owner))


def _dropped_by_age(retained: Retained, *kept: object) -> None:
    KEEP(retained, *kept)  # type: ignore[arg-type]  # as it was given
    while len(retained._kept) > 4:
        retained._drop(next(iter(retained._kept)))


def _does_not_mind(bus: Bus, sender: Connection, recipient: Connection, frames: Frames) -> bool:
    return bus.deliver(recipient, *frames)


KEEP = Retained.keep
GUARDS = (
    Guard(deliveries_at_a_recipient, SharedQuota, "concerns", _never_concerned),
    Guard(deliveries_in_all, SharedQuota, "concerns", _never_concerned),
    Guard(pending_grants, SharedQuota, "concerns", _never_concerned),
    Guard(names, SharedQuota, "concerns", _never_concerned),
    Guard(bytes_that_wait, arrival, "_outbox", _same_for_all),
    Guard(bytes_that_wait_for_many_users, arrival, "_outbox", _by_user_alone),
    Guard(
        silent_connections_of_a_machine,
        Connections,
        "_meter",
        lambda connections, _connection: connections.per_uid,
    ),
    Guard(an_event_for_who_says_nothing, routing, "_tell", _does_not_mind),
    Guard(kept_results, Retained, "keep", _dropped_by_age),
)
IDS = [guard.check.__name__ for guard in GUARDS]


@pytest.mark.parametrize("guard", GUARDS, ids=IDS)
def test_it_holds(guard: Guard) -> None:
    guard.check(SessionWorld(SMALL))


@pytest.mark.parametrize("guard", GUARDS, ids=IDS)
def test_without_its_guard_it_does_not(guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard.target, guard.name, guard.broken)
    with pytest.raises((AssertionError, KeyError, pytest.fail.Exception)):
        guard.check(SessionWorld(SMALL))


def test_who_waits_for_a_notice_is_looked_for_only_when_there_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[object] = []
    waiting, take = Notices.waiting, Notices.take

    def told(notices: Notices) -> object:
        looked.append(notices)
        return waiting(notices)

    def taken(notices: Notices, who: str) -> object:
        looked.append(who)
        return take(notices, who)

    monkeypatch.setattr(Notices, "waiting", told)
    monkeypatch.setattr(Notices, "take", taken)
    world = SessionWorld()
    one, other = world.connect(), world.connect()
    world.verb(other, "broker.register", {"name": "service"})
    world.ask(one, "service")
    assert world.core.ready() == (other,)
    asked, _, _ = world.take(other)
    world.send(other, type="response", id=asked.id, to=asked.from_, rc=0)
    assert world.take(one)[0].rc == 0
    assert looked == []
    term = world.term()
    assert term.at in looked
