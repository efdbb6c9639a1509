"""Wakes up whoever waits for something to have changed."""

from __future__ import annotations

import math
from collections.abc import Callable

import trio


class Bell:
    """``ring`` after a change; waiters look again at what they wait for."""

    def __init__(self) -> None:
        self._rung = trio.Event()

    def ring(self) -> None:
        """Wake everybody who waits now."""
        self._rung.set()
        self._rung = trio.Event()

    async def wait(self, seconds: float = math.inf) -> None:
        """Until the next ring, or for that long."""
        rung = self._rung
        with trio.move_on_after(max(0.0, seconds)):
            await rung.wait()

    async def until(self, check: Callable[[], bool], seconds: float) -> bool:
        """Whether ``check`` came to hold within that time."""
        with trio.move_on_after(seconds):
            while not check():
                await self.wait()
        return check()
