"""The pump: between the transports and the core, a bounded amount of work per turn.

A peer that takes nothing is set aside and tried again after a short pause; nobody waits for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from brokerd.core import BrokerCore
from brokerd.errors import Refusal
from brokerd.io.channel import Channel, Sent
from brokerd.io.peers import Peer, Peers
from brokerd.io.processes import Processes
from brokerd.io.router import Router
from brokerd.io.zap import not_now
from brokerd.peers import NodePeer, PeerCredentials

_PROBE_AT_MOST: Final = 32
_NOT_BLOCKED: Final = (0, 0)
_PAUSE_FIRST_MS: Final = 1
_PAUSE_MOST_MS: Final = 20
_TOLD_MS: Final = 60_000
"""A joined peer says itself when it takes messages again: ``writable``."""
_PROBE: Final = b""
"""A probe is one empty part: not a message of the bus, so every peer drops it."""


class Pump:
    """Moves messages. Its caller owns the loop and tells the time in milliseconds."""

    def __init__(self, core: BrokerCore, peers: Peers, processes: Processes) -> None:
        self._core = core
        self._peers = peers
        self._processes = processes
        self._blocked: dict[str, tuple[int, int]] = {}  # connection id: retry at, pause

    def admit(self, peer: PeerCredentials, router: Router, now_ms: int) -> str:
        """The ZAP step's decision: a connection id. Raises Refusal or Denied."""
        if not self._processes.watch(peer.pid):
            raise not_now("the connecting process cannot be found")
        try:
            connection_id = self._core.accept(peer, now_ms)
        except Refusal:
            self._processes.release(peer.pid)
            raise
        self._processes.attach(peer.pid, connection_id)
        self._peers.add(Peer(connection_id, peer.pid, router=router))
        return connection_id

    def admit_node(self, peer: NodePeer, router: Router, now_ms: int) -> str:
        """The same for another machine, whose process nobody here can watch. Raises Refusal."""
        connection_id = self._core.accept(peer, now_ms)
        self._peers.add(Peer(connection_id, router=router, node=peer))
        return connection_id

    def nodes(self) -> list[tuple[str, NodePeer]]:
        """The connections of other machines."""
        return self._peers.nodes()

    def join(self, peer: PeerCredentials, channel: Channel, now_ms: int) -> str:
        """A peer of a transport that sees its end: its connection id. Raises Refusal.

        Its transport calls ``heard``, ``writable`` and ``left``.
        """
        connection_id = self._core.accept(peer, now_ms)
        self._peers.add(Peer(connection_id, channel=channel))
        return connection_id

    def heard(self, connection_id: str, parts: Sequence[bytes], now_ms: int) -> None:
        """A message of a joined peer; what it leads to goes out at once."""
        self._core.receive(connection_id, parts, now_ms)
        self.flush(now_ms)

    def writable(self, connection_id: str, now_ms: int) -> None:
        """A joined peer takes messages again."""
        if self._blocked.pop(connection_id, None) is not None:
            self._flush(connection_id, now_ms)

    def left(self, connection_id: str, now_ms: int) -> None:
        """That connection has ended, or must; unknown ids are no error."""
        self._gone(connection_id, now_ms)

    def receive(self, router: Router, now_ms: int) -> None:
        """Take one message off the socket; what it leads to goes out at once.

        One, because the caller polls again anyway: to look for another that is not there costs
        more than the poll does.
        """
        message = router.receive()
        if message is None:
            return
        connection_id, routing_id, parts = message
        if not router.gave(routing_id):
            # ZAP does not show a peer's own choice of routing id, so it is refused here.
            self._gone(connection_id, now_ms)
            self._core.disbelieve()
        elif self._peers.hear(connection_id, router, routing_id, now_ms):
            self._core.receive(connection_id, parts, now_ms)
            self.flush(now_ms)
        else:
            self._core.disbelieve()

    def flush(self, now_ms: int) -> None:
        """Send what is queued to everyone who takes it."""
        for connection_id in self._core.ready():
            if not self._blocked or self._retry_at(connection_id) <= now_ms:
                self._flush(connection_id, now_ms)

    def housekeep(self, now_ms: int) -> None:
        """What the time and the ends of processes lead to, a bounded amount of it."""
        self._end_of_processes(now_ms)
        self._probe(now_ms)
        self._core.tick(now_ms)
        self.flush(now_ms)
        for connection_id in self._core.closed():
            self._forget(connection_id)

    def _end_of_processes(self, now_ms: int) -> None:
        """Have the connections of ended processes looked at."""
        for connection_id in self._processes.ended():
            peer = self._peers.get(connection_id)
            if peer is not None and peer.channel is None:
                self._gone(connection_id, now_ms)  # it never spoke and never will
            self._peers.suspect(connection_id, now_ms)

    def _probe(self, now_ms: int) -> None:
        """Look whether connections are still there, a bounded number of them."""
        for peer in self._peers.due(now_ms, _PROBE_AT_MOST):
            if self._send(peer, _PROBE) is Sent.GONE:
                self._gone(peer.connection_id, now_ms)

    def next_deadline(self) -> int | None:
        """When to ``housekeep`` without any event; None when there is never a need."""
        due = [self._peers.next_deadline(), self._core.next_deadline()]
        due.extend(retry_at for retry_at, _ in self._blocked.values())
        return min((each for each in due if each is not None), default=None)

    def _flush(self, connection_id: str, now_ms: int) -> None:
        peer = self._peers.get(connection_id)
        if peer is None:
            return
        while (frames := self._core.take(connection_id)) is not None:
            sent = self._send(peer, *frames)
            if sent is Sent.GONE:
                self._gone(connection_id, now_ms)
                return
            if sent is Sent.FULL:
                self._core.unsent(connection_id, frames)
                self._block(peer, now_ms)
                return
        self._blocked.pop(connection_id, None)

    @staticmethod
    def _send(peer: Peer, *parts: bytes) -> Sent:
        return peer.channel.send(*parts) if peer.channel is not None else Sent.GONE

    def _retry_at(self, connection_id: str) -> int:
        return self._blocked.get(connection_id, _NOT_BLOCKED)[0]

    def _block(self, peer: Peer, now_ms: int) -> None:
        _, pause = self._blocked.get(peer.connection_id, _NOT_BLOCKED)
        pause = min(2 * pause, _PAUSE_MOST_MS) or _PAUSE_FIRST_MS
        if peer.router is None:
            pause = _TOLD_MS
        self._blocked[peer.connection_id] = now_ms + pause, pause

    def _gone(self, connection_id: str, now_ms: int) -> None:
        self._core.disconnected(connection_id, now_ms)
        self._forget(connection_id)

    def _forget(self, connection_id: str) -> None:
        self._blocked.pop(connection_id, None)
        peer = self._peers.remove(connection_id)
        if peer is None:
            return
        self._processes.detach(peer.pid, connection_id)
        if peer.channel is not None:
            peer.channel.close()
