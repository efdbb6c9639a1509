"""A bus without sockets: the broker's own core and the client's own session, joined in memory.

For tests and for programs in one process. What a message meets on its way is the same code as with
a real broker; only the transport is replaced, by calls. It needs no real time, so it works under
Trio's ``MockClock`` with autojump::

    memory = MemoryBroker()
    async with memory.connect() as bus:
        reply = await bus.request("brokerd", "broker.ping", {})

``kill`` and ``restart`` end the broker and start another one under a new epoch. ``stall`` makes a
peer that reads nothing.
"""

from __future__ import annotations

import math
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import trio

from brokerd.client.bus import Bus
from brokerd.client.errors import NotConnected
from brokerd.client.session import Session
from brokerd.client.waiting import background
from brokerd.core.broker import BrokerCore
from brokerd.core.bus import random_id
from brokerd.limits import DEFAULTS, Limits
from brokerd.principal import PeerCredentials


class _Port:
    """One connection: a session and the id that the core knows it by ('' while there is none)."""

    def __init__(self, session: Session, peer: PeerCredentials) -> None:
        self.session = session
        self.peer = peer
        self.id = ""
        self.stalled = False
        self.dropping = False
        """Whether this connection is to end and another to be made, once nothing moves."""
        session.on_drop = self.drop

    def drop(self) -> None:
        """End this connection; noted only, since messages may be being moved now."""
        self.dropping = True
        self.session.on_queued()

    def send(self, core: BrokerCore, now_ms: int) -> bool:
        """Move all that the session has queued into the core; whether there was any."""
        outbox, moved = self.session.outbox, False
        while (message := outbox.head()) is not None:
            outbox.drop_head()
            core.receive(self.id, message, now_ms)
            moved = True
        return moved

    def receive(self, core: BrokerCore) -> bool:
        """Move all that the core has queued for it into the session; whether there was any."""
        moved = False
        while not self.stalled and (frames := core.take(self.id)) is not None:
            self.session.receive(frames)
            moved = True
        return moved


class MemoryBroker:
    """A broker in this process; use it within one Trio run. ``limits`` are the broker's."""

    def __init__(self, *, limits: Limits = DEFAULTS, node: str = "memory") -> None:
        self._limits = limits
        self._node = node
        self._core: BrokerCore | None = None
        self._ports: dict[Session, _Port] = {}
        self._busy = False
        self._due: int | None = None
        self._deadline = trio.lowlevel.ParkingLot()

    @property
    def core(self) -> BrokerCore:
        """The core of the broker that lives now. Raises NotConnected after ``kill``."""
        if self._core is None:
            raise NotConnected
        return self._core

    @asynccontextmanager
    async def connect(
        self, *, limits: Limits = DEFAULTS, peer: PeerCredentials | None = None
    ) -> AsyncIterator[Bus]:
        """A connection, as ``brokerd.client.connect``; ``peer`` says as whom (None: this process).

        Raises NotConnected after ``kill``, Refusal when the broker lets no more of that uid in.
        """
        if self._core is None and not self._ports:
            self.restart()
        session = Session(limits)
        port = _Port(session, peer or _this_process())
        session.on_queued = self.settle
        self._attach(port)
        self._ports[session] = port
        try:
            self.settle()
            async with background(self._keep_time):
                yield Bus(session)
        finally:
            session.tell("broker.bye", {})
            del self._ports[session]
            self._detach(port)

    def kill(self) -> None:
        """End the broker: whatever is under way is lost, and nothing answers until ``restart``."""
        self._core = None
        self._due = None
        self._deadline.unpark_all()
        for port in list(self._ports.values()):
            port.id = ""
            port.session.lost()

    def restart(self, first: Callable[[BrokerCore], object] | None = None) -> None:
        """Start another broker under a new epoch; all connections are made again.

        ``first`` may do something with the new core before they are.
        """
        if self._core is not None:
            self.kill()
        self._core = BrokerCore(
            epoch=random_id(),
            node=self._node,
            uid=os.geteuid(),
            pid=os.getpid(),
            limits=self._limits,
            now_ms=_now_ms(),
        )
        if first is not None:
            first(self._core)
        for port in self._ports.values():
            self._attach(port)
        self.settle()

    def stall(self, bus: Bus, *, stalled: bool = True) -> None:
        """Let that peer read nothing (its messages wait in the broker), or read again."""
        self._ports[bus._session].stalled = stalled
        self.settle()

    def _attach(self, port: _Port) -> None:
        port.id, port.dropping = self.core.accept(port.peer, _now_ms()), False
        port.session.opened()

    def _detach(self, port: _Port) -> None:
        if self._core is not None:
            self._core.disconnected(port.id, _now_ms())
            self.settle()
        port.session.lost()

    def settle(self) -> None:
        """Move messages until nothing moves. Sessions only wake tasks, so that this ends."""
        if self._busy or self._core is None:
            return
        self._busy = True
        try:
            while self._turn(self._core) or self._replace():
                pass
        finally:
            self._busy = False
        if self._core.next_deadline() != self._due:
            self._due = self._core.next_deadline()
            self._deadline.unpark_all()

    def _replace(self) -> bool:
        """Give those who left another connection; whether there were any."""
        leaving = [port for port in self._ports.values() if port.dropping]
        for port in leaving:
            self.core.disconnected(port.id, _now_ms())
            port.session.lost()
            self._attach(port)
        return bool(leaving)

    def _turn(self, core: BrokerCore) -> bool:
        ports = list(self._ports.values())
        sent = [port.send(core, _now_ms()) for port in ports]
        received = [port.receive(core) for port in ports]
        return any(sent) or any(received)

    async def _keep_time(self, _nursery: trio.Nursery) -> None:
        """Tell the core of the time whenever something is due. One such task is enough; each
        connection runs one, so that there is one while anybody is connected."""
        while True:
            with trio.move_on_at(math.inf if self._due is None else (self._due + 1) / 1000) as wait:
                await self._deadline.park()
            if wait.cancelled_caught and self._core is not None:
                self._core.tick(_now_ms())
                self.settle()


def _now_ms() -> int:
    return round(trio.current_time() * 1000)


def _this_process() -> PeerCredentials:
    return PeerCredentials(os.geteuid(), os.getegid(), os.getpid())
