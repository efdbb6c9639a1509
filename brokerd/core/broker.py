"""The broker's core: the state machine that the loop, and tests, drive.

Feed it connections, messages, disconnects and the time; take what is to be sent. It does no I/O,
keeps no clock of its own, and no input makes it raise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from brokerd.core import audit
from brokerd.core.arrival import judge, new_connection
from brokerd.core.bindings import Telling, notice_frames, settle
from brokerd.core.bus import Bus, random_id
from brokerd.core.departure import close, forget, tell_unanswered
from brokerd.core.outbox import Frames
from brokerd.core.statistics import collect
from brokerd.errors import Refusal
from brokerd.limits import Limits
from brokerd.peers import Peer

_EXPIRE_AT_MOST = 256
"""Of each kind per tick: the rest is due at once and comes with the next."""


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
        observable: frozenset[str] = frozenset(),
        new_id: Callable[[], str] = random_id,
    ) -> None:
        self._bus = Bus(
            epoch=epoch, node=node, uid=uid, pid=pid, limits=limits, now_ms=now_ms, new_id=new_id
        )
        self._bus.ephemeral = ephemeral
        self._bus.observable = observable
        self._notices = self._bus.sessions.notices
        self._telling: Telling | None = None

    def accept(self, peer: Peer, now_ms: int) -> str:
        """Let a peer in and mint its connection id. Raises Refusal (too many of its owner)."""
        bus = self._bus
        self._advance(now_ms)
        connection = new_connection(bus, peer)
        try:
            bus.connections.add(connection, bus.now_ms)
        except Refusal:
            bus.count("refused_connections")
            raise
        bus.count("accepted")
        return connection.id

    def receive(self, connection_id: str, frames: Sequence[bytes], now_ms: int) -> None:
        """Act on one message. Never raises: what is wrong is answered, or dropped and counted."""
        self._advance(now_ms)
        self._bus.count("received")
        judge(self._bus, connection_id, frames)
        settle(self._bus)

    def disbelieve(self) -> None:
        """Count a message that arrived but cannot be put down to a connection."""
        self._bus.count("received")
        self._bus.count("unknown_connection")

    def disconnected(self, connection_id: str, now_ms: int) -> None:
        """The connection is gone; unknown ids and repeats are no error."""
        self._advance(now_ms)
        forget(self._bus, connection_id)
        settle(self._bus)

    def fail_clock(self) -> None:
        """The broker's clock cannot be read: every record is revoked, and none is given again.

        Everything else goes on, in whatever time the caller hands in from now on.
        """
        self._bus.sessions.fail_clock()
        settle(self._bus)

    def tick(self, now_ms: int) -> None:
        """Let time have its effects: expired slots, silent connections, stale topics."""
        bus = self._bus
        self._advance(now_ms)
        for slot in bus.pending.expired(bus.now_ms, _EXPIRE_AT_MOST):
            tell_unanswered(bus, slot, "pending_expired")
        bus.retained.expire(bus.now_ms, _EXPIRE_AT_MOST)
        bus.topics.expire(bus.now_ms, _EXPIRE_AT_MOST)
        for connection_id in list(bus.farewells.expired(bus.now_ms, _EXPIRE_AT_MOST)):
            close(bus, connection_id)
        bus.closed.extend(bus.connections.expire(bus.now_ms, _EXPIRE_AT_MOST))
        bus.alarm.set(
            bus.pending.deadlines,
            bus.topics.stale,
            bus.farewells,
            bus.connections.hello,
            bus.retained.deadlines,
        )

    def next_deadline(self) -> int | None:
        """When to ``tick`` next; None when nothing waits for the time. May be early, never late."""
        due = (self._bus.alarm.at, self._bus.sessions.next_deadline())
        return min((each for each in due if each is not None), default=None)

    def take(self, connection_id: str) -> Frames | None:
        """The next [header, body, stamp] for a connection; None when there is none.

        Notices about records go in front. Take until None: that is also how a connection that
        said bye gets closed.
        """
        bus = self._bus
        connection = bus.connections.get(connection_id)
        if connection is None:
            return None
        if self._notices.any and (told := bus.sessions.take_notice(connection_id)) is not None:
            self._telling = Telling(told, notice_frames(bus, told))
            return self._telling.frames
        frames = connection.outbox.take()
        if not len(connection.outbox):
            bus.ready.pop(connection_id, None)
        if frames is None and connection.leaving:
            close(bus, connection_id)
        return frames

    def unsent(self, connection_id: str, frames: Frames) -> None:
        """Put the message that was taken last but could not be sent back to the front."""
        telling, self._telling = self._telling, None
        connection = self._bus.connections.get(connection_id)
        if connection is None:
            return
        if telling is not None and telling.frames is frames:
            self._bus.sessions.restore(connection_id, telling.told)
            return
        connection.outbox.put_back(frames)
        self._bus.ready[connection_id] = None

    def ready(self) -> tuple[str, ...]:
        """The connections for which something is queued."""
        if not self._notices.any:
            return tuple(self._bus.ready)
        return tuple(dict.fromkeys((*self._bus.sessions.waiting(), *self._bus.ready)))

    def closed(self) -> tuple[str, ...]:
        """The connections to drop, each told once; the core has already forgotten them."""
        closed = tuple(self._bus.closed)
        self._bus.closed.clear()
        return closed

    def statistics(self) -> dict[str, int]:
        """What is held now (all zero when everyone has gone), and the counters so far."""
        return collect(self._bus)

    def verify(self) -> None:
        """Raise AssertionError when an invariant is broken; for tests."""
        audit.verify(self._bus)

    def _advance(self, now_ms: int) -> None:
        """Let the time, and what it does to records, come before anything else.

        It never goes back, whatever the caller says; and many messages come in one millisecond.
        """
        if now_ms > self._bus.now_ms:
            self._bus.advance(now_ms)
            settle(self._bus)
