"""The zygote's loop: it has imported all that a sidecar needs, and opened nothing of it.

One thread, one socket to Term, a set of children. Every sidecar is a fork of it, so that it costs
milliseconds and shares the memory of the imports. It never runs Trio and never makes a ZeroMQ
context: neither would survive a fork.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any, Final

from termnode.paneshell.child import fork, pidfd_of
from termnode.paneshell.launch import BadLaunch, Launch
from termnode.paneshell.packets import receive_now
from termnode.paneshell.records import RecordError, decode, encode
from termnode.sideprocess.descriptors import close_all
from termnode.sideprocess.waking import drain, watch_signals

MAX_CHILDREN: Final = 4_096
"""Sidecars at once; the kernel's usual limit of pseudo-terminals is the same."""

LINGER: Final = 4.0
"""Seconds that the zygote, once Term is gone, waits to reap the sidecars that it asked to end."""

Work = Callable[[Launch, int, int | None], None]
"""What a sidecar does, given its channel and its launch descriptor (or None)."""


class Zygote:
    """Serves one Term on ``sock`` (a connected SOCK_SEQPACKET socket, which it owns)."""

    def __init__(self, sock: socket.socket, work: Work) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._work = work
        self._children: set[int] = set()
        self._outgoing: deque[tuple[bytes, list[int]]] = deque()
        self._term_gone = False
        self._terminated = False
        self._selector = selectors.DefaultSelector()

    def run(self) -> None:
        """Serve until Term is gone, or until SIGTERM.

        When Term is gone, sidecars that have not noticed it are told to end, and reaped. SIGTERM
        is about the zygote alone: sidecars live on.
        """
        wakeup = watch_signals(self._terminate, _nothing)
        self._selector.register(wakeup, selectors.EVENT_READ)
        self._selector.register(self._sock, selectors.EVENT_READ)
        while not (self._term_gone or self._terminated):
            self._turn(wakeup, None)
        if self._term_gone:
            self._linger(wakeup)

    def _turn(self, wakeup: int, timeout: float | None) -> None:
        for key, _ in self._selector.select(timeout):
            if key.fd == wakeup:
                drain(wakeup)
            else:
                self._serve()
        self._reap()
        self._flush()

    def _linger(self, wakeup: int) -> None:
        self._selector.unregister(self._sock)
        self._sock.close()
        for pid in self._children:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGTERM)  # unreaped, so it cannot be a stranger's number
        end = time.monotonic() + LINGER
        while self._children and (left := end - time.monotonic()) > 0:
            self._turn(wakeup, left)

    def _terminate(self, _number: int, _frame: FrameType | None) -> None:
        self._terminated = True

    def _serve(self) -> None:
        """Send what waits; then take one request, so that nothing piles up."""
        self._flush()
        if self._term_gone or self._outgoing:
            return
        try:
            data, descriptors = receive_now(self._sock, 2)
        except BlockingIOError:
            return
        except OSError:
            data, descriptors = b"", []
        if not data:
            self._term_gone = True
        try:
            self._dispatch(data, descriptors)
        finally:
            close_all(descriptors)

    def _dispatch(self, data: bytes, descriptors: list[int]) -> None:
        """Do what Term asks; what is no request is dropped, since nobody can be answered."""
        with suppress(RecordError):
            record = decode(data)
            if record["type"] == "ping":
                self._post({"type": "pong", "id": record.get("id")})
            elif record["type"] == "fork":
                self._fork(record, descriptors)

    def _fork(self, record: dict[str, Any], descriptors: list[int]) -> None:
        try:
            pid, pidfd = self._forked(record, descriptors)
        except BadLaunch as error:
            self._refuse(record, "INVALID_ARGUMENT", str(error))
        except OSError:
            text = "no process or descriptor is left for a pane shell: close a pane and try again"
            self._refuse(record, "RESOURCE_LIMIT", text)
        else:
            self._post({"type": "forked", "id": record.get("id"), "pid": pid}, [pidfd])

    def _forked(self, record: dict[str, Any], descriptors: list[int]) -> tuple[int, int]:
        """The pid of a new sidecar and a pidfd for it. Raises BadLaunch, OSError."""
        launch = Launch.from_record(record)
        wanted = 2 if record.get("descriptor") is True else 1
        if len(descriptors) != wanted:
            raise OSError("this process is at its limit of descriptors, or none were sent")
        if len(self._children) >= MAX_CHILDREN:
            raise OSError("too many sidecars")
        channel, descriptor = descriptors[0], (descriptors[1] if wanted == 2 else None)
        name = f"pane-shell-{launch.pane}"
        pid = fork(descriptors, name, lambda: self._work(launch, channel, descriptor))
        self._children.add(pid)
        return pid, pidfd_of(pid)

    def _refuse(self, record: dict[str, Any], code: str, message: str) -> None:
        self._post({"type": "failed", "id": record.get("id"), "code": code, "message": message})

    def _reap(self) -> None:
        """Tell Term of each sidecar that has ended; its number is free after that."""
        while self._children:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            self._children.discard(pid)
            code = os.waitstatus_to_exitcode(status)
            ended = {"code": code} if code >= 0 else {"signal": -code}
            self._post({"type": "ended", "pid": pid, **ended})

    def _post(self, record: dict[str, Any], descriptors: list[int] | None = None) -> None:
        self._outgoing.append((encode(record), descriptors or []))

    def _flush(self) -> None:
        """Send until the socket is full; then watch for room instead of for requests."""
        while self._outgoing and not self._term_gone:
            data, descriptors = self._outgoing[0]
            try:
                socket.send_fds(self._sock, [data], descriptors)
            except BlockingIOError:
                break
            except OSError:
                self._term_gone = True
            self._outgoing.popleft()
            close_all(descriptors)
        if not self._term_gone:
            wanted = selectors.EVENT_WRITE if self._outgoing else selectors.EVENT_READ
            self._selector.modify(self._sock, wanted)


def _nothing(_number: int, _frame: FrameType | None) -> None:
    """SIGCHLD only has to wake the loop up."""
