"""Signals of a single-threaded loop with children: they wake its selector up."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Final

_IGNORED: Final = (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGQUIT)

Handler = Callable[[int, FrameType | None], None]


def watch_signals(on_terminate: Handler, on_child: Handler) -> int:
    """Catch SIGTERM and SIGCHLD; the descriptor that becomes readable on either (`drain` it).

    Terminal signals are not for such a process: they are ignored, whatever it inherited.
    """
    reading, writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGTERM, on_terminate)
    signal.signal(signal.SIGCHLD, on_child)
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    return reading


def drain(descriptor: int) -> None:
    """Take all that is in it."""
    with suppress(BlockingIOError):
        while os.read(descriptor, 512):
            pass
