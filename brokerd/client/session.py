"""One conversation with one broker at a time, without I/O.

All state of the client changes here, synchronously: what waits for an answer, which names are
served, what is subscribed, and which broker epoch it all belongs to. Whoever owns the transport
calls ``opened``, ``receive`` and ``lost`` and sends what is in ``outbox``; callers get their
results through the ``Slot`` or the sink they handed in, which do no more than wake somebody.

Rules that hold here: nothing goes out before ``session.hello`` is answered; nothing is ever sent
twice unless its caller repeats it under its own id; an epoch that ended takes everything of its
own with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import Enum

from brokerd import bodies, wire
from brokerd.client.errors import BrokerLost, BusError, NotConnected, Overloaded
from brokerd.client.headers import check_size, event_header, request_header, response_header
from brokerd.client.messages import DirectedEvent, Reply, Request
from brokerd.client.names import Names
from brokerd.client.outbox import Outbox
from brokerd.client.sessions import lifecycle
from brokerd.client.slots import Answered, Outcome, Slot
from brokerd.client.subscriptions import Subscriptions
from brokerd.limits import DEFAULTS, Limits


class Phase(Enum):
    """Where the conversation stands."""

    DOWN = "down"
    """No transport."""
    OPENING = "opening"
    """``session.hello`` is under way."""
    OPEN = "open"


class Session:
    """See the module. ``limits`` are those of ``brokerd.limits``, from this end of the wire."""

    def __init__(self, limits: Limits = DEFAULTS) -> None:
        self.phase = Phase.DOWN
        self.epoch = ""
        """The broker epoch, or the last one; '' before the first."""
        self.connection_id = ""
        self.counters: Counter[str] = Counter()
        self.outbox = Outbox(messages=limits.queue_messages, size=limits.queue_bytes)
        self.names = Names(self.tell)
        self.subscriptions = Subscriptions(self.tell)
        self.lifecycle = lifecycle.Lifecycle()
        self.on_open: Callable[[], object] = _nothing
        """Called when hello has been answered: a new epoch has begun."""
        self.on_queued: Callable[[], object] = _nothing
        """Called when a caller has put something into ``outbox``."""
        self.on_drop: Callable[[], object] = _nothing
        """Called to have this connection ended and another made."""
        self._limits = limits
        self._pending: dict[str, Slot] = {}
        self._last_id = 0

    # The transport's side

    def opened(self) -> None:
        """A new transport is there: say hello on it."""
        self.phase = Phase.OPENING
        self.outbox.clear()
        self._tell("session.hello", {}, self._hello_answered)

    def lost(self) -> None:
        """The transport is gone: everything under way has failed."""
        self.phase = Phase.DOWN
        self.outbox.clear()
        pending, self._pending = self._pending, {}
        self.counters["lost"] += len(pending)
        for slot in pending.values():
            slot.complete(BrokerLost(self.epoch))
        self.names.lost()
        self.subscriptions.mark_gap()
        self.lifecycle.lost()

    def receive(self, frames: Sequence[bytes]) -> None:
        """One message from the broker. What cannot be used is counted and dropped."""
        try:
            raw_header, body, stamp = frames
            header = wire.decode_header(raw_header, from_broker=True)
        except (ValueError, wire.HeaderError):
            self.counters["malformed"] += 1
            return
        if header.gap:
            self.counters["gaps"] += 1
            self.subscriptions.mark_gap()
            self.lifecycle.mark_gap()
        _RECEIVE[header.type](self, header, body, stamp)

    # The callers' side

    @property
    def pending(self) -> int:
        """Requests that wait for their answer, housekeeping included."""
        return len(self._pending)

    def request(
        self, to: str, command: str, body: bytes, slot: Slot, *, again: str | None = None
    ) -> str:
        """Queue a request; its outcome goes to ``slot``. Returns its id, for ``abandon``.

        ``again`` is the id of an abandoned request of this connection to send once more, for verbs
        that keep their results by id; the caller sends the very bytes. Raises NotConnected,
        Overloaded or MessageTooLarge; then nothing was queued.
        """
        if self.phase is not Phase.OPEN:
            raise NotConnected
        if len(self._pending) >= self._limits.pending_per_connection:
            raise Overloaded("the table of pending requests", self._limits.pending_per_connection)
        request_id = self._send_request(to, command, body, slot, again)
        self.on_queued()
        return request_id

    def abandon(self, request_id: str) -> None:
        """Nobody waits for that answer any more; a late one is counted and dropped."""
        self._pending.pop(request_id, None)

    def tell(
        self,
        command: str,
        body: Mapping[str, object],
        answered: Answered | None = None,
    ) -> None:
        """Housekeeping with the broker: its outcome, an error included, goes to ``answered``."""
        if self.phase is Phase.OPEN:
            self._tell(command, body, answered)
            self.on_queued()
        elif answered is not None:
            answered(NotConnected())

    def send_event(self, recipient_connection: str, command: str, body: bytes) -> bool:
        """Queue a directed event; False when it cannot go now. Raises MessageTooLarge."""
        if self.phase is not Phase.OPEN:
            return False
        return self._offer(event_header(command, recipient_connection), body)

    # Inside

    def _send_request(
        self, to: str, command: str, body: bytes, slot: Slot, again: str | None = None
    ) -> str:
        request_id = self._next_id() if again is None else again
        header = request_header(request_id, to, command)
        check_size(header, body)
        self.outbox.put(header, body, reserved=to == wire.BROKER)
        self._pending[request_id] = slot
        return request_id

    def _next_id(self) -> str:
        self._last_id += 1
        return str(self._last_id)

    def _tell(
        self,
        command: str,
        body: Mapping[str, object],
        answered: Answered | None = None,
    ) -> None:
        slot = Slot(answered)
        try:
            self._send_request(wire.BROKER, command, bodies.encode(body), slot)
        except BusError as error:
            slot.complete(error)

    def _offer(self, header: bytes, body: bytes) -> bool:
        """Queue what nobody waits for; False, and counted, when there is no room."""
        check_size(header, body)
        try:
            self.outbox.put(header, body)
        except Overloaded:
            self.counters["dropped"] += 1
            return False
        self.on_queued()
        return True

    def _hello_answered(self, outcome: Outcome) -> None:
        body = outcome.body if isinstance(outcome, Reply) and outcome.ok else None
        if body is None or not {"broker_epoch", "connection_id"} <= body.keys():
            self.counters["hello_refused"] += 1
            return
        self.epoch = str(body["broker_epoch"])
        self.connection_id = str(body["connection_id"])
        self.phase = Phase.OPEN
        self.names.renew()
        self.subscriptions.renew()
        self.on_open()

    def _take_response(self, header: wire.Header, body: bytes, stamp: bytes) -> None:
        slot = self._pending.pop(header.id or "", None)
        if slot is None:
            self.counters["late"] += 1
            return
        slot.complete(Reply(header.rc or 0, body, stamp))

    def _take_request(self, header: wire.Header, body: bytes, stamp: bytes) -> None:
        request = Request(
            command=header.command or "",
            raw=body,
            request_id=header.id or "",
            name=(header.to or "").partition(".")[0],
            from_connection=header.from_ or "",
            stamp=stamp,
            respond=self._responder(self.epoch),
        )
        if not self.names.deliver(request):
            self.counters["refused"] += 1

    def _responder(
        self, epoch: str
    ) -> Callable[[Request, int, bytes | Mapping[str, object]], bool]:
        """How requests of one epoch are answered: not at all once it has ended."""

        def respond(request: Request, rc: int, body: bytes | Mapping[str, object]) -> bool:
            raw = body if isinstance(body, bytes) else bodies.encode(body)
            if self.epoch != epoch or self.phase is not Phase.OPEN:
                return False
            return self._offer(response_header(request.id, request.from_connection, rc), raw)

        return respond

    def _take_event(self, header: wire.Header, body: bytes, stamp: bytes) -> None:
        if header.command in lifecycle.COMMANDS:
            self._take_lifecycle(header, body)
        elif header.topic is None:
            self.subscriptions.directed(DirectedEvent(header.command or "", body, stamp))
        elif not self.subscriptions.published(header.topic, header.seq or 0, body):
            self.counters["malformed"] += 1

    def _take_lifecycle(self, header: wire.Header, body: bytes) -> None:
        if header.from_ != wire.BROKER:
            self.counters["forged"] += 1
        elif not self.lifecycle.take(header.command or "", body, self.epoch):
            self.counters["malformed"] += 1


_RECEIVE: Mapping[str, Callable[[Session, wire.Header, bytes, bytes], None]] = {
    wire.RESPONSE: Session._take_response,
    wire.REQUEST: Session._take_request,
    wire.EVENT: Session._take_event,
}


def _nothing() -> None:
    """No one to tell."""
