"""Signals that end the broker, as a descriptor in its poll set."""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import Final, Self

ENDING: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Signals:
    """While entered, ``ended`` turns true and ``fileno`` readable when one of ENDING comes."""

    def __init__(self) -> None:
        self.ended = False
        self._reader, self._writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def __enter__(self) -> Self:
        self._wakeup = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        self._before = {each: signal.signal(each, self._end) for each in ENDING}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup)
        os.close(self._reader)
        os.close(self._writer)

    def fileno(self) -> int:
        """What to poll for reading."""
        return self._reader

    def _end(self, _number: int, _frame: FrameType | None) -> None:
        self.ended = True
