"""What the kernel says of the pane's shell, without touching its terminal."""

from __future__ import annotations

import os
from contextlib import suppress

from termnode.paneshell.status import EXITING, FOREGROUND_CHILD, STARTING, Observation

_ENDED = frozenset("ZXx")


class ShellProcess:
    """The process that the pane was started with, told apart from a later one of its number."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        fields = _stat(pid)
        self._start_time = None if fields is None else fields[_START_TIME]

    def observe(self) -> Observation:
        """Look at it now: a few reads of /proc, nothing that waits."""
        fields = _stat(self.pid)
        if fields is None or fields[_START_TIME] != self._start_time or fields[_STATE] in _ENDED:
            return Observation(EXITING, None)
        return Observation(_phase(fields), _cwd(self.pid))

    def groups(self) -> tuple[int, int] | None:
        """Its own process group and the one that has its terminal; None once it has ended."""
        fields = _stat(self.pid)
        if fields is None or fields[_START_TIME] != self._start_time or fields[_STATE] in _ENDED:
            return None
        return int(fields[_GROUP]), int(fields[_FOREGROUND])


def _phase(fields: list[str]) -> str:
    """Whether another process group than the shell's own has the terminal."""
    front = int(fields[_FOREGROUND])
    return FOREGROUND_CHILD if front > 0 and front != int(fields[_GROUP]) else STARTING


def _cwd(pid: int) -> bytes | None:
    with suppress(OSError):
        return os.readlink(b"/proc/%d/cwd" % pid)
    return None


_STATE, _GROUP, _FOREGROUND, _START_TIME = 0, 2, 5, 19
"""Places in /proc/PID/stat after the command's name."""


def _stat(pid: int) -> list[str] | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].decode("ascii").split()
    except OSError:
        return None
