"""Reads a terminal's master: in bounded slices, fair to all other panes, never blocking."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum, auto

import trio

from termnode.terminal.master import END, Master
from termnode.terminal.pacing import MAX_SLICE, Pacer


class _Read(Enum):
    DRY = auto()
    MORE = auto()
    END = auto()


class PtyReader:
    """The one reader of a master.

    ``take`` is given each slice and returns the processor seconds it took; ``on_end`` is called at
    the end of file, and must set ``ended``.
    """

    def __init__(
        self,
        master: Master,
        pacer: Pacer,
        take: Callable[[bytes], float],
        on_end: Callable[[], None],
    ) -> None:
        self.count = 0
        """Bytes read."""
        self.ended = trio.Event()
        self._master = master
        self._pacer = pacer
        self._take = take
        self._on_end = on_end
        self._turn_used = 0.0

    async def run(self) -> None:
        """Read until the end of file."""
        while not self.ended.is_set():
            match self._turn():
                case _Read.DRY:
                    await self._master.wait_readable()
                case _Read.MORE:
                    # Two checkpoints at least. What became ready during the turn is woken after
                    # the first, in one batch with this task and in any order: were the next turn
                    # in that batch, it would come before half of them.
                    await trio.lowlevel.checkpoint()
                    await trio.sleep(self._pacer.rest(self._turn_used))
                case _Read.END:
                    break

    async def drain(self, limit: int) -> None:
        """Read on to the end of file, or until nothing is there, or ``limit`` more bytes."""
        last = self.count + limit
        while not self.ended.is_set() and self.count < last and self._turn() is _Read.MORE:
            await trio.lowlevel.checkpoint()

    def _turn(self) -> _Read:
        """Feed what there is, for one turn at most. Readiness is never trusted."""
        self._turn_used = 0.0
        start = time.perf_counter()
        taken = 0
        result = _Read.MORE
        while taken < MAX_SLICE and not self._pacer.turn_over(self._turn_used):
            data = self._master.read(self._pacer.slice)
            if data is None:
                result = _Read.DRY
                break
            if data == END:
                self._on_end()
                return _Read.END
            taken += len(data)
            self.count += len(data)
            self._pacer.fed(len(data), self._take(data))
            # By the wall clock: whoever waits for this turn to end waits for the reads as well.
            self._turn_used = time.perf_counter() - start
        self._pacer.flooding(result is _Read.MORE)
        return result
