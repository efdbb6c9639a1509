"""One task that sleeps until the next thing is due, for many that change when that is."""

from __future__ import annotations

import math
from collections.abc import Callable

import trio


class Alarm:
    """Calls ``ring`` whenever its time has come. Times are Trio's."""

    def __init__(self, ring: Callable[[], None]) -> None:
        self._ring = ring
        self._at = math.inf
        self._sooner = trio.Event()

    def set(self, at: float) -> None:
        """Ring at that time, or before it. Costs nothing unless it is sooner than what was set."""
        if at < self._at:
            self._at = at
            self._sooner.set()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            with trio.move_on_at(self._at):
                await self._sooner.wait()
            if self._sooner.is_set():
                self._sooner = trio.Event()
                continue
            self._at = math.inf
            self._ring()
