"""A ROUTER socket: its options, and its calls put into terms of connections."""

from __future__ import annotations

import contextlib
import ctypes
import secrets
from collections.abc import Mapping
from typing import Final

import zmq

from brokerd.io.channel import Sent
from brokerd.limits import MAX_MESSAGE_BYTES, Limits

_MAX_PARTS: Final = 2
"""Parts of a message that are kept; a longer one is taken off the socket and is not one."""

_AUTOMATIC_SIZE: Final = 5
"""Of a routing id that libzmq chose: a zero byte and a number."""

_MORE: Final = zmq.SNDMORE | zmq.NOBLOCK


class Route:
    """The way to one peer of a ``Router``."""

    __slots__ = ("_router", "_routing_id")

    def __init__(self, router: Router, routing_id: bytes) -> None:
        self._router = router
        self._routing_id = routing_id

    def send(self, *parts: bytes) -> Sent:
        """Hand a message to libzmq, or learn why not."""
        return self._router.send(self._routing_id, *parts)

    def close(self) -> None:
        """Nothing: libzmq has no way to end one connection of a ROUTER."""


class Router:
    """Owns the socket; one loop calls it.

    ``domain`` is by what the ZAP step knows its connections; ``more`` are options on top of those
    that every ROUTER here has.
    """

    def __init__(
        self,
        context: zmq.Context[zmq.Socket[bytes]],
        limits: Limits,
        domain: bytes,
        more: Mapping[int, int | bytes] | None = None,
    ) -> None:
        _seed_routing_ids()
        socket = context.socket(zmq.ROUTER)
        options: dict[int, int | bytes] = {
            zmq.LINGER: 0,
            # A send to who is gone or full fails, instead of vanishing.
            zmq.ROUTER_MANDATORY: 1,
            # Nobody takes over another's routing id.
            zmq.ROUTER_HANDOVER: 0,
            zmq.ZAP_DOMAIN: domain,
            zmq.ZAP_ENFORCE_DOMAIN: 1,
            zmq.MAXMSGSIZE: MAX_MESSAGE_BYTES,
            # Per peer, and small: the bounded queue with the honest gap flag is above it.
            zmq.SNDHWM: limits.send_hwm,
            zmq.RCVHWM: limits.receive_hwm,
            zmq.HANDSHAKE_IVL: limits.handshake_ms,
            zmq.BACKLOG: 512,
            # No heartbeats: a stopped process keeps its connection; pidfds tell of ended ones.
            zmq.HEARTBEAT_IVL: 0,
            **(more or {}),
        }
        for option, value in options.items():
            socket.setsockopt(option, value)
        self.socket = socket

    def bind(self, endpoint: str) -> None:
        """Listen at ``endpoint``. Raises zmq.ZMQError."""
        self.socket.bind(endpoint)

    @property
    def endpoint(self) -> str:
        """Where it listens, with the real port."""
        found: bytes = self.socket.getsockopt(zmq.LAST_ENDPOINT)  # type: ignore[assignment]  # not an int
        return found.rstrip(b"\0").decode()

    def receive(self) -> tuple[str, bytes, list[bytes]] | None:
        """The next message as (connection id, routing id, parts); None when there is none.

        The connection id is what the ZAP step gave the connection of the last part; it is empty
        when libzmq has none. More than two parts come as none at all.
        """
        try:
            frame = self.socket.recv(zmq.NOBLOCK, copy=False)
        except zmq.Again:
            return None
        routing_id = frame.bytes
        parts: list[bytes] = []
        count = 0
        # libzmq hands over whole messages: the other parts are there.
        while frame.more:
            frame = self.socket.recv(zmq.NOBLOCK, copy=False)
            count += 1
            if count <= _MAX_PARTS:
                parts.append(frame.bytes)
        return _user_id(frame), routing_id, parts if count <= _MAX_PARTS else []

    @staticmethod
    def gave(routing_id: bytes) -> bool:
        """Whether libzmq chose this routing id, and not the peer (whose may not start with 0)."""
        return len(routing_id) == _AUTOMATIC_SIZE and routing_id[0] == 0

    def send(self, routing_id: bytes, *parts: bytes) -> Sent:
        """Hand a message to libzmq, or learn why not. Nothing of it is sent unless all is."""
        socket = self.socket
        try:
            socket.send(routing_id, _MORE)
        except zmq.Again:
            return Sent.FULL
        except zmq.ZMQError as error:
            if error.errno == zmq.EHOSTUNREACH:
                return Sent.GONE
            raise
        for part in parts[:-1]:
            socket.send(part, _MORE)
        socket.send(parts[-1], zmq.NOBLOCK)
        return Sent.YES

    def close(self) -> None:
        """Close the socket."""
        self.socket.close(0)


def _seed_routing_ids() -> None:
    """Make libzmq's routing ids of this process impossible to guess.

    A ROUTER counts them up from two values of the C library's rand(), which nobody seeds: they
    would be the same after every start. libzmq lets a peer choose an id of that very form, and who
    guessed the id of a connection that has just gone would be sent what still waits for it (and who
    guessed the next one would make libzmq abort). Must come before the socket is made.
    """
    ctypes.CDLL(None).srand(ctypes.c_uint(secrets.randbits(32)))


def _user_id(frame: zmq.Frame) -> str:
    with contextlib.suppress(zmq.ZMQError):
        return str(frame.get("User-Id"))
    return ""
