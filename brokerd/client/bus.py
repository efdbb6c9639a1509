"""The bus as callers see it: one connection to the broker, from inside a Trio program."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import trio

from brokerd import bodies, wire
from brokerd.client.errors import NotConnected
from brokerd.client.messages import Reply, Request
from brokerd.client.names import NameSink
from brokerd.client.serving import Dispatcher, Handler
from brokerd.client.session import Phase, Session
from brokerd.client.sessions.side import SessionSide
from brokerd.client.slots import Slot, refusal_of, reply_of
from brokerd.client.streams import Attendance, DirectedEvents, Events, Requests
from brokerd.client.waiting import asked, background, outcome_of

REQUEST_TIMEOUT = 30.0
"""Seconds a request waits unless its caller says else."""

_HOUSEKEEPING_TIMEOUT = 10.0
"""Seconds the broker has for a registration, a subscription or a publication."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """The client's state in numbers: what waits now, and counters since ``connect``."""

    connected: bool
    broker_epoch: str
    pending: int
    queued_messages: int
    queued_bytes: int
    names: tuple[str, ...]
    subscriptions: int
    counters: Mapping[str, int]


class Bus(SessionSide):
    """One connection. Get one from ``connect``; use it from the Trio run it was made in.

    After the broker has ended, requests raise NotConnected until a new one is there; names and
    subscriptions come back by themselves. ``connection_id`` and ``broker_epoch`` are those of the
    connection that is, or was last, open.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._epochs = trio.lowlevel.ParkingLot()
        session.on_open = self._epochs.unpark_all

    @property
    def connected(self) -> bool:
        """Whether requests can be sent now."""
        return self._session.phase is Phase.OPEN

    @property
    def connection_id(self) -> str:
        """This connection's id (32 hex digits), minted by the broker."""
        return self._session.connection_id

    @property
    def broker_epoch(self) -> str:
        """The broker's epoch (32 hex digits); another broker never has the same."""
        return self._session.epoch

    def statistics(self) -> Statistics:
        """A snapshot for people and tests; never on a hot path."""
        session = self._session
        return Statistics(
            connected=self.connected,
            broker_epoch=session.epoch,
            pending=session.pending,
            queued_messages=len(session.outbox),
            queued_bytes=session.outbox.size,
            names=tuple(session.names.list()),
            subscriptions=len(session.subscriptions),
            counters=dict(session.counters),
        )

    async def request(
        self,
        to: str,
        command: str,
        body: Mapping[str, object] | None = None,
        *,
        timeout: float | None = REQUEST_TIMEOUT,
    ) -> Reply:
        """Send a JSON object and wait for the answer; a refusal is an answer.

        ``timeout`` is in seconds; None waits for as long as the broker lives. Raises NotConnected,
        Overloaded, MessageTooLarge (nothing was sent), BrokerLost, RequestTimeout (it may have
        happened).
        """
        return await self.request_raw(to, command, bodies.encode(body or {}), timeout=timeout)

    async def request_raw(
        self, to: str, command: str, body: bytes, *, timeout: float | None = REQUEST_TIMEOUT
    ) -> Reply:
        """As ``request``, with the body's bytes as they are."""
        outcome, _ = await asked(self._session, to, command, body, timeout)
        return reply_of(outcome, timeout)

    async def publish(self, topic: str, value: object) -> int:
        """Make ``value`` (anything JSON can say) the topic's latest; returns its sequence number.

        Raises Refused when the topic is another's or too large, and what ``request`` raises.
        """
        reply = await self.request(
            wire.BROKER,
            "broker.publish",
            {"topic": topic, "value": value},
            timeout=_HOUSEKEEPING_TIMEOUT,
        )
        error = refusal_of(reply)
        if error is not None:
            raise error
        seq = (reply.body or {}).get("seq")
        return seq if isinstance(seq, int) else 0

    def send_event(
        self, recipient_connection: str, command: str, body: bytes | Mapping[str, object]
    ) -> bool:
        """Send a directed event, best effort, without waiting; False when it cannot go now.

        The broker delivers it only to a subscriber of a name that this connection serves. Raises
        MessageTooLarge.
        """
        raw = body if isinstance(body, bytes) else bodies.encode(body)
        return self._session.send_event(recipient_connection, command, raw)

    async def wait_epoch_change(self, epoch: str) -> str:
        """Wait until connected under an epoch other than ``epoch``; returns the new one."""
        await trio.lowlevel.checkpoint()
        while not self.connected or self.broker_epoch == epoch:
            await self._epochs.park()
        return self.broker_epoch

    @asynccontextmanager
    async def listen(self, name: str, *, capacity: int = 64) -> AsyncIterator[Requests]:
        """Serve ``name`` by iterating over its requests in order; answer with ``respond``.

        At most ``capacity`` requests wait; more are answered RESOURCE_LIMIT. Raises NameTaken (on
        entry, or from the iteration when another took the name under a new broker), Refused,
        NotConnected, BrokerLost, RequestTimeout.
        """
        requests = Requests(capacity)
        async with self._serving(name, requests):
            yield requests

    @asynccontextmanager
    async def attend(self, name: str, take: Callable[[Request], None]) -> AsyncIterator[Attendance]:
        """Serve ``name`` by calling ``take(request)`` for each request, in order, as it arrives.

        ``take`` runs inside the connection's own task: it must be quick, and answers with
        ``respond``, now or later. Bound what it begins. Raises as ``listen``, and
        `Attendance.wait_lost` raises when another took the name under a new broker.
        """
        attendance = Attendance(take)
        async with self._serving(name, attendance):
            yield attendance

    @asynccontextmanager
    async def serve(
        self, name: str, handler: Handler, *, concurrency: int = 64, capacity: int = 64
    ) -> AsyncIterator[None]:
        """Serve ``name`` by a task per request, ``concurrency`` at a time, in no set order.

        ``handler(request)`` returns ``(rc, body)``. A Refusal it raises is the answer; any other
        exception is answered UNAVAILABLE (``handler_failed``) and logged without the payload.
        ``capacity`` more requests wait, the rest are answered RESOURCE_LIMIT. Raises as ``listen``;
        a name lost to another under a new broker ends the block with NameTaken. On leaving the
        block, handlers still running are cancelled.
        """
        dispatcher = Dispatcher(handler, concurrency=concurrency, capacity=capacity)
        async with background(dispatcher.run), self._serving(name, dispatcher):
            try:
                yield
            finally:
                dispatcher.close()

    @asynccontextmanager
    async def subscribe(self, topic: str) -> AsyncIterator[Events]:
        """Follow a topic; the first event is the value it has, if it has one.

        Raises Refused, NotConnected, BrokerLost, RequestTimeout. Goes on under a new broker.
        """
        self._require_connection()
        events = Events()
        answered = Slot()
        self._session.subscriptions.follow_topic(topic, events, answered.complete)
        try:
            await _settled(answered)
            yield events
        finally:
            self._session.subscriptions.leave_topic(topic, events)

    @asynccontextmanager
    async def subscribe_service(
        self, service: str, *, capacity: int = 256
    ) -> AsyncIterator[DirectedEvents]:
        """Follow the events that a service sends to this connection alone.

        Such an event does not name its service: with several subscriptions of this kind on one
        bus, each stream gets them all; tell them apart by command or sender. Raises as
        ``subscribe``.
        """
        self._require_connection()
        events = DirectedEvents(capacity)
        answered = Slot()
        self._session.subscriptions.follow_service(service, events, answered.complete)
        try:
            await _settled(answered)
            yield events
        finally:
            self._session.subscriptions.leave_service(service, events)

    def _require_connection(self) -> None:
        if not self.connected:
            raise NotConnected

    @asynccontextmanager
    async def _serving(self, name: str, sink: NameSink) -> AsyncIterator[None]:
        registered = Slot()
        self._require_connection()
        self._session.names.serve(name, sink, registered.complete)
        try:
            await _settled(registered, name)
            yield
        finally:
            self._session.names.stop(name, sink)


async def _settled(slot: Slot, name: str = "") -> None:
    """Wait for the answer to housekeeping; raise when it is anything but done."""
    outcome = await outcome_of(slot, _HOUSEKEEPING_TIMEOUT)
    error = refusal_of(reply_of(outcome, _HOUSEKEEPING_TIMEOUT), name)
    if error is not None:
        raise error
