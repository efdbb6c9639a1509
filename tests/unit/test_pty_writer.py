"""The writer of a master: bursts that leave others room, closings, and deadlines that move on."""

from __future__ import annotations

from typing import cast

import trio
import trio.testing

from termnode.terminal.master import Master
from termnode.terminal.pty_writer import (
    LATEST_S,
    MAX_BURST,
    MAX_WRITE,
    ROOM_RETRY,
    PtyWriter,
    Ticket,
)
from termnode.terminal.write_queue import MAX_PASTE_BYTES


class Pty:
    """Takes what there is room for, and keeps it with the size of each write."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.data = b""
        self.largest = 0
        self._readable = trio.Event()

    def write(self, data: bytes | memoryview) -> int | None:
        self.largest = max(self.largest, len(data))
        taken = bytes(data[: self.room])
        self.room -= len(taken)
        self.data += taken
        return len(taken) or None

    def read(self, count: int) -> None:
        """The program reads: so many more bytes fit."""
        self.room += count
        self._readable.set()

    async def wait_writable(self) -> None:
        await trio.lowlevel.checkpoint()
        while not self.room:
            self._readable = trio.Event()
            await self._readable.wait()


def writer(pty: Pty) -> PtyWriter:
    return PtyWriter(cast(Master, pty), trio.current_time)


def paste(made: PtyWriter, data: bytes) -> Ticket:
    return made.write(data, 2.0, None, b"<end>", patience=True)


def run(test: object) -> None:
    trio.run(test, clock=trio.testing.MockClock(autojump_threshold=0))  # type: ignore[arg-type]


def test_a_large_paste_to_a_fast_reader_leaves_others_room() -> None:
    async def test() -> None:
        pty = Pty(room=1 << 30)
        made = writer(pty)
        ticket = paste(made, bytes(MAX_PASTE_BYTES))
        assert MAX_BURST <= len(pty.data) < MAX_BURST + MAX_WRITE
        async with trio.open_nursery() as nursery:
            nursery.start_soon(made.run)
            assert await ticket.wait() == "written"
            nursery.cancel_scope.cancel()
        assert (len(pty.data), pty.largest) == (MAX_PASTE_BYTES, MAX_WRITE)

    run(test)


def test_a_paste_lives_while_it_is_read_and_is_closed_when_it_is_not() -> None:
    async def test() -> None:
        pty = Pty(room=10)
        made = writer(pty)
        ticket = paste(made, bytes(100))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(made.run)
            for _ in range(4):
                await trio.sleep(1.9)
                pty.read(10)
            await trio.testing.wait_all_tasks_blocked()
            assert (ticket.outcome, ticket.written) == (None, 50)
            began = trio.current_time()
            assert await ticket.wait() == "expired"
            assert trio.current_time() - began == 2.0
            assert pty.data == bytes(50)
            pty.read(100)
            await trio.testing.wait_all_tasks_blocked()
            assert pty.data == bytes(50) + b"<end>"
            nursery.cancel_scope.cancel()

    run(test)


def test_a_paste_that_trickles_ends_at_last() -> None:
    async def test() -> None:
        pty = Pty(room=1)
        made = writer(pty)
        ticket = paste(made, bytes(1_000))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(made.run)
            while ticket.outcome is None:
                await trio.sleep(1.0)
                pty.read(1)
            nursery.cancel_scope.cancel()
        assert ticket.outcome == "expired"
        assert LATEST_S - 2 <= ticket.written <= LATEST_S + 2

    run(test)


def test_typing_has_no_patience() -> None:
    async def test() -> None:
        pty = Pty(room=1)
        made = writer(pty)
        ticket = made.write(bytes(100), 2.0, None)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(made.run)
            await trio.sleep(1.5)
            pty.read(1)
            await trio.sleep(0.5)
            assert await ticket.wait() == "expired"
            nursery.cancel_scope.cancel()
        assert (ticket.written, trio.current_time()) == (2, trio.current_time())
        pty.read(100)
        made.recheck_permits()
        assert pty.data == bytes(2), "what was not asked for is not closed"

    run(test)


def test_room_that_is_announced_and_not_there_is_not_asked_for_all_the_time() -> None:
    """The kernel may call a terminal writable that takes nothing."""

    class Lying(Pty):
        asked = 0

        async def wait_writable(self) -> None:
            self.asked += 1
            assert self.asked <= 2.0 / ROOM_RETRY + 2, "it asks all the time"
            await trio.lowlevel.checkpoint()

    async def test() -> None:
        pty = Lying(room=0)
        made = writer(pty)
        ticket = made.write(b"x", 2.0, None)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(made.run)
            assert await ticket.wait() == "expired"
            nursery.cancel_scope.cancel()
        assert pty.asked > 1

    run(test)
