"""Ctrl-C, once for each time that it is pressed."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from math import inf
from typing import Final

SAME_S: Final = 0.3
"""Within so many seconds of one, another is the same key: timeout(1) and the like pass on what the
terminal has sent to all already."""


class Interrupts:
    """A handler of SIGINT. ``clock`` is monotonic, in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = -inf

    def install(self) -> None:
        """From now on. Only for the main thread."""
        signal.signal(signal.SIGINT, self)

    def answered(self) -> None:
        """What the last one asked for was done, and said: the next is another."""
        self._last = -inf

    def __call__(self, _number: int, _frame: object) -> None:
        """Raises KeyboardInterrupt."""
        now = self._clock()
        if now - self._last >= SAME_S:
            self._last = now
            raise KeyboardInterrupt
