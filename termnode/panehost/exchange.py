"""The socket to the pane host, on the Trio side: requests, answers and exits.

Two tasks (``send`` and ``receive``) own the socket; everybody else fills a bounded queue and waits
on a slot. When the host ends, for whatever reason, every slot fails with HostLost.
"""

from __future__ import annotations

import os
import socket
from collections import deque
from contextlib import suppress
from itertools import count
from typing import Any, Final

import trio

from termnode.panehost.outcomes import HostBusy, HostLost, Spawned
from termnode.panehost.protocol import (
    MAX_MESSAGE,
    ExitStatus,
    Failure,
    Message,
    decode,
    encode,
)
from termnode.sideprocess.descriptors import received_descriptors
from termnode.sideprocess.records import RecordError
from termnode.sideprocess.slots import Slot

MAX_PENDING: Final = 256
"""Spawns and pings that may wait for an answer at once."""

MAX_QUEUED: Final = 8_192
"""Records not yet taken by the host's socket; then signals are refused. (Requests are bounded by
MAX_PENDING and forgets by the number of programs.)"""


class Exchange:
    """Owns ``sock``, a connected SOCK_SEQPACKET socket."""

    def __init__(self, sock: socket.socket) -> None:
        self.lost = False
        self.exits: Final[dict[int, Slot]] = {}
        """A slot for the ExitStatus of each program that is not forgotten."""
        self._sock = trio.socket.from_stdlib_socket(sock)
        self._ids = count(1)
        self._pending: dict[int, Slot] = {}
        self._outgoing: deque[bytes] = deque()
        self._work = trio.Event()
        self._actions: Final = {
            "spawned": self._on_spawned,
            "failed": self._on_failed,
            "pong": self._on_pong,
            "exited": self._on_exited,
        }

    def signal(self, pid: int, number: int) -> None:
        """Signal the process group of a program that is not forgotten.

        Raises HostLost, or HostBusy when too many records wait for the host.
        """
        if self.lost:
            raise HostLost("the pane host has ended: its programs can no longer be signalled")
        if len(self._outgoing) >= MAX_QUEUED:
            raise HostBusy("the pane host does not keep up with signals: try again")
        if pid in self.exits:
            self._post(encode({"type": "signal", "pid": pid, "signal": int(number)}))

    def forget(self, pid: int) -> None:
        """Be done with a program: one that lives is hung up. Without effect when unknown."""
        slot = self.exits.pop(pid, None)
        if slot is not None and not self.lost:
            slot.fail(HostLost("the program was forgotten: nobody waits for its end any more"))
            self._post(encode({"type": "forget", "pid": pid}))

    async def request(self, message: Message) -> Any:  # noqa: ANN401  # as Slot.wait
        """Send a request and wait for its answer; raises Failure, RecordTooLarge, HostLost.

        When the caller is cancelled, a program that was started for it is hung up.
        """
        if self.lost:
            raise HostLost("the pane host has ended: start a new one")
        if max(len(self._pending), len(self._outgoing)) >= MAX_PENDING:
            raise Failure("RESOURCE_LIMIT", "too many programs are being started: try again")
        number = next(self._ids)
        data = encode({**message, "id": number})
        slot = self._pending[number] = Slot()
        self._post(data)
        try:
            return await slot.wait()
        except BaseException:
            # Either still pending, or answered just as the caller was cancelled.
            self._abandon(slot.value)
            raise
        finally:
            self._pending.pop(number, None)

    def _post(self, data: bytes) -> None:
        self._outgoing.append(data)
        self._work.set()

    async def send(self) -> None:
        """Send what is posted, until the host is lost."""
        while not self.lost:
            await self._work.wait()
            self._work = trio.Event()
            while self._outgoing:
                data = self._outgoing.popleft()
                try:
                    await self._sock.send(data)
                except (OSError, trio.ClosedResourceError):
                    self.lose()
                    return

    async def receive(self) -> None:
        """Take what the host says, until it is lost."""
        while not self.lost:
            try:
                data, control, _, _ = await self._sock.recvmsg(
                    MAX_MESSAGE + 1, socket.CMSG_SPACE(4), socket.MSG_CMSG_CLOEXEC
                )
            except (OSError, trio.ClosedResourceError):
                data, control = b"", []
            descriptors = received_descriptors(control)
            if not data:
                self.lose()
            else:
                self._take(data, descriptors)

    def _take(self, data: bytes, descriptors: list[int]) -> None:
        """Do what one message says; descriptors that nobody gets are closed."""
        with suppress(RecordError):
            message = decode(data)
            action = self._actions.get(message["type"])
            if action is not None:
                action(message, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)

    def _on_spawned(self, message: Message, descriptors: list[int]) -> None:
        pid = message["pid"]
        self.exits[pid] = Slot()
        slot = self._pending.pop(message["id"], None)
        if not descriptors:  # this process is at its own descriptor limit
            self.forget(pid)
            if slot is not None:
                text = "no descriptor is left for another pane: close one and try again"
                slot.fail(Failure("RESOURCE_LIMIT", text))
            return
        spawned = Spawned(pid, message.get("start_time"), descriptors.pop(0))
        if slot is None:
            self._abandon(spawned)
        else:
            slot.resolve(spawned)

    def _on_failed(self, message: Message, _descriptors: list[int]) -> None:
        slot = self._pending.pop(message["id"], None)
        if slot is not None:
            slot.fail(Failure(message["code"], message["message"], **message["details"]))

    def _on_pong(self, message: Message, _descriptors: list[int]) -> None:
        slot = self._pending.pop(message["id"], None)
        if slot is not None:
            slot.resolve(True)

    def _on_exited(self, message: Message, _descriptors: list[int]) -> None:
        slot = self.exits.get(message["pid"])
        if slot is not None:
            slot.resolve(ExitStatus(message.get("code"), message.get("signal"), message["core"]))

    def _abandon(self, made: object) -> None:
        """Hang up a program whose requester has gone away."""
        if isinstance(made, Spawned):
            os.close(made.master_fd)
            self.forget(made.pid)

    def lose(self) -> None:
        """Fail everything that waits; later calls fail at once."""
        self.lost = True
        self._work.set()
        self._sock.close()
        for slot in (*self._pending.values(), *self.exits.values()):
            slot.fail(HostLost("the pane host has ended: start a new one"))
        self._pending.clear()
        self._outgoing.clear()
