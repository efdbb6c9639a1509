"""The one line about a launch that failed: to the log, and to the person in front of the pane."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from typing import Final

_AFTER: Final = "the shell works; this pane is not bound and agents cannot control it"


def say(words: str, tty: str | None) -> None:
    """Write one line to standard error and, when there is one, to the pane's terminal.

    Best effort: never waits, never makes the terminal this process's own, keeps nothing open.
    """
    line = f"pane shell: {words}; {_AFTER}"
    with suppress(OSError):
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
    if tty is not None:
        with suppress(OSError):
            _write(tty, f"\r\n{line}\r\n".encode())


def _write(tty: str, line: bytes) -> None:
    descriptor = os.open(tty, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if stat.S_ISCHR(os.fstat(descriptor).st_mode):
            os.write(descriptor, line)
    finally:
        os.close(descriptor)
