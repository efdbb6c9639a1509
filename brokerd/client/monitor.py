"""What libzmq tells of a connection that its socket does not: that it failed or was dropped.

It happens once at most, since the sockets here do not reconnect, so that the monitor needs no
reader of its own: a handful of events, of which the first says why.
"""

from __future__ import annotations

import struct
from typing import Final

import zmq

_EVENT: Final = struct.Struct("=HI")
"""The first frame of what a monitor tells (zmq_socket_monitor): which event, and a value.

`zmq.utils.monitor` reads it too, and brings asyncio with it, in each program that only asks once.
"""

_DROPPED: Final = zmq.EVENT_DISCONNECTED
_FAILED: Final = (
    zmq.EVENT_CLOSED
    | zmq.EVENT_HANDSHAKE_FAILED_AUTH
    | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
    | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
)


class Monitor:
    """Watches one socket; made before it connects, closed before it is.

    ``failures``: also for a connection that never comes to be.
    """

    def __init__(self, socket: zmq.Socket[bytes], *, failures: bool) -> None:
        self._socket = socket
        self._events = socket.get_monitor_socket(_DROPPED | (_FAILED if failures else 0))

    def told(self) -> bool:
        """Whether the connection is gone, or never came to be."""
        return bool(self._events.poll(0))

    def reason(self) -> str:
        """Why, in words for a person."""
        if not self.told():
            return "the broker dropped the connection"
        event, _ = _EVENT.unpack(self._events.recv_multipart(zmq.NOBLOCK)[0])
        return _WORDS.get(event, "the broker dropped the connection")

    def close(self) -> None:
        """Stop watching."""
        self._socket.disable_monitor()
        self._events.close(linger=0)


_WORDS: Final[dict[int, str]] = {
    zmq.EVENT_CLOSED: "nobody answers at that address",
    zmq.EVENT_HANDSHAKE_FAILED_AUTH: "this key is not known there; allow it: brokerd keys allow",
    zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL: "what answers at that address is no such broker",
    zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL: "the broker ended the handshake; it may have another key",
}
