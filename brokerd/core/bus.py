"""The parts of the broker in one place, and the only way anything gets into a queue."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from brokerd import bodies
from brokerd.binding import SessionBinding
from brokerd.core.charges import Meter
from brokerd.core.connections import Connection, Connections
from brokerd.core.deadlines import Alarm, Deadlines
from brokerd.core.names import Names
from brokerd.core.observe import Observers
from brokerd.core.pending import Pending
from brokerd.core.sessions import Record, Sessions
from brokerd.core.sessions.retained import Retained
from brokerd.core.subscriptions import Subscriptions
from brokerd.core.topics import Topics
from brokerd.errors import ErrorCode, Refusal
from brokerd.limits import Limits
from brokerd.principal import Principal
from brokerd.wire import BROKER, RESPONSE, VERSION, encode_header

NO_STAMP: Final = b""
"""On the broker's own messages: the broker is nobody's principal."""

COUNTERS: Final = (
    "received",
    "delivered",
    "malformed",
    "unknown_connection",
    "unexpected_response",
    "unroutable_event",
    "queue_full",
    "binding_lost",
    "accepted",
    "refused_connections",
)
"""``delivered`` counts what was queued; those from ``malformed`` to ``binding_lost``, drops."""

BINDING_LOST: Final = "binding_lost"

FAREWELL_MS: Final = 1_000
"""How long the answer to broker.bye may wait for its peer to take it."""


def random_id() -> str:
    """128 random bits as 32 hex digits: an epoch or an id."""
    return secrets.token_hex(16)


class Bus:
    """State without policy: what is connected, named, subscribed, published, asked and queued."""

    def __init__(
        self,
        *,
        epoch: str,
        node: str,
        uid: int,
        pid: int,
        limits: Limits,
        now_ms: int,
        new_id: Callable[[], str] = random_id,
    ) -> None:
        self.epoch = epoch
        self.node = node
        self.uid = uid
        self.pid = pid
        self.limits = limits
        self.started_ms = self.now_ms = now_ms
        self.new_id = new_id
        self.ephemeral = False
        self.observable: frozenset[str] = frozenset()
        self.alarm = Alarm()
        self.connections = Connections(limits, self.alarm)
        self.names = Names(limits)
        self.subscriptions = Subscriptions(limits)
        self.topics = Topics(limits, self.alarm)
        self.pending = Pending(limits, self.alarm)
        self.sessions = Sessions(
            epoch=epoch, node=node, limits=limits.sessions, new_id=new_id, own_uid=uid
        )
        self.sessions.advance(now_ms)
        self.retained = Retained(limits.sessions, self.alarm)
        self.observers = Observers(limits)
        remedy = "take what waits first"
        self.guest_bytes = Meter("queue_bytes_per_guest", limits.queue_bytes_per_guest, remedy)
        self.all_guest_bytes = Meter("queue_bytes_of_guests", limits.queue_bytes_of_guests, remedy)
        self.farewells: Deadlines[str] = Deadlines(FAREWELL_MS, self.alarm)
        self.counters = dict.fromkeys(COUNTERS, 0)
        self.ready: dict[str, None] = {}
        self.closed: list[str] = []

    def advance(self, now_ms: int) -> None:
        """Move the clock to a later time, and the sessions with it."""
        self.now_ms = now_ms
        self.sessions.advance(now_ms)

    def count(self, counter: str) -> None:
        """Add one to a counter of ``COUNTERS``."""
        self.counters[counter] += 1

    def stamp_of(self, sender: Connection) -> bytes:
        """What to write on a message of ``sender`` that is queued now.

        Raises Refusal (EXPIRED) for one that lost the record it held: nobody, not its user.
        """
        if sender.route is None:
            self.require_not_lost(sender)
            return sender.stamp
        record = self.sessions.binding(sender.id)
        assert record is not None  # routes follow the records
        return self._bound(sender, record)

    def require_not_lost(self, sender: Connection) -> None:
        """Raise Refusal (EXPIRED) when ``sender`` held a record and holds none now."""
        if sender.lost:
            raise Refusal(
                ErrorCode.EXPIRED,
                "the record of this connection was lost; prove it again or use a new connection",
                reason=BINDING_LOST,
            )

    def note_delivery(self, sender: Connection, recipient: Connection) -> None:
        """Let ``recipient`` check the lease of the record that ``sender`` holds, if it holds one.

        Raises Refusal (RESOURCE_LIMIT), and then nothing is noted and nothing may be delivered.
        """
        record = self.sessions.binding(sender.id) if sender.route is not None else None
        if record is not None:
            self.sessions.delivering(record, recipient.id)

    def _bound(self, sender: Connection, record: Record) -> bytes:
        assert isinstance(sender.principal, Principal)
        parent = record.parent
        binding = SessionBinding(
            record_id=record.record_id,
            instance_id=record.instance_id,
            incarnation=record.incarnation,
            role=record.role,
            parent_instance=parent.instance_id if parent else None,
            parent_incarnation=parent.incarnation if parent else None,
            pane_id=record.pane_id,
            pane_generation=record.pane_generation,
            binding_generation=record.binding_generation,
            capabilities=record.capabilities,
            lease_remaining_ms=self.sessions.lease_remaining(record),
        )
        return replace(sender.principal, session=binding).to_stamp()

    def deliver(
        self,
        recipient: Connection,
        header: bytes,
        body: bytes,
        stamp: bytes,
        topic: str | None = None,
    ) -> bool:
        """Queue a message; False when the recipient's queue is full and it was dropped."""
        if not recipient.outbox.put((header, body, stamp), topic):
            self.count("queue_full")
            return False
        self.ready[recipient.id] = None
        self.count("delivered")
        return True

    def answer(self, requester: Connection, request_id: str, rc: int, body: bytes) -> bool:
        """Queue the broker's own answer to a request; False when it was dropped."""
        fields: dict[str, object] = {
            "v": VERSION,
            "type": RESPONSE,
            "id": request_id,
            "to": requester.id,
            "rc": rc,
            "from": BROKER,
        }
        return self.deliver(requester, encode_header(fields), body, NO_STAMP)

    def refuse(self, requester: Connection, request_id: str, refusal: Refusal) -> bool:
        """Queue a typed refusal of a request; False when it was dropped."""
        return self.answer(requester, request_id, refusal.rc, bodies.encode(refusal.body()))
