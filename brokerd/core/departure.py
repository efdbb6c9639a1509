"""How connections go, and what is told to those who waited for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from brokerd.core.bus import Bus
from brokerd.core.connections import Connection
from brokerd.core.pending import Slot
from brokerd.core.sightings import see_response
from brokerd.errors import ErrorCode, Refusal

_REASONS: Final[Mapping[str, str]] = {
    "not_registered": "nobody serves that name here; start the service or check the name",
    "peer_gone": "the service went away before it answered; look before you ask again",
    "deregistered": "the service gave up its name before it answered; look before you ask again",
    "pending_expired": "the service did not answer for too long; look before you ask again",
}


def unavailable(reason: str) -> Refusal:
    """UNAVAILABLE for one of the four reasons of the contract."""
    return Refusal(ErrorCode.UNAVAILABLE, _REASONS[reason], reason=reason)


def abandon(bus: Bus, slots: Iterable[Slot], reason: str) -> None:
    """Close reply slots that will not be filled, and tell who waits."""
    for slot in slots:
        bus.pending.close(slot)
        tell_unanswered(bus, slot, reason)


def tell_unanswered(bus: Bus, slot: Slot, reason: str) -> None:
    """Answer in the place of the service whose slot is closed."""
    refusal = unavailable(reason)
    queued = bus.refuse(slot.requester, slot.id, refusal)
    if bus.observers.watching:
        see_response(bus, slot, refusal.rc, 0, queued=queued, by_broker=True)


def say_bye(bus: Bus, connection: Connection) -> None:
    """Take all that ``connection`` holds; it is forgotten when its queue has been sent."""
    _release(bus, connection)
    connection.leaving = True
    bus.farewells.add(connection.id, bus.now_ms)


def forget(bus: Bus, connection_id: str) -> None:
    """The connection is no more: give back all it held, and drop what waited for it."""
    connection = bus.connections.remove(connection_id)
    if connection is None:
        return
    bus.farewells.discard(connection_id)
    if not connection.leaving:
        _release(bus, connection)
    connection.outbox.clear()
    bus.ready.pop(connection_id, None)


def close(bus: Bus, connection_id: str) -> None:
    """Forget a connection and have the caller drop it too."""
    forget(bus, connection_id)
    bus.closed.append(connection_id)


def _release(bus: Bus, connection: Connection) -> None:
    # Its own questions first: nobody is left to be told about those it asked itself.
    for slot in bus.pending.asked_by(connection):
        bus.pending.close(slot)
    abandon(bus, bus.pending.asked_of(connection), "peer_gone")
    bus.names.drop(connection)
    bus.sessions.lost(connection.id)
    bus.retained.forget(connection.id)
    bus.observers.drop(connection)
    bus.subscriptions.drop(connection)
    bus.topics.orphan(connection, bus.now_ms)
