"""One task's keeper: a process of one thread that starts it, ends it, and leaves nothing of it.

It is the reaper of all that the task forks: a process that left the task's session and lost its
parent becomes the keeper's child, so it is known whose it was, however many tasks run. It ends
when it has reported, when the sidecar is gone, or by the supervisor's word.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from termnode.paneshell.tasks import descendants, wire
from termnode.paneshell.tasks.capture import Capture
from termnode.paneshell.tasks.ladder import NOT_STARTED, Ladder, Status, Step
from termnode.paneshell.tasks.launching import FORK, Child, Program, launch, read_failure
from termnode.paneshell.tasks.limits import GRACE, MAX_RESULT, SPAWN
from termnode.paneshell.tasks.native import adopt_orphans, die_with_parent
from termnode.paneshell.tasks.waking import Waker

_AT_ONCE: Final = 65_536
"""Bytes of one read."""


def keep(sock: socket.socket, program: Program, timeout: float, parent: int) -> None:
    """Be the keeper of one task until it has settled; blocks. ``parent`` is the supervisor."""
    adopt_orphans()
    waker = Waker(signal.SIGTERM)
    die_with_parent(signal.SIGTERM)
    if os.getppid() != parent:
        return
    try:
        child = launch(program)
    except OSError as error:
        _send(sock, wire.encode(wire.FAILED, stage=FORK, errno=error.errno))
        return
    Keeper(sock, child, timeout, parent, waker).run()


class Keeper:
    """Owns the task's process, the reading ends of its pipes and the socket to the sidecar."""

    def __init__(
        self, sock: socket.socket, child: Child, timeout: float, parent: int, waker: Waker
    ) -> None:
        self._sock = sock
        self._child = child
        self._parent = parent
        self._waker = waker
        self._started_at = time.monotonic()
        self._ladder = Ladder(self._started_at, timeout)
        self._launching = True
        self._failed = False
        self._reaped = False
        self._survivors: set[int] = set()
        self._streams = {"stdout": Capture(), "stderr": Capture()}
        self._selector = selectors.DefaultSelector()
        self._watch(waker.fd, waker.drain)
        self._watch(sock.fileno(), self._asked)
        self._watch(child.failure, self._launched)
        self._watch_stream("stdout", child.stdout)
        self._watch_stream("stderr", child.stderr)
        if child.result is not None:
            self._streams["result"] = Capture(MAX_RESULT)
            self._watch_stream("result", child.result)

    def run(self) -> None:
        """Until it has settled and was reported; or nothing ran and that was reported."""
        while not (self._ladder.settled or self._failed):
            self._turn(self._until() - time.monotonic())
            self._look()
            self._do(self._ladder.tick(time.monotonic()))
        if self._failed:
            return
        self._clear()
        if os.getppid() == self._parent:  # else the sidecar has given its own answer
            self._report()

    def _until(self) -> float:
        started_by = self._started_at + SPAWN
        if self._launching and time.monotonic() < started_by:
            return min(self._ladder.deadline, started_by)
        return self._ladder.deadline

    def _turn(self, timeout: float) -> None:
        for key, _ in self._selector.select(max(0.0, timeout)):
            key.data()
        if self._waker.asked:
            self._waker.asked = False
            self._look()
            self._do(self._ladder.kill(time.monotonic()))

    def _look(self) -> None:
        """Learn its status without reaping it: its group's number stays its own until then."""
        if self._launching:
            self._hurry()  # whether anything ran is known first, then how it ended
        elif not self._reaped and (status := _status(self._child.pid)) is not None:
            self._ladder.exited(status)

    def _hurry(self) -> None:
        """End what is stuck before its program, as on a dead file system."""
        if time.monotonic() >= self._started_at + SPAWN:
            self._do(self._ladder.kill(time.monotonic(), NOT_STARTED))

    def _do(self, step: Step) -> None:
        if step is Step.TERMINATE:
            self._signal(signal.SIGTERM)
        elif step is Step.KILL:
            self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> str:
        """Signal its group, while its unreaped process holds the group's number."""
        assert not self._reaped, "the number may be a stranger's"
        try:
            os.killpg(self._child.pid, number)
        except ProcessLookupError:  # it has not made its group yet
            with suppress(ProcessLookupError):
                os.kill(self._child.pid, number)
        except PermissionError:
            return "its processes have become another user's and cannot be signalled"
        return f"{signal.Signals(number).name} sent to its process group"

    # What the descriptors say

    def _asked(self) -> None:
        try:
            kind = wire.receive_alone(self._sock)["type"]
        except BlockingIOError:
            return
        self._look()
        if kind == wire.CANCEL:
            self._cancel()
        else:
            self._unwatch(self._sock.fileno())
            self._do(self._ladder.kill(time.monotonic()))

    def _cancel(self) -> None:
        settled = self._ladder.settled
        if settled:
            words = "it had ended already"
        elif self._ladder.cancel(time.monotonic()) is Step.TERMINATE:
            words = f"{self._signal(signal.SIGTERM)}; SIGKILL follows after {GRACE:.0f} s"
        else:
            words = "it is being ended already"
        _send(self._sock, wire.encode(wire.SIGNALLED, settled=settled, delivery=words))

    def _launched(self) -> None:
        """The program runs, or the child says why it never will."""
        data = os.read(self._child.failure, 64)
        self._unwatch(self._child.failure)
        self._launching = False
        if not data:
            _send(self._sock, wire.encode(wire.STARTED))
            return
        self._failed = True
        stage, number = read_failure(data)
        _send(self._sock, wire.encode(wire.FAILED, stage=stage, errno=number))

    def _watch_stream(self, name: str, descriptor: int) -> None:
        self._watch(descriptor, lambda: self._read(self._streams[name], descriptor))

    def _read(self, capture: Capture, descriptor: int) -> None:
        with suppress(BlockingIOError):
            capture.take(os.read(descriptor, _AT_ONCE))
        if not capture.open:
            self._unwatch(descriptor)

    # Settlement

    def _clear(self) -> None:
        """End what is left of it, and read what it left, for GRACE seconds at most."""
        end = time.monotonic() + GRACE
        self._survivors |= self._descendants()
        self._signal(signal.SIGKILL)
        while True:
            descendants.kill_children(without=())
            self._reaped = self._child.pid in set(descendants.reap()) or self._reaped
            left = end - time.monotonic()
            if left <= 0 or not (descendants.children() or self._reading()):
                return
            self._survivors |= self._descendants()
            self._turn(left)

    def _descendants(self) -> set[int]:
        return descendants.living_descendants(self._child.pid)

    def _reading(self) -> bool:
        return any(capture.open for capture in self._streams.values())

    def _report(self) -> None:
        ended = time.monotonic()
        for name, capture in self._streams.items():
            fields = {"kept": capture.kept, "bytes": capture.bytes, "open": capture.open}
            _send(self._sock, wire.encode(wire.STREAM, name=name, **fields))
        record = wire.encode(
            wire.SETTLED,
            outcome=self._ladder.outcome(),
            duration_ms=int((ended - self._started_at) * 1_000),
            survivors=len(self._survivors),
            survivors_left=len(self._descendants()),
        )
        _send(self._sock, record)

    def _watch(self, descriptor: int, then: Callable[[], None]) -> None:
        self._selector.register(descriptor, selectors.EVENT_READ, then)

    def _unwatch(self, descriptor: int) -> None:
        with suppress(KeyError):
            self._selector.unregister(descriptor)


def _status(pid: int) -> Status | None:
    """How a child ended, left unreaped; None while it runs."""
    found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if found is None:
        return None
    if found.si_code == os.CLD_EXITED:
        return Status(found.si_status, None)
    return Status(None, found.si_status)


def _send(sock: socket.socket, data: bytes) -> None:
    """Whole and in order; waits while the sidecar is busy. A sidecar that is gone gets nothing."""
    with suppress(OSError):
        sock.send(data, socket.MSG_NOSIGNAL)
