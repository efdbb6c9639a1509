"""Forks a pane's task supervisor. In the sidecar, before it has any thread or event loop."""

from __future__ import annotations

import os
import select
import signal
import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from termnode.paneshell.child import fork, pidfd_of
from termnode.paneshell.tasks.supervisor import supervise

END_SECONDS: Final = 2.5
"""For the supervisor to end its tasks and itself, before it is killed."""


@dataclass(frozen=True, slots=True)
class Supervisor:
    """A supervisor's process. ``sock`` is this side's end, non-blocking."""

    pid: int
    pidfd: int
    sock: socket.socket

    def ask_end(self) -> None:
        """Have it end every task and then itself; never waits."""
        with suppress(OSError):  # it is gone
            self.sock.shutdown(socket.SHUT_RDWR)

    def end(self) -> None:
        """Let it end every task and itself, and reap it; blocks for END_SECONDS at most."""
        self.sock.close()
        poll = select.poll()
        poll.register(self.pidfd, select.POLLIN)
        if not poll.poll(END_SECONDS * 1_000):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        os.close(self.pidfd)


def start_supervisor(pane: int, shell_pid: int) -> Supervisor | None:
    """The task supervisor of a pane; None when there is no process or descriptor left for it."""
    try:
        ours, theirs = socket.socketpair(
            socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC
        )
    except OSError:
        return None
    with theirs:
        try:
            pid = fork([theirs.fileno()], f"tasks-{pane}", lambda: supervise(theirs, shell_pid))
            ours.setblocking(False)
            return Supervisor(pid, pidfd_of(pid), ours)
        except OSError:
            ours.close()
            return None
