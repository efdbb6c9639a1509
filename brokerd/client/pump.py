"""The one owner of the ZeroMQ socket.

Everything that touches the socket is in this class and runs on the Trio thread: the pump's task,
and ``flush``, which callers reach synchronously and which therefore never runs while the pump is
between two of its own calls. ZeroMQ's descriptor is readable only when its cached state is out of
date, and nearly every call brings it up to date and so takes the signal away. Hence the two rules:
the pump reads EVENTS right before it waits, with no checkpoint between, and whoever touches the
socket while the pump waits reads EVENTS afterwards and ends the wait when there is work.

The socket never reconnects by itself (that would replay old messages to a new broker): when the
connection is gone EVENTS stays 0, and the owner of the pump makes a new one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import trio
import zmq

from brokerd.client.errors import NotConnected
from brokerd.client.session import Phase, Session
from brokerd.client.watch import check_owner
from brokerd.limits import MAX_MESSAGE_BYTES, Limits

# Plain integers: pyzmq's flags are enums, whose arithmetic costs more than the calls themselves.
_IN, _OUT = int(zmq.POLLIN), int(zmq.POLLOUT)
_NOW, _MORE = int(zmq.NOBLOCK), int(zmq.NOBLOCK | zmq.SNDMORE)

_BATCH = 64
"""Messages moved in one direction before other tasks get a turn."""


class Pump:
    """Moves messages between one socket and the session. Make, ``run`` once, ``close``."""

    def __init__(
        self, context: zmq.Context[zmq.Socket[bytes]], path: Path, session: Session, limits: Limits
    ) -> None:
        self._session = session
        self._socket = _socket(context, limits)
        # Watched for the one event that nothing else tells. It happens once at most, since the
        # socket does not reconnect, so that the monitor needs no reader of its own.
        self._monitor = self._socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self._socket.connect(f"ipc://{path}")
        self._descriptor = int(self._socket.get(zmq.FD))
        self._wait = trio.CancelScope()
        self._busy = False
        self._events = 0
        self._dropped = False
        self.broker_pid: int | None = None
        """Known from the broker's first message."""

    def open(self) -> None:
        """Let the session speak through this socket from now on."""
        self._session.on_queued = self.flush
        self._session.opened()
        self.flush()

    async def run_until_open(self) -> None:
        """Move messages until ``session.hello`` has been answered.

        Raises ForeignBroker, and NotConnected when the connection is dropped before.
        """
        await self._run(lambda: self._session.phase is Phase.OPEN)
        if self._session.phase is not Phase.OPEN:
            raise NotConnected("the broker dropped the connection")

    async def run(self) -> None:
        """Move messages until the connection is dropped."""
        await self._run(lambda: False)

    def flush(self) -> None:
        """Send now what can be sent; called by whoever queued it, on the Trio thread."""
        if self._busy or self._socket.closed:
            return
        self._send()
        self._events = self._look()
        if self._work() or self._gone():
            self._wait.cancel()

    def drain(self) -> None:
        """Take what has already arrived: an answer that is here is an answer."""
        while not self._socket.closed and self._turn():
            pass

    def close(self) -> None:
        """Close the socket; nothing more goes out."""
        if not self._socket.closed:
            self._socket.disable_monitor()  # before closing, or libzmq may wait for it for ever
            self._monitor.close(linger=0)
            self._socket.close(linger=0)

    async def _run(self, done: Callable[[], bool]) -> None:
        """Turns and waits, until ``done`` or gone. One scope serves all waits up to a wake-up."""
        while True:
            with trio.CancelScope() as self._wait:
                while not self._turn() and not done() and not self._gone():
                    await trio.lowlevel.wait_readable(self._descriptor)
            if done() or self._gone():
                return
            await trio.lowlevel.checkpoint()

    def _gone(self) -> bool:
        """Whether the connection was dropped. One that only takes nothing now is not gone.

        Looked at when the socket takes nothing; the monitor's event comes before the signal that
        wakes the pump for it.
        """
        if not self._dropped and not self._events & _OUT:
            self._dropped = bool(self._monitor.poll(0))
        return self._dropped

    def _turn(self) -> bool:
        """A bounded batch each way; whether there is more to do at once. Refreshes ``_events``."""
        self._busy = True
        try:
            self._receive()
            if len(self._session.outbox):
                self._send()
                self._events = self._look()
        finally:
            self._busy = False
        return self._work()

    def _work(self) -> bool:
        """Whether the socket has something, or takes something that waits, as of ``_events``."""
        return bool(self._events & _IN or (self._events & _OUT and len(self._session.outbox)))

    def _look(self) -> int:
        """EVENTS now; reading it also takes the signal away from the descriptor."""
        events: int = self._socket.get(zmq.EVENTS)  # type: ignore[assignment]  # not bytes
        return events

    def _receive(self) -> None:
        socket, session = self._socket, self._session
        for _ in range(_BATCH):
            self._events = self._look()
            if not self._events & _IN:
                return
            if self.broker_pid is None:
                session.receive(self._first_message())
            else:
                session.receive(socket.recv_multipart(_NOW))

    def _first_message(self) -> list[bytes]:
        """Checked for whose broker it is before the session sees it. Raises ForeignBroker."""
        frames = self._socket.recv_multipart(_NOW, copy=False)
        self.broker_pid = check_owner(str(frames[-1].get("Peer-Address") or ""))
        return [frame.bytes for frame in frames]

    def _send(self) -> None:
        socket, outbox = self._socket, self._session.outbox
        for _ in range(_BATCH):
            message = outbox.head()
            if message is None:
                return
            header, body = message
            try:
                socket.send(header, _MORE)
                socket.send(body, _NOW)
            except zmq.Again:
                return
            outbox.drop_head()


def _socket(context: zmq.Context[zmq.Socket[bytes]], limits: Limits) -> zmq.Socket[bytes]:
    socket = context.socket(zmq.DEALER)
    socket.linger = 0
    socket.setsockopt(zmq.IMMEDIATE, 1)  # no queueing for a connection that is not there
    socket.setsockopt(zmq.RECONNECT_IVL, -1)
    socket.setsockopt(zmq.SNDHWM, limits.send_hwm)
    socket.setsockopt(zmq.RCVHWM, limits.receive_hwm)
    socket.setsockopt(zmq.MAXMSGSIZE, MAX_MESSAGE_BYTES)
    return socket
