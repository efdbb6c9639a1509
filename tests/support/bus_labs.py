"""Two buses with one interface, for tests that must hold for both: in memory, and for real.

``Peer`` speaks in raw frames on either, to say what the client library never would and to read
only when told to.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, closing
from typing import Protocol

import pytest
import trio
import trio.testing
import zmq

from brokerd import bodies, wire
from brokerd.client import Bus, connect
from brokerd.client.memory import MemoryBroker
from brokerd.principal import PeerCredentials
from brokerd.rundir import socket_path
from tests.support.broker_process import BrokerProcess, broker_process

DEADLINE_SECONDS = 30.0


class Peer:
    """A connection in raw frames; ``connection_id`` is known once ``hello`` is answered."""

    connection_id = ""

    def send_frames(self, frames: tuple[bytes, ...]) -> None:
        raise NotImplementedError

    async def receive_frames(self) -> list[bytes]:
        raise NotImplementedError

    def send(self, fields: Mapping[str, object], body: object = None) -> None:
        raw = body if isinstance(body, bytes) else bodies.encode({} if body is None else body)
        self.send_frames((wire.encode_header({"v": 1, **fields}), raw))

    def ask(self, request_id: str, to: str, command: str, body: object = None) -> None:
        self.send({"type": "request", "id": request_id, "to": to, "command": command}, body)

    async def receive(self) -> tuple[wire.Header, bytes, bytes]:
        header, body, stamp = await self.receive_frames()
        return wire.decode_header(header, from_broker=True), body, stamp

    async def tell(self, command: str, body: object = None) -> dict[str, bodies.Json]:
        """One of the broker's verbs, whose answer must be the next message."""
        self.ask("verb", wire.BROKER, command, body)
        header, raw, _ = await self.receive()
        assert (header.type, header.id, header.rc) == (wire.RESPONSE, "verb", 0)
        return bodies.decode_object(raw)

    async def hello(self) -> None:
        self.connection_id = str((await self.tell("session.hello"))["connection_id"])


class MemoryPeer(Peer):
    def __init__(self, memory: MemoryBroker) -> None:
        self._memory = memory
        me = PeerCredentials(os.geteuid(), os.getegid(), os.getpid())
        self._id = memory.core.accept(me, 0)

    def send_frames(self, frames: tuple[bytes, ...]) -> None:
        self._memory.core.receive(self._id, frames, 0)
        self._memory.settle()

    async def receive_frames(self) -> list[bytes]:
        for _ in range(10_000):
            if (frames := self._memory.core.take(self._id)) is not None:
                return list(frames)
            await trio.lowlevel.checkpoint()
        raise AssertionError("nothing arrives any more")


class SocketPeer(Peer):
    def __init__(self, socket: zmq.Socket[bytes]) -> None:
        self._socket = socket

    def send_frames(self, frames: tuple[bytes, ...]) -> None:
        self._socket.send_multipart(frames)

    async def receive_frames(self) -> list[bytes]:
        while not int(self._socket.get(zmq.EVENTS)) & int(zmq.POLLIN):
            await trio.lowlevel.wait_readable(int(self._socket.get(zmq.FD)))
        return self._socket.recv_multipart()


class Lab(Protocol):
    """A broker, connections to it, and its end."""

    def connect(self) -> AbstractAsyncContextManager[Bus]: ...
    def peer(self) -> Peer: ...
    async def kill(self) -> None: ...
    async def start(self) -> None: ...


class MemoryLab:
    def __init__(self) -> None:
        self.memory = MemoryBroker()

    def connect(self) -> AbstractAsyncContextManager[Bus]:
        return self.memory.connect()

    def peer(self) -> Peer:
        return MemoryPeer(self.memory)

    async def kill(self) -> None:
        self.memory.kill()

    async def start(self) -> None:
        self.memory.restart()


class ProcessLab:
    def __init__(self, broker: BrokerProcess) -> None:
        self.broker = broker
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._sockets: list[zmq.Socket[bytes]] = []

    def connect(self) -> AbstractAsyncContextManager[Bus]:
        return connect(self.broker.directory, timeout=DEADLINE_SECONDS)

    def peer(self) -> Peer:
        socket = self._context.socket(zmq.DEALER)
        self._sockets.append(socket)
        socket.connect(f"ipc://{socket_path(self.broker.directory)}")
        return SocketPeer(socket)

    async def kill(self) -> None:
        await trio.to_thread.run_sync(self.broker.kill)

    async def start(self) -> None:
        await trio.to_thread.run_sync(self.broker.start)

    def close(self) -> None:
        for socket in self._sockets:
            socket.close(linger=0)
        self._context.term()


def run_in_memory(test: Callable[[Lab], Awaitable[None]]) -> None:
    """In virtual time: whatever waits for the clock is over at once."""

    async def main() -> None:
        lab = MemoryLab()
        with trio.fail_after(3600):
            await test(lab)
        lab.memory.core.verify()

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


def run_with_process(test: Callable[[Lab], Awaitable[None]]) -> None:
    """With a real broker, in real time."""

    async def main(lab: Lab) -> None:
        with trio.fail_after(DEADLINE_SECONDS):
            await test(lab)

    with broker_process() as broker, closing(ProcessLab(broker)) as lab:
        trio.run(main, lab)


LABS = {"memory": run_in_memory, "process": run_with_process}


def on_both_buses(test: Callable[[Lab], Awaitable[None]]) -> Callable[[str], None]:
    """Make a test of ``async def test(lab)``, run once in memory and once for real."""

    @pytest.mark.parametrize("kind", LABS)
    def on_one_bus(kind: str) -> None:
        LABS[kind](test)

    on_one_bus.__doc__ = test.__doc__
    return on_one_bus


async def eventually(bus: Bus, true: Callable[[], bool]) -> None:
    """Wait for a condition that messages bring about: each look costs one round trip."""
    while not true():
        await bus.request("brokerd", "broker.ping")
