"""The host's table of children: who lives, who ended, and whose group may still be signalled.

A child stays unreaped, and so its process id and group id stay taken, until Term forgets it: no
signal of ours can reach a stranger. Decisions take the time (monotonic seconds) as an argument.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from termnode.panehost.protocol import ExitStatus
from termnode.panehost.spawn import Pty

HANGUP_GRACE: Final = 2.0
"""Seconds between SIGHUP and SIGKILL (specs/pane-host.md)."""

GROUP_CHECK: Final = 0.1
"""Seconds between two looks at whether the group of an ended leader is empty."""

GIVE_UP: Final = HANGUP_GRACE + 3.0
"""Seconds after which a child that SIGKILL does not end is left to the kernel."""


@dataclass(slots=True)
class Child:
    """One program: session leader, leader of its process group, unreaped."""

    pid: int
    start_time: int | None
    pty: Pty
    ended: bool = False
    hung_up_at: float | None = None
    next_look: float = 0.0
    killed: bool = False


@dataclass(frozen=True, slots=True)
class Exited:
    """A child that ended, still unreaped."""

    pid: int
    status: ExitStatus


class Children:
    """All children of the host, keyed by process id."""

    def __init__(self) -> None:
        self._table: dict[int, Child] = {}

    def __len__(self) -> int:
        return len(self._table)

    def add(self, pty: Pty) -> Child:
        """Take over a program that was just started."""
        child = Child(pty.pid, start_time(pty.pid), pty)
        self._table[child.pid] = child
        return child

    def collect(self) -> list[Exited]:
        """Children that ended since the last call; none is reaped. Forgotten ones are left out."""
        news = [(child, _status(child.pid)) for child in self._table.values() if not child.ended]
        exits: list[Exited] = []
        for child, status in news:
            if status is None:
                continue
            child.ended = True
            if child.hung_up_at is None:
                exits.append(Exited(child.pid, status))
        return exits

    def signal(self, pid: int, number: int) -> None:
        """Signal the group of a child; nothing happens when there is no such child."""
        if pid in self._table:
            _signal_group(pid, number)

    def forget(self, pid: int, now: float) -> None:
        """Reap a child that ended; hang up one that lives (``step`` reaps it)."""
        child = self._table.get(pid)
        if child is not None and child.ended and child.hung_up_at is None:
            self._reap(child)
        elif child is not None:
            _hang_up(child, now)

    def hang_up_all(self, now: float) -> None:
        """Hang up every session, those of ended leaders too (their groups may live on)."""
        for child in self._table.values():
            _hang_up(child, now)

    def step(self, now: float) -> None:
        """Do what is due for children that were hung up: SIGKILL, reap."""
        leaving = [child for child in self._table.values() if child.hung_up_at is not None]
        looking = [child for child in leaving if child.ended and now >= child.next_look]
        groups = _live_groups() if looking else frozenset()
        for child in looking:
            child.next_look = now + GROUP_CHECK
            if child.pid not in groups:
                self._reap(child)
        for child in leaving:
            self._enforce(child, now)

    def next_deadline(self) -> float | None:
        """When ``step`` has something to do again."""
        return min(self._deadlines(), default=None)

    def _deadlines(self) -> Iterator[float]:
        for child in self._table.values():
            if child.hung_up_at is None:
                continue
            yield child.hung_up_at + (GIVE_UP if child.killed else HANGUP_GRACE)
            if child.ended:
                yield child.next_look

    def _enforce(self, child: Child, now: float) -> None:
        waited = now - (child.hung_up_at or now)
        if waited >= HANGUP_GRACE and not child.killed and child.pid in self._table:
            child.killed = True
            _signal_session(child, signal.SIGKILL)
        if waited >= GIVE_UP and child.pid in self._table:
            self._reap(child)

    def _reap(self, child: Child) -> None:
        del self._table[child.pid]
        child.pty.release()
        with suppress(ChildProcessError):
            os.waitpid(child.pid, os.WNOHANG)


def start_time(pid: int) -> int | None:
    """Clock ticks after boot at which a process started: with the pid it names one process.

    None where /proc hides the processes of other users and the program has become another's.
    """
    try:
        return int(stat_fields(pid)[19])
    except OSError:
        return None


def stat_fields(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the command's name: [0] is field 3, the state."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].decode("ascii").split()


def _status(pid: int) -> ExitStatus | None:
    """The wait status of a child that ended, which stays waitable; None while it lives."""
    result = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if result is None or result.si_pid == 0:
        return None
    if result.si_code == os.CLD_EXITED:
        return ExitStatus(result.si_status, None)
    return ExitStatus(None, result.si_status, result.si_code == os.CLD_DUMPED)


def _hang_up(child: Child, now: float) -> None:
    if child.hung_up_at is None:
        child.hung_up_at = now
        _signal_session(child, signal.SIGHUP)
        _signal_session(child, signal.SIGCONT)  # a stopped job must get to see its SIGHUP


def _signal_session(child: Child, number: int) -> None:
    """Signal the leader's group and, where it is another one, the terminal's foreground group."""
    _signal_group(child.pid, number)
    with suppress(OSError):
        foreground = os.tcgetpgrp(child.pty.fd)
        if foreground > 1 and foreground != child.pid and os.getsid(foreground) == child.pid:
            _signal_group(foreground, number)


def _signal_group(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _live_groups() -> frozenset[int]:
    """Groups with a member that is not a zombie."""
    groups: set[int] = set()
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError):
                fields = stat_fields(int(name))
                if fields[0] not in "ZX":
                    groups.add(int(fields[2]))
    return frozenset(groups)
