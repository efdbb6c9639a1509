"""The parts of the broker in one place, and the only way anything gets into a queue."""

from __future__ import annotations

from typing import Final

from brokerd import bodies
from brokerd.core.connections import Connection, Connections
from brokerd.core.deadlines import Alarm, Deadlines
from brokerd.core.names import Names
from brokerd.core.pending import Pending
from brokerd.core.subscriptions import Subscriptions
from brokerd.core.topics import Topics
from brokerd.errors import Refusal
from brokerd.limits import Limits
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
    "accepted",
    "refused_connections",
)
"""``delivered`` counts what was queued; the others from ``malformed`` to ``queue_full``, drops."""

FAREWELL_MS: Final = 1_000
"""How long the answer to broker.bye may wait for its peer to take it."""


class Bus:
    """State without policy: what is connected, named, subscribed, published, asked and queued."""

    def __init__(
        self, *, epoch: str, node: str, uid: int, pid: int, limits: Limits, now_ms: int
    ) -> None:
        self.epoch = epoch
        self.node = node
        self.uid = uid
        self.pid = pid
        self.limits = limits
        self.started_ms = self.now_ms = now_ms
        self.ephemeral = False
        self.alarm = Alarm()
        self.connections = Connections(limits, self.alarm)
        self.names = Names(limits)
        self.subscriptions = Subscriptions(limits)
        self.topics = Topics(limits, self.alarm)
        self.pending = Pending(limits, self.alarm)
        self.farewells: Deadlines[str] = Deadlines(FAREWELL_MS, self.alarm)
        self.counters = dict.fromkeys(COUNTERS, 0)
        self.ready: dict[str, None] = {}
        self.closed: list[str] = []

    def advance(self, now_ms: int) -> None:
        """Move the clock; it never goes back, whatever the caller says."""
        self.now_ms = max(self.now_ms, now_ms)

    def count(self, counter: str) -> None:
        """Add one to a counter of ``COUNTERS``."""
        self.counters[counter] += 1

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

    def answer(self, requester: Connection, request_id: str, rc: int, body: bytes) -> None:
        """Queue the broker's own answer to a request."""
        fields: dict[str, object] = {
            "v": VERSION,
            "type": RESPONSE,
            "id": request_id,
            "to": requester.id,
            "rc": rc,
            "from": BROKER,
        }
        self.deliver(requester, encode_header(fields), body, NO_STAMP)

    def refuse(self, requester: Connection, request_id: str, refusal: Refusal) -> None:
        """Queue a typed refusal of a request."""
        self.answer(requester, request_id, refusal.rc, bodies.encode(refusal.body()))
