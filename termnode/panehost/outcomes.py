"""What the Trio side of the pane host returns and raises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


class HostLost(Exception):
    """The pane host has ended; programs that it started live on while their masters are open."""


class HostBusy(Exception):
    """Too many records wait for the pane host."""


class SpawnFailed(Exception):
    """The program was not started. ``code`` and ``details`` as in specs/pane-host.md."""

    def __init__(self, code: str, message: str, details: Mapping[str, str]) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = dict(details)


@dataclass(frozen=True, slots=True)
class Spawned:
    """A program that runs. ``master_fd`` is close-on-exec and now belongs to the receiver."""

    pid: int
    start_time: int | None
    """Clock ticks after boot; None where the system hides it."""
    master_fd: int
