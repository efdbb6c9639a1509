"""The sidecar's side of its tasks: starts them, follows each, and keeps what became of them.

One follower owns the socket of one task, one watcher that of the supervisor. They live as long as
the sidecar: a caller or a connection that goes away ends no task.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Final

import trio

from brokerd.client import ErrorCode, Refusal, background
from termnode.paneshell.calls import Actor
from termnode.paneshell.operations import Operation, Operations
from termnode.paneshell.tasks import wire
from termnode.paneshell.tasks.following import Followed, receive
from termnode.paneshell.tasks.launching import FORK
from termnode.paneshell.tasks.model import (
    KEEPER_LOST,
    NOT_STARTED,
    Table,
    Task,
    no_supervisor,
    refusal_of,
)
from termnode.paneshell.tasks.request import Submission
from termnode.paneshell.tasks.starting import Supervisor

FAMILY: Final = "task"

START_SECONDS: Final = 1.0
"""For a task to say that its program runs; one that has not is taken to run."""

DELIVERY_SECONDS: Final = 1.0
"""For a keeper to say what it did about a cancel."""


class Tasks:
    """All tasks of one pane shell. ``shell`` is the program that runs their scripts."""

    def __init__(
        self,
        supervisor: Supervisor | None,
        shell: str,
        operations: Operations,
        clock_ms: Callable[[], int],
    ) -> None:
        self.operations = operations
        self.clock_ms = clock_ms
        self.table = Table()
        self._supervisor = supervisor
        self._shell = shell
        self._shell_exited = False
        self._followed: dict[Task, Followed] = {}
        self._nursery: trio.Nursery | None = None

    @property
    def available(self) -> bool:
        """Whether a task may be submitted here at all."""
        return self._supervisor is not None and not self._shell_exited

    async def run(self) -> None:
        """Follow the supervisor and every task, until cancelled."""
        async with background(self._watch) as nursery:
            self._nursery = nursery
            try:
                await trio.sleep_forever()
            finally:
                self._nursery = None

    def submit(self, actor: Actor, submission: Submission, digest: bytes) -> Followed:
        """Have a task started; never waits. Raises Refusal: then nothing runs."""
        if self._nursery is None or self._supervisor is None or self._shell_exited:
            raise no_supervisor(self._shell_exited)
        self.operations.check_room(actor, self.clock_ms())
        key = (actor, submission.request_id)
        task = Task(key, digest, submission.source is not None, self.clock_ms())
        self.table.begin(task)
        try:
            sock = _sent(self._supervisor.sock, submission, self._shell)
        except OSError as error:
            self.table.drop(task)
            raise refusal_of({"stage": FORK, "errno": error.errno}) from None
        followed = self._followed[task] = Followed(task, sock)
        self._nursery.start_soon(self._follow, followed)
        return followed

    def followed(self, task: Task) -> Followed | None:
        """What follows the task; None once it has settled."""
        return self._followed.get(task)

    async def wait_decided(self, key: tuple[Actor, int]) -> None:
        """Wait while a submission of that caller and id is being started, if one is."""
        task = self.table.starting(key)
        followed = None if task is None else self._followed.get(task)
        if followed is not None:
            await followed.decided.wait()

    async def cancel(self, task: Task) -> dict[str, object]:
        """Have it ended: whether that is asked for now, and in words what was done."""
        followed = self._followed.get(task)
        if followed is None:
            return _cancelled(True, "nothing was sent: it had ended already")
        followed.ask_end()
        with trio.move_on_after(DELIVERY_SECONDS):
            await followed.delivered.wait()
        told = followed.delivery
        if told is None:
            return _cancelled(False, "its keeper was asked, and has not said yet what it did")
        return _cancelled(told["settled"], told["delivery"])

    async def _watch(self, _nursery: trio.Nursery) -> None:
        """Learn of the shell's end and of the supervisor's own."""
        while self._supervisor is not None:
            record = await receive(self._supervisor.sock)
            self._shell_exited = self._shell_exited or record["type"] == wire.SHELL_EXITED
            if record["type"] == "end":
                self._supervisor = None
        for followed in list(self._followed.values()):
            self._settle(followed, KEEPER_LOST)

    async def _follow(self, followed: Followed) -> None:
        with followed.sock:
            with trio.move_on_after(START_SECONDS):
                self._first(followed, await receive(followed.sock))
            if not followed.decided.is_set():
                self._accept(followed)
            while followed.refusal is None and not followed.settled.is_set():
                self._take(followed, await receive(followed.sock))

    def _first(self, followed: Followed, record: wire.Record) -> None:
        """Why nothing ran; everything else means that it runs, or may have."""
        if record["type"] == wire.FAILED:
            self._refuse(followed, refusal_of(record))
        elif self._accept(followed) is not None:
            self._take(followed, record)

    def _take(self, followed: Followed, record: wire.Record) -> None:
        kind = record["type"]
        if kind == wire.SIGNALLED:
            followed.told(record)
        elif kind == wire.FAILED:
            followed.task.not_started(self.clock_ms())
            self._settle(followed, NOT_STARTED)
        else:
            followed.task.take(record)
            if kind in (wire.SETTLED, "end"):
                self._settle(followed, KEEPER_LOST)

    def _accept(self, followed: Followed) -> Operation | None:
        """It runs, or may: its id is spent. None when that cannot be kept: then it is ended."""
        task = followed.task
        actor, request_id = task.key
        try:
            operation = self.operations.spend(
                FAMILY, actor, request_id, task.digest, now_ms=self.clock_ms()
            )
        except Refusal:
            followed.ask_end()
            self._refuse(followed, _not_kept())
            return None
        self.table.accept(task, operation.id)
        followed.operation = operation
        followed.decided.set()
        return operation

    def _refuse(self, followed: Followed, refusal: Refusal) -> None:
        self.table.drop(followed.task)
        self._followed.pop(followed.task, None)
        followed.refusal = refusal
        followed.decided.set()

    def _settle(self, followed: Followed, otherwise: str) -> None:
        """It is over; unless its keeper has reported, ``otherwise`` is all that is known."""
        if followed.task not in self._followed:
            return
        operation = followed.operation or self._accept(followed)
        if operation is None:
            return
        del self._followed[followed.task]
        followed.task.lose(otherwise, self.clock_ms())
        self.table.settled(followed.task)
        self.operations.settle(operation, self.clock_ms())
        followed.settled.set()
        followed.delivered.set()


def _sent(supervisor: socket.socket, submission: Submission, shell: str) -> socket.socket:
    """Send the start; this side's end of the task's own socket. Raises OSError."""
    record = wire.encode(
        wire.START,
        argv=submission.argv(shell),
        added=submission.overlay,
        cwd=submission.cwd.encode(),
        timeout=submission.timeout_ms / 1_000,
        result=submission.source is not None,
    )
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC)
    with theirs:
        try:
            ours.setblocking(False)
            socket.send_fds(supervisor, [record], [theirs.fileno()], socket.MSG_NOSIGNAL)
        except OSError:
            ours.close()
            raise
    return ours


def _cancelled(settled: bool, delivery: str) -> dict[str, object]:
    return {"outcome": "already_settled" if settled else "requested", "delivery": delivery}


def _not_kept() -> Refusal:
    text = "it was started, could not be kept and was ended at once: look what it has done"
    return Refusal(ErrorCode.UNKNOWN_OUTCOME, text, reason="not_kept")
