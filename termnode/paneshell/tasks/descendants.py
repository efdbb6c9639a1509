"""What a task has left behind: processes that its keeper has adopted, found, killed and reaped."""

from __future__ import annotations

import os
import signal
from collections.abc import Container, Iterator
from contextlib import suppress
from typing import Final

MOST: Final = 4_096
"""Descendants that one look counts; killing has no such bound."""

_DEAD: Final = frozenset(b"ZXx")


def children() -> list[int]:
    """Children of this process of one thread, dead ones that nobody reaped included."""
    return list(_children_of(os.getpid()))


def living_descendants(without: int) -> set[int]:
    """Those of this process that live, but ``without`` one of its children."""
    found: set[int] = set()
    unseen = [pid for pid in children() if pid != without]
    while unseen and len(found) < MOST:
        pid = unseen.pop()
        if pid not in found and _lives(pid):
            found.add(pid)
            unseen += _children_of(pid)
    return found


def kill_children(without: Container[int]) -> None:
    """SIGKILL every child of this process but those; unreaped, so none is a stranger's number."""
    for pid in children():
        if pid not in without:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def reap() -> Iterator[int]:
    """Reap the children that are dead now and say which; the end says that no more are."""
    with suppress(ChildProcessError):
        while True:
            pid, _ = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            yield pid


def _children_of(pid: int) -> Iterator[int]:
    """Of every thread of a process; a process that is gone has none."""
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                yield from map(int, file.read().split())


def _lives(pid: int) -> bool:
    with suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].split()[0][0] not in _DEAD
    return False
