"""One task and its socket on the sidecar's side: what its keeper says, and who waits for it."""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import Any

import trio

from brokerd.client import Refusal
from termnode.paneshell.operations import Operation
from termnode.paneshell.tasks import wire
from termnode.paneshell.tasks.model import Task


class Followed:
    """A task that has not settled. One follower receives on ``sock``."""

    def __init__(self, task: Task, sock: socket.socket) -> None:
        self.task = task
        self.sock = sock
        self.operation: Operation | None = None
        """What keeps its id, once it runs or may."""
        self.refusal: Refusal | None = None
        """Why there is no operation, once that is decided."""
        self.decided = trio.Event()
        """There is one of the two."""
        self.settled = trio.Event()
        self.delivery: wire.Record | None = None
        """What its keeper said last about a cancel."""
        self.delivered = trio.Event()

    def ask_end(self) -> None:
        """Have the keeper end it; never waits. ``delivered`` is set when it has said how."""
        self.task.cancelled = True
        self.delivered = trio.Event()
        with suppress(OSError):  # it is gone: the follower sees that too
            self.sock.send(wire.encode(wire.CANCEL))

    def told(self, record: wire.Record) -> None:
        """What the keeper says about a cancel."""
        self.delivery = record
        self.delivered.set()


async def receive(sock: socket.socket) -> dict[str, Any]:
    """The next record; that of type `end` when there are no more."""
    while True:
        await trio.lowlevel.wait_readable(sock)
        with suppress(BlockingIOError):
            return wire.receive_alone(sock)
