"""The door of the shared endpoint: who knocks, and whether there is room.

The accept is our own because libzmq's aborts the process when no descriptor is left, and another
user could see to that. Here it only pauses; and some descriptors are always left for the broker's
own socket, which is libzmq's.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import socket
import struct
from collections import Counter
from collections.abc import Iterator
from typing import Final

from brokerd.encodings import MAX_U32
from brokerd.limits import Limits
from brokerd.peers import NOBODY_UID, PeerCredentials

PAUSE_MS: Final = 100
"""After an accept that failed for lack of something."""

_UCRED: Final = struct.Struct("iII")
"""pid, uid, gid."""

_SO_PEERPIDFD: Final = 77
"""Of Linux 6.5; the socket module does not know it yet."""

_LEAST_RESERVE: Final = 24


class Doorman:
    """Accepts at one listener, and counts who is inside. ``leave`` for each one it let in."""

    def __init__(self, listener: socket.socket, limits: Limits) -> None:
        self._listener = listener
        self._limits = limits
        self._inside: Counter[int] = Counter()
        self._most_descriptor = _most_descriptor()

    def accept(self, at_most: int) -> Iterator[tuple[socket.socket, PeerCredentials]]:
        """Those who wait and may come in, of the first ``at_most``; the others are closed at once.

        Raises OSError when the system has no room: then pause.
        """
        for _ in range(at_most):
            try:
                connected, _ = self._listener.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            peer = self._judge(connected)
            if peer is None:
                connected.close()
                continue
            connected.setblocking(False)
            self._inside[peer.uid] += 1
            yield connected, peer

    def leave(self, peer: PeerCredentials) -> None:
        """One of that user has gone."""
        self._inside[peer.uid] -= 1
        if not self._inside[peer.uid]:
            del self._inside[peer.uid]

    def _judge(self, connected: socket.socket) -> PeerCredentials | None:
        if connected.fileno() > self._most_descriptor:
            return None
        peer = credentials(connected)
        if peer is None or self._inside.total() >= self._limits.shared_connections:
            return None
        return peer if self._inside[peer.uid] < self._limits.shared_per_uid else None


def credentials(connected: socket.socket) -> PeerCredentials | None:
    """Who connected, by the kernel's word; None when it cannot say, or that process has ended."""
    pid, uid, gid = _UCRED.unpack(
        connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
    )
    if pid <= 0 or uid in (NOBODY_UID, MAX_U32) or not _lives(connected, pid):
        return None
    return PeerCredentials(uid, gid, pid)


def _lives(connected: socket.socket, pid: int) -> bool:
    """Whether the process that connected is there, so that its pid means it and no later one."""
    descriptor = -1
    with contextlib.suppress(OSError):
        descriptor = connected.getsockopt(socket.SOL_SOCKET, _SO_PEERPIDFD)
    if descriptor < 0:  # an older kernel
        with contextlib.suppress(OSError):
            descriptor = os.pidfd_open(pid)
    if descriptor < 0:
        return False
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return not poll.poll(0)
    finally:
        os.close(descriptor)


def _most_descriptor() -> int:
    """The highest descriptor that a guest may have: a quarter of all stays free."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return limit - 1 - max(_LEAST_RESERVE, limit // 4)
