"""The host's loop: one thread, one socket to Term, a table of children.

Requests are read only while every answer has been sent, so nothing can pile up. When Term's end of
the socket closes, or on SIGTERM, every session is hung up and the host ends.
"""

from __future__ import annotations

import selectors
import signal
import socket
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Final

from termnode.panehost.children import Children
from termnode.panehost.protocol import (
    MAX_CHILDREN,
    MAX_MESSAGE,
    ExitStatus,
    Failure,
    Message,
    SpawnRequest,
    UserSettings,
    decode,
    encode,
    is_int,
)
from termnode.panehost.spawn import spawn
from termnode.sideprocess.records import RecordError
from termnode.sideprocess.waking import drain, watch_signals

_SIGNALS: Final = frozenset(range(1, signal.NSIG))

Outgoing = tuple[bytes, list[int]]
"""An encoded message and the descriptors that go with it."""


class Host:
    """Serves one Term on ``sock`` (a connected SOCK_SEQPACKET socket, which it owns)."""

    def __init__(
        self, sock: socket.socket, user: UserSettings, clock: Callable[[], float] = time.monotonic
    ) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._user = user
        self._clock = clock
        self._children = Children()
        self._outgoing: deque[Outgoing] = deque()
        self._term_gone = False
        self._terminated = False
        self._child_ended = False
        self._selector = selectors.DefaultSelector()
        self._verbs: Final[dict[str, Callable[[Message], None]]] = {
            "spawn": self._spawn,
            "signal": self._signal,
            "forget": self._forget,
            "ping": self._ping,
        }

    def run(self) -> None:
        """Serve until Term is gone and every child has been reaped."""
        wakeup = watch_signals(self._terminate, self._note_child)
        self._selector.register(wakeup, selectors.EVENT_READ)
        self._selector.register(self._sock, selectors.EVENT_READ)
        while not (self._term_gone and not len(self._children)):
            self._turn(wakeup)

    def _turn(self, wakeup: int) -> None:
        """Wait for something, then do it: Term's messages, ended children, deadlines."""
        for key, _ in self._selector.select(self._timeout()):
            if key.fd == wakeup:
                drain(wakeup)
            else:
                self._serve()
        if self._terminated:
            self._lose_term()
        if self._child_ended:
            self._child_ended = False
            for exited in self._children.collect():
                self._post_exit(exited.pid, exited.status)
        self._children.step(self._clock())
        self._flush()

    def _timeout(self) -> float | None:
        deadline = self._children.next_deadline()
        return None if deadline is None else max(0.0, deadline - self._clock())

    def _terminate(self, _number: int, _frame: FrameType | None) -> None:
        self._terminated = True

    def _note_child(self, _number: int, _frame: FrameType | None) -> None:
        self._child_ended = True

    def _serve(self) -> None:
        """Send what waits; then take one message, so that each turn is short."""
        self._flush()
        if self._term_gone or self._outgoing:
            return
        try:
            data = self._sock.recv(MAX_MESSAGE + 1)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._dispatch(data)
        else:
            self._lose_term()

    def _dispatch(self, data: bytes) -> None:
        """Do what Term asks; a message that is none is dropped, since nobody can be answered."""
        with suppress(RecordError):
            message = decode(data)
            verb = self._verbs.get(message["type"])
            if verb is not None:
                verb(message)

    def _spawn(self, message: Message) -> None:
        try:
            request = SpawnRequest.from_message(message)
            if len(self._children) >= MAX_CHILDREN:
                raise Failure("RESOURCE_LIMIT", "there are too many programs: close a pane")
            child = self._children.add(spawn(request, self._user))
        except Failure as failure:
            self._post({"type": "failed", "id": message.get("id"), **vars(failure)})
        else:
            reply = {"pid": child.pid}
            if child.start_time is not None:
                reply["start_time"] = child.start_time
            self._post({"type": "spawned", "id": message.get("id"), **reply}, [child.pty.fd])

    def _signal(self, message: Message) -> None:
        pid, number = message.get("pid"), message.get("signal")
        if is_int(pid) and is_int(number) and number in _SIGNALS:
            self._children.signal(pid, number)

    def _forget(self, message: Message) -> None:
        pid = message.get("pid")
        if is_int(pid):
            self._children.forget(pid, self._clock())

    def _ping(self, message: Message) -> None:
        self._post({"type": "pong", "id": message.get("id")})

    def _post_exit(self, pid: int, status: ExitStatus) -> None:
        ended = {"code": status.code} if status.signal is None else {"signal": status.signal}
        self._post({"type": "exited", "pid": pid, "core": status.core, **ended})

    def _post(self, message: Message, descriptors: list[int] | None = None) -> None:
        if not self._term_gone:
            self._outgoing.append((encode(message), descriptors or []))

    def _flush(self) -> None:
        """Send until the socket is full; then watch for room instead of for requests."""
        while self._outgoing and not self._term_gone:
            data, descriptors = self._outgoing[0]
            try:
                socket.send_fds(self._sock, [data], descriptors)
            except BlockingIOError:
                break
            except OSError:
                self._lose_term()
                return
            self._outgoing.popleft()
        if not self._term_gone:
            wanted = selectors.EVENT_WRITE if self._outgoing else selectors.EVENT_READ
            self._selector.modify(self._sock, wanted)

    def _lose_term(self) -> None:
        if not self._term_gone:
            self._term_gone = True
            self._outgoing.clear()
            self._selector.unregister(self._sock)
            self._sock.close()
            self._children.hang_up_all(self._clock())
