"""The broker's core: the state machine that the loop, and tests, drive.

Feed it connections, messages, disconnects and the time; take what is to be sent. It does no I/O,
keeps no clock of its own, and no input makes it raise.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence

from brokerd.core import audit
from brokerd.core.bus import Bus
from brokerd.core.connections import Connection
from brokerd.core.departure import close, forget, unavailable
from brokerd.core.outbox import Frames, Outbox
from brokerd.core.routing import route
from brokerd.errors import Refusal, limit_reached
from brokerd.limits import MAX_MESSAGE_BYTES, Limits
from brokerd.principal import PeerCredentials, Principal
from brokerd.wire import REQUEST, Header, HeaderError, decode_header

_EXPIRE_AT_MOST = 256
"""Of each kind per tick: the rest is due at once and comes with the next."""


def random_id() -> str:
    """128 random bits as 32 hex digits: an epoch or a connection id."""
    return secrets.token_hex(16)


class BrokerCore:
    """One broker epoch. Times are milliseconds of any clock that does not go back."""

    def __init__(
        self,
        *,
        epoch: str,
        node: str,
        uid: int,
        pid: int,
        limits: Limits,
        now_ms: int,
        ephemeral: bool = False,
        new_id: Callable[[], str] = random_id,
    ) -> None:
        self._bus = Bus(epoch=epoch, node=node, uid=uid, pid=pid, limits=limits, now_ms=now_ms)
        self._bus.ephemeral = ephemeral
        self._new_id = new_id

    def accept(self, peer: PeerCredentials, now_ms: int) -> str:
        """Let a peer in and mint its connection id. Raises Refusal (too many of its uid)."""
        bus = self._bus
        bus.advance(now_ms)
        connection = self._connection(peer)
        try:
            bus.connections.add(connection, bus.now_ms)
        except Refusal:
            bus.count("refused_connections")
            raise
        bus.count("accepted")
        return connection.id

    def receive(self, connection_id: str, frames: Sequence[bytes], now_ms: int) -> None:
        """Act on one message. Never raises: what is wrong is answered, or dropped and counted."""
        bus = self._bus
        bus.advance(now_ms)
        bus.count("received")
        if not bus.connections.knows(connection_id):
            bus.count("unknown_connection")
            return
        try:
            header = _open(frames)
        except HeaderError as error:
            self._malformed(connection_id, error)
            return
        sender = bus.connections.speaking(connection_id)
        if sender is None or sender.leaving:
            bus.count("unknown_connection")
            return
        self._route(sender, header, frames)

    def disbelieve(self) -> None:
        """Count a message that arrived but cannot be put down to a connection."""
        self._bus.count("received")
        self._bus.count("unknown_connection")

    def disconnected(self, connection_id: str, now_ms: int) -> None:
        """The connection is gone; unknown ids and repeats are no error."""
        self._bus.advance(now_ms)
        forget(self._bus, connection_id)

    def tick(self, now_ms: int) -> None:
        """Let time have its effects: expired slots, silent connections, stale topics."""
        bus = self._bus
        bus.advance(now_ms)
        for slot in bus.pending.expired(bus.now_ms, _EXPIRE_AT_MOST):
            bus.refuse(slot.requester, slot.id, unavailable("pending_expired"))
        bus.topics.expire(bus.now_ms, _EXPIRE_AT_MOST)
        for connection_id in list(bus.farewells.expired(bus.now_ms, _EXPIRE_AT_MOST)):
            close(bus, connection_id)
        bus.closed.extend(bus.connections.expire(bus.now_ms, _EXPIRE_AT_MOST))
        bus.alarm.set(bus.pending.deadlines, bus.topics.stale, bus.farewells, bus.connections.hello)

    def next_deadline(self) -> int | None:
        """When to ``tick`` next; None when nothing waits for the time. May be early, never late."""
        return self._bus.alarm.at

    def take(self, connection_id: str) -> Frames | None:
        """The next [header, body, stamp] for a connection; None when there is none.

        Take until None: that is also how a connection that said bye gets closed.
        """
        bus = self._bus
        connection = bus.connections.get(connection_id)
        if connection is None:
            return None
        frames = connection.outbox.take()
        if not len(connection.outbox):
            bus.ready.pop(connection_id, None)
        if frames is None and connection.leaving:
            close(bus, connection_id)
        return frames

    def unsent(self, connection_id: str, frames: Frames) -> None:
        """Put a message that was taken but could not be sent back to the front."""
        connection = self._bus.connections.get(connection_id)
        if connection is not None:
            connection.outbox.put_back(frames)
            self._bus.ready[connection_id] = None

    def ready(self) -> tuple[str, ...]:
        """The connections for which something is queued."""
        return tuple(self._bus.ready)

    def closed(self) -> tuple[str, ...]:
        """The connections to drop, each told once; the core has already forgotten them."""
        closed = tuple(self._bus.closed)
        self._bus.closed.clear()
        return closed

    def statistics(self) -> dict[str, int]:
        """What is held now (all zero when everyone has gone), and the counters so far."""
        bus = self._bus
        return {
            "connections": len(bus.connections),
            "dormant": bus.connections.dormant(),
            "names": len(bus.names),
            "subscriptions": len(bus.subscriptions),
            "topics": len(bus.topics),
            "pending": len(bus.pending),
            "queued_messages": sum(len(each.outbox) for each in bus.connections),
            "queued_bytes": sum(each.outbox.bytes for each in bus.connections),
            **bus.counters,
        }

    def verify(self) -> None:
        """Raise AssertionError when an invariant is broken; for tests."""
        audit.verify(self._bus)

    def _connection(self, peer: PeerCredentials) -> Connection:
        bus = self._bus
        principal = Principal(
            owner_node=bus.node,
            unix_uid=peer.uid,
            unix_gid=peer.gid,
            peer_pid=peer.pid,
            broker_epoch=bus.epoch,
            connection_id=self._new_id(),
        )
        return Connection(principal.connection_id, peer, principal.to_stamp(), Outbox(bus.limits))

    def _route(self, sender: Connection, header: Header, frames: Sequence[bytes]) -> None:
        if len(frames[0]) + len(frames[1]) <= MAX_MESSAGE_BYTES:
            route(self._bus, sender, header, frames[1])
            return
        self._bus.count("malformed")
        if header.type == REQUEST and header.id is not None:
            words = f"a message is at most {MAX_MESSAGE_BYTES} bytes; send less"
            self._bus.refuse(sender, header.id, limit_reached("message", MAX_MESSAGE_BYTES, words))

    def _malformed(self, connection_id: str, error: HeaderError) -> None:
        self._bus.count("malformed")
        if error.request_id is None:
            return
        sender = self._bus.connections.speaking(connection_id)
        if sender is not None and not sender.leaving:
            self._bus.refuse(sender, error.request_id, error.refusal)


def _open(frames: Sequence[bytes]) -> Header:
    if len(frames) != 2:
        raise HeaderError("message", "a message is a header and a body")
    return decode_header(frames[0], from_broker=False)
