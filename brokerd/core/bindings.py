"""What sessions lead to elsewhere: routes that come and go with records, and notices to tell."""

from __future__ import annotations

from dataclasses import dataclass

from brokerd import bodies
from brokerd.core.bus import NO_STAMP, Bus
from brokerd.core.connections import Connection
from brokerd.core.departure import abandon
from brokerd.core.outbox import Frames
from brokerd.core.sessions import GAP, Bound, Effect, Told
from brokerd.core.sessions.views import gap_body, notice_body
from brokerd.wire import BROKER, EVENT, VERSION, encode_header

LIFECYCLE = "session.lifecycle"
LIFECYCLE_GAP = "session.lifecycle.gap"


def settle(bus: Bus) -> None:
    """Make the routes what the records are now; tell who waits for an answer that cannot come."""
    for effect in bus.sessions.effects():
        connection = bus.connections.get(effect.connection_id)
        if connection is not None and not connection.leaving:
            _apply(bus, connection, effect)


def _apply(bus: Bus, connection: Connection, effect: Effect) -> None:
    if isinstance(effect, Bound):
        _bind(bus, connection, effect.name)
    elif connection.route == effect.name:
        _strip(bus, connection)


def _bind(bus: Bus, connection: Connection, name: str) -> None:
    if connection.route == name:
        return
    before = bus.names.holder(name)
    if before is not None:
        _strip(bus, before)
    _strip(bus, connection)
    bus.names.allocate(name, connection)


def _strip(bus: Bus, connection: Connection) -> None:
    abandon(bus, bus.pending.asked_of(connection), "deregistered")
    bus.names.drop(connection)


@dataclass(frozen=True, slots=True)
class Telling:
    """A notice on its way out, so that it can be put back when it does not get there."""

    told: Told
    frames: Frames


def notice_frames(bus: Bus, told: Told) -> Frames:
    """What tells a notice or a gap."""
    if told is GAP:
        return _header(LIFECYCLE_GAP), bodies.encode(gap_body(bus.sessions)), NO_STAMP
    return _header(LIFECYCLE), bodies.encode(notice_body(bus.sessions, told)), NO_STAMP


def _header(command: str) -> bytes:
    return encode_header({"v": VERSION, "type": EVENT, "command": command, "from": BROKER})
