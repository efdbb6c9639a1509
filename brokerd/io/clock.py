"""The broker's clock: the time since the machine started, sleep included.

Leases must not stand still while the machine sleeps, so it is CLOCK_BOOTTIME. When that cannot be
read the broker goes on with the monotonic clock, from the time it had, and is told.
"""

from __future__ import annotations

import time
from collections.abc import Callable


def boottime_ns() -> int:
    """CLOCK_BOOTTIME in nanoseconds. Raises OSError."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


class Clock:
    """Milliseconds that never go back. ``failed`` stays true once the boot time was unreadable."""

    def __init__(
        self,
        boottime: Callable[[], int] = boottime_ns,
        monotonic: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self.failed = False
        self._boottime = boottime
        self._monotonic = monotonic
        self._last_ns = 0
        self._offset_ns = 0

    def now_ms(self) -> int:
        """The time now."""
        self._last_ns = max(self._last_ns, self._read())
        return self._last_ns // 1_000_000

    def _read(self) -> int:
        if not self.failed:
            try:
                return self._boottime()
            except OSError:
                self.failed = True
                self._offset_ns = self._last_ns - self._monotonic()
        return self._monotonic() + self._offset_ns
