"""Where a checked message goes. Everything that can refuse comes before anything is changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from brokerd.core import verbs
from brokerd.core.bus import Bus
from brokerd.core.connections import Connection
from brokerd.core.departure import unavailable
from brokerd.core.pending import Slot
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

Route: TypeAlias = Callable[[Bus, Connection, Header, bytes], None]

# A forwarded message must fit the recipient's queue with what the broker adds to it.
_ADDED_BYTES: Final = MAX_HEADER_BYTES


def route(bus: Bus, sender: Connection, header: Header, body: bytes) -> None:
    """Act on one message of ``sender``. A request that is refused is answered so."""
    try:
        _ROUTES[header.type](bus, sender, header, body)
    except Refusal as refusal:
        if header.type == REQUEST and header.id is not None:
            bus.refuse(sender, header.id, refusal)


def _request(bus: Bus, sender: Connection, header: Header, body: bytes) -> None:
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
        assert header.command is not None
        bus.answer(sender, header.id, 0, verbs.perform(bus, sender, header.command, body))
    else:
        _ask(bus, sender, header, name, body)


def _ask(bus: Bus, sender: Connection, header: Header, name: str, body: bytes) -> None:
    recipient = bus.names.holder(name)
    if recipient is None:
        raise unavailable("not_registered")
    bus.pending.require_room(sender, recipient)
    if not recipient.outbox.room(len(body) + len(sender.stamp) + _ADDED_BYTES):
        bus.count("queue_full")
        raise limit_reached(
            "recipient_queue_full",
            bus.limits.queue_messages,
            "the service does not take its messages fast enough; try again later",
        )
    assert header.id is not None
    bus.pending.open(Slot(sender, header.id, recipient, name), bus.now_ms)
    fields: dict[str, object] = {
        "v": VERSION,
        "type": REQUEST,
        "id": header.id,
        "to": header.to,
        "command": header.command,
        "from": sender.id,
    }
    bus.deliver(recipient, encode_header(fields), body, sender.stamp)


def _local_name(bus: Bus, address: str) -> str:
    """The service name in ``address``; UNAVAILABLE when it is on another node."""
    if CONNECTION_ID.fullmatch(address):
        raise invalid("to", "a request goes to a service name, not to a connection")
    name, _, node = address.partition(".")
    if node not in {"", bus.node}:
        raise unavailable("not_registered")
    return name


def _response(bus: Bus, sender: Connection, header: Header, body: bytes) -> None:
    """Only the very connection that was asked fills a slot; anything else goes nowhere."""
    assert header.id is not None
    assert header.to is not None
    slot = bus.pending.get(header.to, header.id)
    if slot is None or slot.recipient is not sender:
        bus.count("unexpected_response")
        return
    bus.pending.close(slot)
    fields: dict[str, object] = {
        "v": VERSION,
        "type": RESPONSE,
        "id": header.id,
        "to": header.to,
        "rc": header.rc,
        "from": sender.id,
    }
    bus.deliver(slot.requester, encode_header(fields), body, sender.stamp)


def _event(bus: Bus, sender: Connection, header: Header, body: bytes) -> None:
    """A directed event: only to who asked for those of a service that the sender holds."""
    assert header.recipient_connection is not None
    recipient = bus.connections.get(header.recipient_connection)
    if recipient is None or not _welcome(sender, recipient):
        bus.count("unroutable_event")
        return
    fields: dict[str, object] = {
        "v": VERSION,
        "type": EVENT,
        "command": header.command,
        "recipient_connection": recipient.id,
        "from": sender.id,
    }
    bus.deliver(recipient, encode_header(fields), body, sender.stamp)


def _welcome(sender: Connection, recipient: Connection) -> bool:
    return sender.peer.uid == recipient.peer.uid and not sender.names.keys().isdisjoint(
        recipient.services
    )


_ROUTES: Final[Mapping[str, Route]] = {REQUEST: _request, RESPONSE: _response, EVENT: _event}
