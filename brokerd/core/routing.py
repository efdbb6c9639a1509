"""Where a checked message goes. Everything that can refuse comes before anything is changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from brokerd.core import verbs
from brokerd.core.bus import BINDING_LOST, Bus
from brokerd.core.connections import Connection
from brokerd.core.departure import unavailable
from brokerd.core.outbox import Frames
from brokerd.core.pending import Slot
from brokerd.core.rights import SESSION
from brokerd.core.sightings import protected, see_event, see_refused, see_request, see_response
from brokerd.encodings import TERM
from brokerd.errors import ErrorCode, Refusal, invalid, limit_reached
from brokerd.limits import MAX_HEADER_BYTES
from brokerd.wire import (
    BROKER,
    CONNECTION_ID,
    EVENT,
    REQUEST,
    RESPONSE,
    VERSION,
    Header,
    encode_header,
)

Route: TypeAlias = Callable[[Bus, Connection, Header, Sequence[bytes]], None]

# A forwarded message must fit the recipient's queue with what the broker adds to it.
_ADDED_BYTES: Final = MAX_HEADER_BYTES


def route(bus: Bus, sender: Connection, header: Header, frames: Sequence[bytes]) -> None:
    """Act on one message of ``sender``. A request that is refused is answered so."""
    try:
        _ROUTES[header.type](bus, sender, header, frames)
    except Refusal as refusal:
        if header.type == REQUEST and header.id is not None:
            bus.refuse(sender, header.id, refusal)
            if bus.observers.watching:
                see_refused(bus, sender, header, refusal.rc, len(frames[1]))


def _request(bus: Bus, sender: Connection, header: Header, frames: Sequence[bytes]) -> None:
    assert header.id is not None
    assert header.to is not None
    if bus.pending.get(sender.id, header.id) is not None:
        raise Refusal(
            ErrorCode.CONFLICT,
            "a request with that id is still pending; choose a fresh id",
            reason="id_in_use",
        )
    name = _local_name(bus, header.to)
    if name == BROKER:
        bus.answer(sender, header.id, 0, verbs.perform(bus, sender, header, frames))
    else:
        _ask(bus, sender, header, name, frames[1])


def _ask(bus: Bus, sender: Connection, header: Header, name: str, body: bytes) -> None:
    stamp = bus.stamp_of(sender)
    recipient = bus.names.holder(name)
    if recipient is None:
        raise unavailable("not_registered")
    bus.pending.require_room(sender, recipient)
    if not recipient.outbox.room(len(body) + len(stamp) + _ADDED_BYTES):
        bus.count("queue_full")
        raise limit_reached(
            "recipient_queue_full",
            bus.limits.queue_messages,
            "the service does not take its messages fast enough; try again later",
        )
    bus.note_delivery(sender, recipient)
    assert header.id is not None
    assert header.command is not None
    of_record = protected(sender, recipient, header.command)
    slot = Slot(sender, header.id, recipient, name, header.command, of_record)
    bus.pending.open(slot, bus.now_ms)
    fields: dict[str, object] = {
        "v": VERSION,
        "type": REQUEST,
        "id": header.id,
        "to": header.to,
        "command": header.command,
        "from": sender.id,
    }
    bus.deliver(recipient, encode_header(fields), body, stamp)
    if bus.observers.watching:
        see_request(bus, slot, len(body))


def _local_name(bus: Bus, address: str) -> str:
    """The service name in ``address``; UNAVAILABLE when it is on another node."""
    if CONNECTION_ID.fullmatch(address):
        raise invalid("to", "a request goes to a service name, not to a connection")
    name, _, node = address.partition(".")
    if node not in {"", bus.node}:
        raise unavailable("not_registered")
    return name


def _response(bus: Bus, sender: Connection, header: Header, frames: Sequence[bytes]) -> None:
    """Only the very connection that was asked fills a slot; anything else goes nowhere."""
    assert header.id is not None
    assert header.to is not None
    assert header.rc is not None
    if sender.lost:
        bus.count(BINDING_LOST)
        return
    slot = bus.pending.get(header.to, header.id)
    if slot is None or slot.recipient is not sender:
        bus.count("unexpected_response")
        return
    stamp = bus.stamp_of(sender)
    bus.pending.close(slot)
    fields: dict[str, object] = {
        "v": VERSION,
        "type": RESPONSE,
        "id": header.id,
        "to": header.to,
        "rc": header.rc,
        "from": sender.id,
    }
    queued = bus.deliver(slot.requester, encode_header(fields), frames[1], stamp)
    if bus.observers.watching:
        see_response(bus, slot, header.rc, len(frames[1]), queued=queued)


def _event(bus: Bus, sender: Connection, header: Header, frames: Sequence[bytes]) -> None:
    """A directed event: to who asked for those of a name of the sender, or of a record's holder."""
    assert header.recipient_connection is not None
    assert header.command is not None
    if sender.lost:
        bus.count(BINDING_LOST)
        return
    recipient = bus.connections.get(header.recipient_connection)
    if recipient is None or recipient.leaving or not _welcome(bus, sender, recipient, header):
        bus.count("unroutable_event")
        return
    fields: dict[str, object] = {
        "v": VERSION,
        "type": EVENT,
        "command": header.command,
        "recipient_connection": recipient.id,
        "from": sender.id,
    }
    queued = _tell(bus, sender, recipient, (encode_header(fields), frames[1], bus.stamp_of(sender)))
    if bus.observers.watching:
        see_event(bus, sender, recipient, header.command, len(frames[1]), queued=queued)


def _welcome(bus: Bus, sender: Connection, recipient: Connection, header: Header) -> bool:
    assert header.command is not None
    if sender.owner != recipient.owner or header.command.startswith(SESSION):
        return False  # session.* events are the broker's word
    if not sender.names.keys().isdisjoint(recipient.services):
        return True
    record = bus.sessions.binding(sender.id) if sender.route is not None else None
    return record is not None and record.role == TERM


def _tell(bus: Bus, sender: Connection, recipient: Connection, frames: Frames) -> bool:
    """Queue an event; False when it was dropped, and the gap is noted.

    Who is sent something keeps its slot, though it may have said nothing yet: what waits for one
    that turned dormant could neither be taken nor forgotten.
    """
    bus.connections.hello.discard(recipient.id)
    if recipient.outbox.room(sum(map(len, frames))):
        try:
            bus.note_delivery(sender, recipient)
        except Refusal:
            bus.count("queue_full")
            recipient.outbox.gap = True
            return False
    return bus.deliver(recipient, *frames)


_ROUTES: Final[Mapping[str, Route]] = {REQUEST: _request, RESPONSE: _response, EVENT: _event}
