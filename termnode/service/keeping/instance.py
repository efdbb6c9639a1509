"""One service per name and runtime directory: its files, its lock, and who holds it.

The lock is an flock that the kernel drops however the service ends, so the pid inside it is that of
a live process for as long as it is held.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from brokerd.client import Lock, LockHeld, lock_holder, open_holder
from termnode.control import posture


class AlreadyRunning(Exception):
    """Another process serves this name in this directory; ``pid`` is None while it starts."""

    def __init__(self, name: str, directory: Path, pid: int | None) -> None:
        who = f"pid {pid}" if pid else "it is just starting"
        super().__init__(
            f"'{name}' already runs in {directory} ({who}): use it (termnode attach --name "
            f"{name}), end it (termnode down --name {name}), or start another one "
            "(termnode up --name OTHER)"
        )
        self.pid = pid


@dataclass(frozen=True, slots=True)
class InstanceFiles:
    """The files of the service ``name`` in a checked runtime directory."""

    directory: Path
    name: str

    @property
    def lock(self) -> Path:
        """Held by the live service; its pid is inside."""
        return self.directory / f"{self.name}.service"

    @property
    def posture(self) -> Path:
        """Holds ``open`` or ``strict`` (architecture 7)."""
        return posture.file_path(self.directory, self.name)

    @property
    def view(self) -> Path:
        """The socket for views (specs/view.md)."""
        return self.directory / f"{self.name}.view"

    @property
    def log(self) -> Path:
        """What a detached service had to complain about."""
        return self.directory / f"{self.name}.log"

    def running(self) -> int | None:
        """The live service's pid, 0 while it starts, None when there is none."""
        return lock_holder(self.lock)

    def acquire(self) -> Lock:
        """Become the service. Raises AlreadyRunning."""
        try:
            return Lock(self.lock)
        except LockHeld as held:
            raise AlreadyRunning(self.name, self.directory, held.pid) from None

    def open_process(self) -> tuple[int, int] | None:
        """The live service's pid and a pidfd for it, which the caller closes; None without one."""
        return open_holder(self.lock)

    def take_over_output(self) -> None:
        """Let standard output and error go to the log from now on. Only for who holds the lock."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        log = os.open(self.log, flags, 0o600)
        for stream in (1, 2):
            os.dup2(log, stream)
        os.close(log)

    def clean(self) -> None:
        """Remove what an ended service leaves; the log stays only if there is something in it.

        Only for who holds the lock, which goes last: from then on all files may be a successor's.
        """
        with contextlib.suppress(OSError):
            if self.log.stat().st_size == 0:
                self.log.unlink()
        with contextlib.suppress(OSError):  # something that is no socket may have its name
            self.view.unlink()
        for path in (self.posture, self.lock):
            path.unlink(missing_ok=True)
