"""The Trio side of the zygote, for the Term service. Promises: specs/pane-shell.md."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final, Self

import trio

from brokerd.client import background
from termnode.paneshell.launch import Ended, Launch
from termnode.paneshell.outcomes import Forked, ForkFailed, ZygoteLost
from termnode.paneshell.packets import Packets
from termnode.paneshell.records import Record, RecordError, decode, encode
from termnode.paneshell.starting import start_zygote
from termnode.sideprocess.descriptors import close_all
from termnode.sideprocess.slots import Slot
from termnode.sideprocess.starting import wait_or_kill

__all__ = ["Ended", "ForkFailed", "Forked", "Launch", "Zygote", "ZygoteLost"]

START_TIMEOUT: Final = 20.0
"""Seconds for the zygote to answer its first ping; its imports are the most of that."""

STOP_TIMEOUT: Final = 6.0
"""Seconds for the zygote to end its sidecars and itself; then it is killed."""

MAX_PENDING: Final = 64
"""Forks that may wait for an answer at once."""

MAX_UNREAD: Final = 4_096
"""Ends of sidecars that are kept for somebody who waits for them; older ones are forgotten."""


class Zygote:
    """A running zygote. Make one with ``async with Zygote.start() as zygote``."""

    def __init__(self, sock: socket.socket, process: trio.Process) -> None:
        self.process = process
        self.lost = False
        """Whether the zygote has ended."""
        self._packets = Packets(sock)
        self._sending = trio.Lock()
        self._last_id = 0
        self._pending: dict[int, Slot] = {}
        self._ends: dict[int, Slot] = {}

    @classmethod
    @asynccontextmanager
    async def start(cls) -> AsyncIterator[Self]:
        """Start a zygote in its own session; on leaving, it and its sidecars end.

        Raises ZygoteLost when it does not come up, OSError when it cannot be started.
        """
        sock, process = await start_zygote()
        zygote = cls(sock, process)
        try:
            async with background(zygote._receive):
                await zygote._await_ready()
                yield zygote
        finally:
            await zygote._stop()

    async def fork(
        self, launch: Launch, descriptor_fd: int | None, channel_socket: socket.socket
    ) -> Forked:
        """Start a sidecar with that launch descriptor (None: it has none) and end of its channel.

        The caller keeps both and closes them afterwards, whatever the outcome; a caller that is
        cancelled leaves a sidecar that ends when Term's end of the channel is closed. Raises
        ForkFailed, ZygoteLost.
        """
        record = {"type": "fork", **launch.to_record(), "descriptor": descriptor_fd is not None}
        passed = [channel_socket.fileno(), *([] if descriptor_fd is None else [descriptor_fd])]
        try:
            made: Forked = await self._ask(record, passed)
        except RecordError as error:
            raise ForkFailed("RESOURCE_LIMIT", str(error)) from None
        return made

    async def ping(self) -> None:
        """Return when the zygote has answered. Raises ZygoteLost."""
        await self._ask({"type": "ping"}, [])

    async def wait_end(self, pid: int) -> Ended:
        """Wait for the end of a sidecar. Raises KeyError when unknown, ZygoteLost."""
        ended: Ended = await self._ends[pid].wait()
        self._ends.pop(pid, None)
        return ended

    async def _ask(self, record: Record, descriptors: list[int]) -> Any:  # noqa: ANN401  # as Slot
        if self.lost:
            raise _gone()
        if len(self._pending) >= MAX_PENDING:
            raise ForkFailed("RESOURCE_LIMIT", "too many pane shells are being started: try again")
        self._last_id += 1
        number = self._last_id
        data = encode({**record, "id": number})
        slot = self._pending[number] = Slot()
        try:
            await self._send(data, descriptors)
            return await slot.wait()
        except BaseException:
            _discard(slot.value)  # answered just as the caller was cancelled
            raise
        finally:
            self._pending.pop(number, None)

    async def _send(self, data: bytes, descriptors: list[int]) -> None:
        async with self._sending:
            try:
                await self._packets.send(data, descriptors)
            except (OSError, trio.ClosedResourceError):
                raise _gone() from None

    async def _receive(self, _nursery: trio.Nursery) -> None:
        """Take what the zygote says, until it is lost."""
        while not self.lost:
            data, descriptors = await self._packets.receive(1)
            if data:
                self._take(data, descriptors)
            else:
                self._lose()
            close_all(descriptors)

    def _take(self, data: bytes, descriptors: list[int]) -> None:
        """Do what one record says; what is left in ``descriptors`` nobody wants."""
        try:
            record = decode(data)
        except RecordError:
            return
        if record["type"] == "ended":
            self._note_end(record)
            return
        if record["type"] == "forked":
            self._note_child(record["pid"])
        slot = self._pending.pop(record["id"], None)
        if slot is not None:
            _settle(slot, record, descriptors)

    def _note_child(self, pid: int) -> None:
        """Keep the end of this sidecar for whoever asks; the oldest unread ones give way."""
        self._ends[pid] = Slot()
        while len(self._ends) > 2 * MAX_UNREAD:
            del self._ends[next(iter(self._ends))]

    def _note_end(self, record: Record) -> None:
        slot = self._ends.get(record["pid"])
        if slot is not None:
            slot.resolve(Ended(record.get("code"), record.get("signal")))

    def _lose(self) -> None:
        """Fail everything that waits; later calls fail at once."""
        self.lost = True
        self._packets.close()
        for slot in (*self._pending.values(), *self._ends.values()):
            slot.fail(_gone())
        self._pending.clear()

    async def _await_ready(self) -> None:
        try:
            with trio.fail_after(START_TIMEOUT):
                await self.ping()
        except trio.TooSlowError:
            raise ZygoteLost("the pane shells' zygote did not start in time: try again") from None

    async def _stop(self) -> None:
        """Close the socket, which makes the zygote end; kill it when it does not."""
        self._lose()
        await wait_or_kill(self.process, STOP_TIMEOUT)


def _settle(slot: Slot, record: Record, descriptors: list[int]) -> None:
    if record["type"] == "failed":
        slot.fail(ForkFailed(str(record["code"]), str(record["message"])))
    elif record["type"] != "forked":
        slot.resolve(None)
    elif descriptors:
        slot.resolve(Forked(record["pid"], descriptors.pop(0)))
    else:  # this process is at its own descriptor limit
        text = "no descriptor is left for another pane shell: close a pane and try again"
        slot.fail(ForkFailed("RESOURCE_LIMIT", text))


def _discard(made: object) -> None:
    if isinstance(made, Forked):
        os.close(made.pidfd)


def _gone() -> ZygoteLost:
    return ZygoteLost("the pane shells' zygote has ended: start a new one")
