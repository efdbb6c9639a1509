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

import trio
import zmq

from brokerd.client.dealer import dealer
from brokerd.client.errors import NotConnected
from brokerd.client.monitor import Monitor
from brokerd.client.session import Phase, Session
from brokerd.client.target import Target
from brokerd.client.waiting import background
from brokerd.limits import Limits

# Plain integers: pyzmq's flags are enums, whose arithmetic costs more than the calls themselves.
_IN, _OUT = int(zmq.POLLIN), int(zmq.POLLOUT)
_NOW, _MORE = int(zmq.NOBLOCK), int(zmq.NOBLOCK | zmq.SNDMORE)

_BATCH = 64
"""Messages moved in one direction before other tasks get a turn."""


_FAILURE_SECONDS = 0.05
"""Between looks whether a connection to another machine has failed."""


class Pump:
    """Moves messages between one socket and the session. Make, ``run`` once, ``close``."""

    def __init__(
        self,
        context: zmq.Context[zmq.Socket[bytes]],
        target: Target,
        session: Session,
        limits: Limits,
    ) -> None:
        self._target = target
        self._session = session
        self._socket = dealer(context, limits, target.options)
        self._monitor = Monitor(self._socket, failures=not target.seen)
        self._connect()
        self._descriptor = int(self._socket.get(zmq.FD))
        self._wait = trio.CancelScope()
        self._busy = False
        self._events = 0
        self._dropped = self._judged = False
        self.broker_pid: int | None = None
        """Known from the broker's first message, when it is on this machine."""

    def open(self) -> None:
        """Let the session speak through this socket from now on."""
        self._session.on_queued = self.flush
        self._session.on_drop = self.drop
        self._session.opened()
        self.flush()

    async def run_until_open(self) -> None:
        """Move messages until ``session.hello`` has been answered.

        Raises ForeignBroker, and NotConnected when the connection is dropped before.
        """
        async with background(self._watch_failure):
            await self._run(lambda: self._session.phase is Phase.OPEN)
        if self._session.phase is not Phase.OPEN:
            raise NotConnected(self._monitor.reason())

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

    def drop(self) -> None:
        """End this connection as if the broker had: its owner makes another."""
        self._dropped = True
        self._wait.cancel()

    def drain(self) -> None:
        """Take what has already arrived: an answer that is here is an answer."""
        while not self._socket.closed and self._turn():
            pass

    def close(self) -> None:
        """Close the socket; nothing more goes out."""
        if not self._socket.closed:
            self._monitor.close()  # before the socket, or libzmq may wait for it for ever
            self._socket.close(linger=0)

    def _connect(self) -> None:
        try:
            self._socket.connect(self._target.endpoint)
        except zmq.ZMQError as error:
            self.close()
            raise NotConnected(
                f"{self._target.endpoint} cannot be used ({error.strerror})"
            ) from None

    async def _watch_failure(self, _nursery: trio.Nursery) -> None:
        """End the wait when the connection cannot be made, which wakes nobody by itself."""
        while not self._target.seen:
            await trio.sleep(_FAILURE_SECONDS)
            if self._gone():
                self._wait.cancel()

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
            self._dropped = self._monitor.told()
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
            if self._judged:
                session.receive(socket.recv_multipart(_NOW))
            else:
                session.receive(self._first_message())

    def _first_message(self) -> list[bytes]:
        """Checked for whose broker it is before the session sees it. Raises ForeignBroker."""
        frames = self._socket.recv_multipart(_NOW, copy=False)
        self.broker_pid = self._target.judge(frames[-1])
        self._judged = True
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
