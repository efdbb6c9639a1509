"""Connections: who they are, what they hold, and how long they may stay silent.

A connection is charged to its owner (a uid, or another machine) from the moment it is accepted. One
that has said nothing for ``hello_ms`` gives its slot back; it is remembered for a while, uncharged,
and is charged again when it does speak, so that a slow starter is served and a silent crowd holds
nothing.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from brokerd.core.charges import Meter
from brokerd.core.deadlines import Alarm, Deadlines
from brokerd.core.outbox import Outbox
from brokerd.errors import Refusal
from brokerd.limits import Limits
from brokerd.peers import NodePeer, Peer
from brokerd.principal import NodePrincipal, Principal


@dataclass(slots=True, eq=False)
class Connection:
    """One accepted connection. The dictionaries are ordered sets of names.

    ``principal`` is who it is without any record, and ``stamp`` says that: made once, since it is
    on every message of all that hold no record.
    """

    id: str
    peer: Peer
    principal: Principal | NodePrincipal
    stamp: bytes
    outbox: Outbox
    owner: Hashable = field(init=False)
    names: dict[str, None] = field(default_factory=dict)
    topics: dict[str, None] = field(default_factory=dict)
    services: dict[str, None] = field(default_factory=dict)
    owned_topics: dict[str, None] = field(default_factory=dict)
    route: str | None = None
    """The allocated name among ``names``, while a record is held here."""
    lost: bool = False
    """It held a record, and holds none now."""
    leaving: bool = False
    """It said bye: it holds nothing, and is forgotten once its queue is sent."""

    def __post_init__(self) -> None:
        self.owner = self.peer.owner

    def __repr__(self) -> str:
        state = "leaving" if self.leaving else "open"
        return f"<Connection {self.id[:8]} {state} queued={len(self.outbox)}>"


class Connections:
    """All connections by id: open (charged) and dormant (silent for too long, uncharged)."""

    def __init__(self, limits: Limits, alarm: Alarm) -> None:
        self._open: dict[str, Connection] = {}
        self._dormant: OrderedDict[str, Connection] = OrderedDict()
        self._max_dormant = limits.connections_per_uid
        self.hello: Deadlines[str] = Deadlines(limits.hello_ms, alarm)
        self.per_uid = Meter(
            "connections_per_uid", limits.connections_per_uid, "close some and connect again"
        )
        self.per_node = Meter(
            "connections_per_node",
            limits.connections_per_node,
            "close some of that machine and connect again",
        )

    def add(self, connection: Connection, now_ms: int) -> None:
        """Charge and open ``connection``. Raises Refusal when its owner has too many."""
        self._meter(connection).require(connection.owner)
        self._charge(connection)
        self.hello.add(connection.id, now_ms)

    def speaking(self, connection_id: str) -> Connection | None:
        """The open connection that now says something valid; None when there is no such one."""
        self.hello.discard(connection_id)
        return self._open.get(connection_id) or self._wake(connection_id)

    def get(self, connection_id: str) -> Connection | None:
        """The open connection of that id."""
        return self._open.get(connection_id)

    def knows(self, connection_id: str) -> bool:
        """Whether the id is of an open or a dormant connection."""
        return connection_id in self._open or connection_id in self._dormant

    def remove(self, connection_id: str) -> Connection | None:
        """Forget a connection and give its charge back; the connection if it was open."""
        self.hello.discard(connection_id)
        self._dormant.pop(connection_id, None)
        connection = self._open.pop(connection_id, None)
        if connection is not None:
            self._meter(connection).remove(connection.owner)
        return connection

    def expire(self, now_ms: int, at_most: int) -> list[str]:
        """Make silent connections dormant; the ids of those that are forgotten for it."""
        for connection_id in self.hello.expired(now_ms, at_most):
            connection = self._open.pop(connection_id)
            self._meter(connection).remove(connection.owner)
            self._dormant[connection_id] = connection
        surplus = max(0, len(self._dormant) - self._max_dormant)
        return [self._dormant.popitem(last=False)[0] for _ in range(surplus)]

    def dormant(self) -> int:
        """How many are dormant."""
        return len(self._dormant)

    def __iter__(self) -> Iterator[Connection]:
        return iter(self._open.values())

    def __len__(self) -> int:
        return len(self._open)

    def _meter(self, connection: Connection) -> Meter:
        return self.per_node if isinstance(connection.peer, NodePeer) else self.per_uid

    def _charge(self, connection: Connection) -> None:
        self._meter(connection).add(connection.owner)
        self._open[connection.id] = connection

    def _wake(self, connection_id: str) -> Connection | None:
        connection = self._dormant.get(connection_id)
        if connection is None:
            return None
        try:
            self._meter(connection).require(connection.owner)
        except Refusal:
            return None
        del self._dormant[connection_id]
        self._charge(connection)
        return connection
