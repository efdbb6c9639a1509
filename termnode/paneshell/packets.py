"""A SOCK_SEQPACKET socket inside a Trio program: whole packets, with descriptors where needed."""

from __future__ import annotations

import socket
from collections.abc import Sequence

import trio

from termnode.paneshell.records import MAX_RECORD
from termnode.sideprocess.descriptors import received_descriptors

_FLAGS = socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL


class Packets:
    """Owns ``sock``. One task receives and one sends; ``offer`` and ``close`` are for everybody."""

    def __init__(self, sock: socket.socket, limit: int = MAX_RECORD) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._limit = limit

    def offer(self, data: bytes, descriptors: Sequence[int] = ()) -> bool:
        """Send one packet if the socket takes it now. Raises OSError when the other end is gone."""
        try:
            socket.send_fds(self._sock, [data], list(descriptors), _FLAGS)
        except BlockingIOError:
            return False
        return True

    async def send(self, data: bytes, descriptors: Sequence[int] = ()) -> None:
        """Send one packet, whole or (when cancelled) not at all. Raises OSError, ClosedResource."""
        await trio.lowlevel.checkpoint_if_cancelled()
        while not self.offer(data, descriptors):
            await trio.lowlevel.wait_writable(self._sock)

    async def receive(self, descriptors: int = 0) -> tuple[bytes, list[int]]:
        """The next packet and at most ``descriptors`` descriptors, which the caller closes.

        No bytes: the end, however it came.
        """
        while True:
            try:
                await trio.lowlevel.wait_readable(self._sock)
                return receive_now(self._sock, descriptors, self._limit)
            except BlockingIOError:
                continue
            except (OSError, trio.ClosedResourceError):
                return b"", []

    def close(self) -> None:
        """Let go of the socket; whoever waits on it wakes up. Again is no error."""
        if self._sock.fileno() >= 0:
            trio.lowlevel.notify_closing(self._sock)
            self._sock.close()


def receive_now(
    sock: socket.socket, descriptors: int, limit: int = MAX_RECORD
) -> tuple[bytes, list[int]]:
    """One packet that is there. Raises OSError (BlockingIOError when there is none).

    Of a packet over ``limit`` bytes there is one byte more than the limit.
    """
    room = socket.CMSG_SPACE(4 * descriptors) if descriptors else 0
    data, control, _, _ = sock.recvmsg(limit + 1, room, socket.MSG_CMSG_CLOEXEC)
    return data, received_descriptors(control)
