"""One connection to the shared endpoint: its socket, what it says, and what it has not taken yet.

At most one message waits here; the bounded queue with the honest gap flag is in the core.
"""

from __future__ import annotations

import socket
from collections.abc import Callable

from brokerd.io import zmtp, zmtp_frames
from brokerd.io.channel import Sent
from brokerd.peers import PeerCredentials

READ_BYTES = 65_536
"""Read at a time."""


class Guest:
    """The way to one peer, and from it. Its owner polls ``fileno`` and does what is due.

    ``connection_id`` is empty until it is let in. ``leaving``: the broker has forgotten it, and it
    is closed when its last message is out. ``changed`` is called when it becomes blocked or
    leaving.
    """

    def __init__(
        self,
        connected: socket.socket,
        peer: PeerCredentials,
        deadline_ms: int,
        changed: Callable[[Guest], None],
    ) -> None:
        self.peer = peer
        self.connection_id = ""
        self.deadline_ms = deadline_ms
        """By when it must have finished its handshake; once ``leaving``, to be gone."""
        self.leaving = False
        self._changed = changed
        self._socket = connected
        self._descriptor = connected.fileno()
        self._decoder = zmtp.Decoder()
        self._waiting = memoryview(b"")

    def greet(self) -> bool:
        """Say the greeting; False when the connection has ended."""
        return self._write(zmtp_frames.GREETING)

    def fileno(self) -> int:
        """The socket's descriptor; the same also after ``shut``."""
        return self._descriptor

    @property
    def blocked(self) -> bool:
        """Whether something waits until the peer takes it."""
        return bool(self._waiting)

    def read(self) -> bool:
        """Take what has arrived, at most ``READ_BYTES``; False when the connection has ended."""
        try:
            data = self._socket.recv(READ_BYTES)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._decoder.feed(data)
        return bool(data)

    def next(self) -> zmtp.Message | zmtp.Opened | None:
        """The next that it has said, if anything; a ping is answered. Raises ZmtpError."""
        event = self._decoder.next()
        if isinstance(event, zmtp.Ping):
            self._pong(event)
        return event if isinstance(event, (zmtp.Message, zmtp.Opened)) else None

    @property
    def held(self) -> int:
        """Bytes that are here and have not been heard yet."""
        return self._decoder.held

    @property
    def more(self) -> bool:
        """Whether ``next`` may give something without a ``read``."""
        return self._decoder.more

    def welcome(self, connection_id: str) -> bool:
        """Let it in and say so; False when it has gone."""
        self.connection_id = connection_id
        return self._write(zmtp_frames.ready())

    def send(self, *parts: bytes) -> Sent:
        """Hand a message to the kernel, or learn why not. Nothing is sent unless all will be."""
        if self._waiting:
            return Sent.FULL
        return Sent.YES if self._write(zmtp_frames.encode(parts)) else Sent.GONE

    def flush(self) -> bool:
        """Send what waits, as far as it is taken; False when the connection has ended."""
        waiting, self._waiting = self._waiting, memoryview(b"")
        return self._write(waiting)

    def close(self) -> None:
        """The broker has forgotten it: its owner closes it once all is out, or it is too late."""
        if not self.leaving:
            self.leaving = True
            self._changed(self)

    def shut(self) -> None:
        """Close the socket now."""
        self._socket.close()

    def _pong(self, ping: zmtp.Ping) -> None:
        # Behind a message that waits, it would be late anyway.
        if not self._waiting:
            self._write(zmtp_frames.pong(ping.context))

    def _write(self, data: bytes | memoryview) -> bool:
        try:
            sent = self._socket.send(data)
        except BlockingIOError:
            sent = 0
        except OSError:
            return False
        if sent < len(data):
            self._waiting = memoryview(data)[sent:]
            self._changed(self)
        return True
