"""Signals as a readable descriptor, for a loop of one thread."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from types import FrameType


class Waker:
    """Catches SIGCHLD and one more signal; ``fd`` becomes readable at either.

    Make one in a process, in its only thread.
    """

    def __init__(self, number: signal.Signals) -> None:
        self.asked = False
        """Whether that signal came since this was last set to False."""
        self.fd, writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        signal.signal(number, self._note)
        signal.signal(signal.SIGCHLD, _nothing)

    def drain(self) -> None:
        """Read what woke the loop up."""
        with suppress(BlockingIOError):
            while os.read(self.fd, 512):
                pass

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self.asked = True


def _nothing(_number: int, _frame: FrameType | None) -> None:
    """It only has to wake the loop up."""
