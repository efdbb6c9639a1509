"""What arrives, before it is routed: is it a message at all, whose is it, and is it too large?"""

from __future__ import annotations

from collections.abc import Sequence

from brokerd.core.bus import Bus
from brokerd.core.connections import Connection
from brokerd.core.outbox import GuestOutbox, Outbox
from brokerd.core.routing import route
from brokerd.errors import limit_reached
from brokerd.limits import MAX_MESSAGE_BYTES
from brokerd.peers import NodePeer, Peer
from brokerd.principal import NodePrincipal, Principal
from brokerd.wire import REQUEST, Header, HeaderError, decode_header


def new_connection(bus: Bus, peer: Peer) -> Connection:
    """A connection of ``peer`` with a new id; the caller adds it."""
    principal = _principal(bus, peer, bus.new_id())
    return Connection(
        principal.connection_id, peer, principal, principal.to_stamp(), _outbox(bus, peer)
    )


def judge(bus: Bus, connection_id: str, frames: Sequence[bytes]) -> None:
    """Act on what arrived; what cannot be acted on is answered, or dropped and counted."""
    if not bus.connections.knows(connection_id):
        bus.count("unknown_connection")
        return
    try:
        header = _open(frames)
    except HeaderError as error:
        _malformed(bus, connection_id, error)
        return
    sender = bus.connections.speaking(connection_id)
    if sender is None or sender.leaving:
        bus.count("unknown_connection")
        return
    _route(bus, sender, header, frames)


def _open(frames: Sequence[bytes]) -> Header:
    if len(frames) != 2:
        raise HeaderError("message", "a message is a header and a body")
    return decode_header(frames[0], from_broker=False)


def _route(bus: Bus, sender: Connection, header: Header, frames: Sequence[bytes]) -> None:
    if len(frames[0]) + len(frames[1]) <= MAX_MESSAGE_BYTES:
        route(bus, sender, header, frames)
        return
    bus.count("malformed")
    if header.type == REQUEST and header.id is not None:
        words = f"a message is at most {MAX_MESSAGE_BYTES} bytes; send less"
        bus.refuse(sender, header.id, limit_reached("message", MAX_MESSAGE_BYTES, words))


def _malformed(bus: Bus, connection_id: str, error: HeaderError) -> None:
    bus.count("malformed")
    if error.request_id is None:
        return
    sender = bus.connections.speaking(connection_id)
    if sender is not None and not sender.leaving:
        bus.refuse(sender, error.request_id, error.refusal)


def _outbox(bus: Bus, peer: Peer) -> Outbox:
    if peer.uid == bus.uid:
        return Outbox(bus.limits)
    return GuestOutbox(bus.limits, (bus.guest_bytes, peer.owner), (bus.all_guest_bytes, None))


def _principal(bus: Bus, peer: Peer, connection_id: str) -> Principal | NodePrincipal:
    if isinstance(peer, NodePeer):
        return NodePrincipal(
            owner_node=peer.node, broker_epoch=bus.epoch, connection_id=connection_id
        )
    return Principal(
        owner_node=bus.node,
        unix_uid=peer.uid,
        unix_gid=peer.gid,
        peer_pid=peer.pid,
        broker_epoch=bus.epoch,
        connection_id=connection_id,
    )
