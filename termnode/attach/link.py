"""The connection to the service's view socket: authorised over the bus, then a socket of its own.

Sending never waits: what the socket does not take at once is kept, up to a bound, for `Link.run`.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Final

import trio

from brokerd.client import Bus, Json, Reply
from termnode.view.frames import BadFrame, Decoder, encode
from termnode.view.messages import Ack, FromService, Message

OPEN_TIMEOUT_S: Final = 10.0
CONNECT_TIMEOUT_S: Final = 5.0

MAX_UNSENT: Final = 4 << 20
"""Bytes kept for a service that does not read. More is refused: a person would not want minutes of
keys to be played to a program later."""

_READ_BYTES: Final = 1 << 18

_LOST: Final = (BrokenPipeError, ConnectionError, OSError)


class LinkLost(Exception):
    """There is no connection to the service (any more)."""


class LinkFull(Exception):
    """The service does not read; what was to be sent is dropped."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A one-time token and the path of the socket that takes it, from this process alone."""

    token: str
    path: str


class OpenRefused(Exception):
    """The service gives no view; ``reply`` is its refusal."""

    def __init__(self, reply: Reply) -> None:
        super().__init__("the service gives no view")
        self.reply = reply


async def authorise(bus: Bus, name: str, ticket: str | None) -> Opened:
    """Ask the service ``name`` for a view. Raises OpenRefused, and the bus's own errors."""
    body: dict[str, Json] = {} if ticket is None else {"ticket": ticket}
    reply = await bus.request(name, "term.view.open", body, timeout=OPEN_TIMEOUT_S)
    if reply.rc != 0 or reply.body is None:
        raise OpenRefused(reply)
    return Opened(str(reply.body["token"]), str(reply.body["path"]))


class Link:
    """One connection. One task reads (`receive`), one writes (`run`); `send` may be called by any.

    ``received`` counts messages, ``bytes_received`` bytes.
    """

    def __init__(self, connected: socket.socket) -> None:
        connected.setblocking(False)
        self._socket = connected
        self._decoder = Decoder()
        self._unsent = bytearray()
        self._more = trio.Event()
        self.received = 0
        self.bytes_received = 0

    def fileno(self) -> int:
        """The descriptor of the socket."""
        return self._socket.fileno()

    def send(self, message: Message) -> None:
        """Send a message, now or as soon as the socket takes it.

        Raises LinkFull when the service reads nothing. An end of the connection shows in `receive`.
        """
        data = encode(message)
        if len(self._unsent) + len(data) > MAX_UNSENT:
            raise LinkFull
        waits = bool(self._unsent)
        self._unsent += data
        if not waits:
            self._push()
            if self._unsent:
                self._more.set()

    def acknowledge(self) -> None:
        """Say that all messages so far are taken in: then the service tells of what is newer."""
        self.send(Ack(self.received))

    def _push(self) -> None:
        try:
            sent = self._socket.send(self._unsent)
        except BlockingIOError:
            return
        except _LOST:
            self._unsent.clear()  # the reader sees the end
            return
        del self._unsent[:sent]

    async def run(self) -> None:
        """Send what waits, until cancelled."""
        while True:
            await self._more.wait()
            self._more = trio.Event()
            await self.flush()

    async def flush(self) -> None:
        """Wait until everything was taken by the socket."""
        while self._unsent:
            await trio.lowlevel.wait_writable(self._socket)
            self._push()

    async def receive(self) -> list[FromService]:
        """The messages that came; at least one. Raises LinkLost at the end of the connection."""
        while True:
            await trio.lowlevel.wait_readable(self._socket)
            found = self.take()
            if found:
                return found

    def take(self) -> list[FromService]:
        """What can be read now. Raises LinkLost."""
        try:
            data = self._socket.recv(_READ_BYTES)
        except BlockingIOError:
            return []
        except _LOST as error:
            raise LinkLost("the connection broke") from error
        if not data:
            raise LinkLost("the service closed the connection")
        self.bytes_received += len(data)
        try:
            found = self._decoder.feed(data)
        except BadFrame as error:
            raise LinkLost(f"the service speaks otherwise: {error}") from error
        self.received += len(found)
        return found

    def close(self) -> None:
        """Let go of the socket."""
        self._socket.close()


async def connect(opened: Opened) -> Link:
    """Connect to the view socket. Raises LinkLost."""
    made = trio.socket.socket(trio.socket.AF_UNIX, trio.socket.SOCK_STREAM)
    try:
        with trio.fail_after(CONNECT_TIMEOUT_S):
            await made.connect(opened.path)
    except (OSError, trio.TooSlowError) as error:
        made.close()
        raise LinkLost("the service's view socket does not answer") from error
    except BaseException:
        made.close()
        raise
    return Link(socket.socket(fileno=made.detach()))
