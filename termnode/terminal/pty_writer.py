"""Writes a terminal's input queue to its master."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import trio

from termnode.terminal.master import Master
from termnode.terminal.write_queue import Outcome, Piece, WriteQueue

ROOM_RETRY: Final = 0.01
"""Seconds to wait when the kernel announced room for input and then took none."""

MAX_BURST: Final = 64 * 1024
"""Bytes written before others run: a program may read a large paste as fast as it is written."""

MAX_WRITE: Final = 16 * 1024
"""Bytes of one write, which the kernel may take whole."""

LATEST_S: Final = 300.0
"""Seconds in which a patient piece must be written, however steadily it is read."""


class Ticket(Piece):
    """Input that was admitted: ``total``, ``written`` and ``outcome``, and a way to wait."""

    def __init__(
        self,
        data: bytes,
        deadline: float,
        permit: Callable[[], bool] | None,
        *,
        closing: bytes = b"",
        patience: float | None = None,
        latest: float = math.inf,
    ) -> None:
        super().__init__(data, deadline, permit, closing=closing, patience=patience, latest=latest)
        self._settled = trio.Event()

    def settle(self, outcome: Outcome) -> None:
        """Fix the outcome and wake who waits for it."""
        super().settle(outcome)
        self._settled.set()

    async def wait(self) -> Outcome:
        """Wait for the outcome; it comes when the piece is due at the latest."""
        await self._settled.wait()
        assert self.outcome is not None
        return self.outcome


class PtyWriter:
    """The one writer of a master. Most input is written at once, in the caller's own step."""

    def __init__(self, master: Master, clock: Callable[[], float]) -> None:
        self.written = 0
        """Bytes that reached the PTY."""
        self.last: float | None = None
        """When the last of them did, by ``clock``."""
        self._master = master
        self._clock = clock
        self._queue = WriteQueue()
        self._work = trio.Event()
        self._room_wait: trio.CancelScope | None = None

    @property
    def typed(self) -> int:
        """Bytes that reached the PTY and were no answers to device queries."""
        return self._queue.typed

    @property
    def idle(self) -> bool:
        """Whether nothing at all waits to be written."""
        return self._queue.idle

    def write(
        self,
        data: bytes,
        within: float,
        permit: Callable[[], bool] | None,
        closing: bytes = b"",
        patience: bool = False,
    ) -> Ticket:
        """Admit input whole and write what the PTY takes. Raises QueueFull or Gone.

        ``closing`` is written if it ends early after its first byte was. With ``patience`` the
        program has ``within`` seconds from each byte that it took, LATEST_S in all, and the input
        may have MAX_PASTE_BYTES on an empty queue.
        """
        now = self._clock()
        ticket = Ticket(
            bytes(data),
            now + within,
            permit,
            closing=closing,
            patience=within if patience else None,
            latest=now + LATEST_S,
        )
        self._queue.put(ticket)
        self._flush_now()
        return ticket

    def answer(self, data: bytes) -> None:
        """Write the answer to a device query; dropped whole when too many wait."""
        if self._queue.answer(data):
            self._flush_now()

    def recheck_permits(self) -> None:
        """End all input whose permit no longer holds, at once.

        A permit that is just being asked may come to do this; then the asking itself sees to it.
        """
        if not self._queue.asking:
            self._queue.revoke()
            self._flush_now()

    def drop_all(self) -> None:
        """The terminal has ended: what waits is gone, and so is what comes."""
        self._queue.drop_all()

    async def run(self) -> None:
        """Write what did not fit at once, and end what is due; until cancelled."""
        woken = False
        while True:
            before = self.written
            if not self._flush():
                await self._work.wait()
                self._work = trio.Event()
                woken = False
            elif woken and self.written == before:
                await trio.sleep(ROOM_RETRY)
                woken = False
            else:
                woken = await self._wait_room()

    async def _wait_room(self) -> bool:
        """Wait for room in the PTY, or for the next deadline; whether it was room."""
        with trio.move_on_after(self._until_due()) as self._room_wait:
            await self._master.wait_writable()
            return True
        return False

    def _until_due(self) -> float:
        """Seconds until the next deadline; infinite when only answers wait, which have none."""
        deadline = self._queue.next_deadline()
        return math.inf if deadline is None else max(0.0, deadline - self._clock())

    def _flush_now(self) -> None:
        """Write what the PTY takes; leave the rest, and its deadline, to ``run``."""
        if self._flush():
            self._work.set()
            if self._room_wait is not None:
                self._room_wait.deadline = trio.current_time() + self._until_due()

    def _flush(self) -> bool:
        """Write until nothing waits (False), or the PTY is full or the burst long enough (True)."""
        end = self.written + MAX_BURST
        while (chunk := self._queue.head(self._clock())) is not None:
            if self.written >= end:
                return True
            try:
                count = self._master.write(chunk[:MAX_WRITE])
            except OSError:
                self._queue.drop_all()
                return False
            if not count:
                return True
            self.last = self._clock()
            self._queue.wrote(count, self.last)
            self.written += count
        return False
