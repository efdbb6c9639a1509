"""Which peer processes live: one pidfd for each, all in one epoll descriptor.

libzmq tells nobody that a peer has gone. The kernel does: a pidfd becomes readable when its process
ends. It is opened in the ZAP step, with the process's start time compared before and after, so that
it cannot be of a later process with the same number.
"""

from __future__ import annotations

import os
import select
from dataclasses import dataclass, field


@dataclass(slots=True)
class _Process:
    descriptor: int
    started: bytes
    connections: dict[str, None] = field(default_factory=dict)


class Processes:
    """The watched peers. ``fileno`` is readable when some of them have ended."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._by_pid: dict[int, _Process] = {}
        self._by_descriptor: dict[int, int] = {}

    def fileno(self) -> int:
        """What to poll for reading."""
        return self._epoll.fileno()

    def watch(self, pid: int) -> bool:
        """Make sure that ``pid`` is watched; False when it is gone or cannot be watched."""
        before = start_time(pid)
        known = self._by_pid.get(pid)
        if known is not None:
            return known.started == before
        try:
            descriptor = os.pidfd_open(pid)
        except OSError:
            return False
        if before is None or start_time(pid) != before:
            os.close(descriptor)
            return False
        self._by_pid[pid] = _Process(descriptor, before)
        self._by_descriptor[descriptor] = pid
        self._epoll.register(descriptor, select.EPOLLIN)
        return True

    def attach(self, pid: int, connection_id: str) -> None:
        """Note that a connection is of the watched ``pid``."""
        self._by_pid[pid].connections[connection_id] = None

    def detach(self, pid: int, connection_id: str) -> None:
        """The connection is gone; with its last connection a process is no longer watched."""
        process = self._by_pid.get(pid)
        if process is not None:
            process.connections.pop(connection_id, None)
            self.release(pid)

    def release(self, pid: int) -> None:
        """Stop watching ``pid`` unless it has connections."""
        process = self._by_pid.get(pid)
        if process is not None and not process.connections:
            self._drop(pid, process)

    def ended(self) -> list[str]:
        """The connections of processes that have ended since; each process is told once."""
        connections: list[str] = []
        for descriptor, _ in self._epoll.poll(0):
            pid = self._by_descriptor[descriptor]
            process = self._by_pid[pid]
            connections.extend(process.connections)
            self._drop(pid, process)
        return connections

    def close(self) -> None:
        """Stop watching."""
        for pid, process in tuple(self._by_pid.items()):
            self._drop(pid, process)
        self._epoll.close()

    def __len__(self) -> int:
        return len(self._by_pid)

    def _drop(self, pid: int, process: _Process) -> None:
        del self._by_pid[pid]
        del self._by_descriptor[process.descriptor]
        self._epoll.unregister(process.descriptor)
        os.close(process.descriptor)


def start_time(pid: int) -> bytes | None:
    """When the process started, in the kernel's own words; None when there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            status = file.read(4_096)
    except OSError:
        return None
    # The command, in parentheses, may hold anything; what follows the last one is fixed.
    fields = status.rpartition(b")")[2].split()
    return fields[19] if len(fields) > 19 else None
