"""A pane's task supervisor: forks a keeper for each task, and outlives none of them.

Forked by the sidecar before that has a thread or an event loop, so that a task is always forked
from a process of one thread: the signal of a parent's death is about the thread that forked. What a
keeper that was killed leaves becomes the supervisor's child, and is killed.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import time
from contextlib import suppress
from typing import Any, Final

from termnode.paneshell.child import fork
from termnode.paneshell.tasks import descendants, wire
from termnode.paneshell.tasks.environment import surroundings_of
from termnode.paneshell.tasks.keeper import keep
from termnode.paneshell.tasks.launching import FORK, Program
from termnode.paneshell.tasks.native import adopt_orphans
from termnode.paneshell.tasks.waking import Waker
from termnode.sideprocess.descriptors import close_all

LINGER: Final = 1.0
"""Seconds that keepers have at the end to clear their tasks away before they are killed."""


def supervise(sock: socket.socket, shell_pid: int) -> None:
    """Serve one sidecar on ``sock`` until it is gone or SIGTERM; then end every task. Blocks."""
    adopt_orphans()
    Supervisor(sock, shell_pid).run()


class Supervisor:
    """Owns ``sock``, a SOCK_SEQPACKET pair's end, and the keepers."""

    def __init__(self, sock: socket.socket, shell_pid: int) -> None:
        self._sock = sock
        self._surroundings = surroundings_of(shell_pid)
        self._keepers: set[int] = set()
        self._ending = False
        self._waker = Waker(signal.SIGTERM)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._waker.fd, selectors.EVENT_READ, self._waker.drain)
        self._selector.register(sock, selectors.EVENT_READ, self._serve)
        self._shell = _pidfd(shell_pid)
        if self._shell is None:
            self._tell_shell_exited()
        else:
            self._selector.register(self._shell, selectors.EVENT_READ, self._shell_exited)

    def run(self) -> None:
        """Until the sidecar is gone, or SIGTERM; returns when no task is left, or in LINGER s."""
        while not (self._ending or self._waker.asked):
            self._turn(None)
        self._selector.unregister(self._sock)
        self._end_keepers()
        end = time.monotonic() + LINGER
        while self._keepers and (left := end - time.monotonic()) > 0:
            self._turn(left)
        self._keepers.clear()
        self._sweep(end + LINGER)

    def _turn(self, timeout: float | None) -> None:
        for key, _ in self._selector.select(timeout):
            key.data()
        self._keepers.difference_update(descendants.reap())
        descendants.kill_children(self._keepers)

    def _sweep(self, end: float) -> None:
        """Kill and reap whatever is left, and what that leaves."""
        while descendants.children() and (left := end - time.monotonic()) > 0:
            self._turn(min(left, 0.05))

    def _serve(self) -> None:
        try:
            record, descriptors = wire.receive(self._sock)
        except BlockingIOError:
            return
        try:
            if record["type"] == wire.START and len(descriptors) == 1:
                self._start(record, descriptors[0])
            elif record["type"] == "end":
                self._ending = True
        finally:
            close_all(descriptors)

    def _start(self, record: dict[str, Any], descriptor: int) -> None:
        me = os.getpid()

        def work() -> None:
            keep(socket.socket(fileno=descriptor), self._program(record), record["timeout"], me)

        try:
            self._keepers.add(fork([descriptor], "task-keeper", work))
        except OSError as error:
            with suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as sock:
                sock.send(wire.encode(wire.FAILED, stage=FORK, errno=error.errno))

    def _program(self, record: dict[str, Any]) -> Program:
        surroundings = self._surroundings.with_overlay(map(tuple, record["added"]))
        return Program(tuple(record["argv"]), surroundings, record["cwd"], record["result"])

    def _shell_exited(self) -> None:
        assert self._shell is not None
        self._selector.unregister(self._shell)
        self._tell_shell_exited()
        self._end_keepers()

    def _tell_shell_exited(self) -> None:
        with suppress(OSError):
            self._sock.send(wire.encode(wire.SHELL_EXITED), socket.MSG_NOSIGNAL)

    def _end_keepers(self) -> None:
        for pid in self._keepers:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)


def _pidfd(pid: int) -> int | None:
    """None when there is no such process."""
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        return None
