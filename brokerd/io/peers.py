"""Where each connection is reached, and when to look whether it is still there.

A routing id is libzmq's address of a live connection: never identity, never kept beyond it. It is
learned from the first message that carries the connection id, and every later message must agree,
on the routing id and on the socket. Connections of other transports come with their channel and are
never probed: their end is seen.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Final

from brokerd.io.channel import Channel
from brokerd.io.router import Route, Router
from brokerd.peers import NodePeer

PROBE_FIRST_MS: Final = 1
"""How soon a connection of an ended process is looked at; then ever more slowly."""


@dataclass(slots=True, eq=False)
class Peer:
    """One connection as its transport knows it. ``channel`` is None until it has spoken.

    ``pid`` is of its process, 0 when that is not watched.
    """

    connection_id: str
    pid: int = 0
    channel: Channel | None = None
    router: Router | None = None
    """The socket it came in on, when that is a ROUTER, and its address there."""
    routing_id: bytes = b""
    node: NodePeer | None = None
    """Which other machine it is of."""
    heard_ms: int = 0
    probe_after_ms: int = 0
    """The pause before the next probe; 0 is the slow, regular one."""
    probe_at_ms: int = 0


class Peers:
    """All connections by id, and the order in which to probe them."""

    def __init__(self, probe_ms: int) -> None:
        self._probe_ms = probe_ms
        self._peers: dict[str, Peer] = {}
        self._nodes: dict[str, NodePeer] = {}
        self._probes: list[tuple[int, str]] = []

    def add(self, peer: Peer) -> None:
        """A connection was let in."""
        self._peers[peer.connection_id] = peer
        if peer.node is not None:
            self._nodes[peer.connection_id] = peer.node

    def get(self, connection_id: str) -> Peer | None:
        """The connection of that id."""
        return self._peers.get(connection_id)

    def remove(self, connection_id: str) -> Peer | None:
        """Forget a connection."""
        self._nodes.pop(connection_id, None)
        return self._peers.pop(connection_id, None)

    def nodes(self) -> list[tuple[str, NodePeer]]:
        """The connections of other machines."""
        return list(self._nodes.items())

    def hear(self, connection_id: str, router: Router, routing_id: bytes, now_ms: int) -> bool:
        """Note a message; False when it must not be believed.

        That is when the connection is unknown, of another socket, or known under another routing
        id.
        """
        peer = self._peers.get(connection_id)
        if peer is None or peer.router is not router:
            return False
        if peer.channel is None:
            peer.channel = Route(router, routing_id)
            peer.routing_id = routing_id
            self._schedule(peer, now_ms + self._probe_ms)
        peer.heard_ms = now_ms
        return peer.routing_id == routing_id

    def suspect(self, connection_id: str, now_ms: int) -> None:
        """Its process has ended: probe it soon, and again until the send fails."""
        peer = self._peers.get(connection_id)
        if peer is not None and peer.routing_id:
            peer.probe_after_ms = PROBE_FIRST_MS
            self._schedule(peer, now_ms)

    def due(self, now_ms: int, at_most: int) -> list[Peer]:
        """Up to ``at_most`` connections to probe now; each is scheduled again."""
        found: list[Peer] = []
        while self._probes and self._probes[0][0] <= now_ms and len(found) < at_most:
            when, connection_id = heapq.heappop(self._probes)
            peer = self._peers.get(connection_id)
            if peer is not None and peer.probe_at_ms == when and self._advance(peer, now_ms):
                found.append(peer)
        return found

    def next_deadline(self) -> int | None:
        """When the next probe is due."""
        return self._probes[0][0] if self._probes else None

    def __len__(self) -> int:
        return len(self._peers)

    def _advance(self, peer: Peer, now_ms: int) -> bool:
        """Schedule the next probe; whether one is wanted now."""
        if peer.probe_after_ms:
            self._schedule(peer, now_ms + peer.probe_after_ms)
            peer.probe_after_ms = min(2 * peer.probe_after_ms, self._probe_ms)
            return True
        quiet_until = peer.heard_ms + self._probe_ms
        idle = quiet_until <= now_ms
        self._schedule(peer, now_ms + self._probe_ms if idle else quiet_until)
        return idle

    def _schedule(self, peer: Peer, at_ms: int) -> None:
        peer.probe_at_ms = at_ms
        heapq.heappush(self._probes, (at_ms, peer.connection_id))
