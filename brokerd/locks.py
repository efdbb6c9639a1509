"""Lock files: at most one live holder each, and a way to ask who it is.

Held by flock, so the kernel lets go of one however its holder ends; the pid inside is therefore
that of a live process for as long as the lock is held.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import Final

_TRIES: Final = 10
_PAUSE_S: Final = 0.002


class LockHeld(Exception):
    """A live process holds the lock; ``pid`` is None while it is just starting."""

    def __init__(self, path: Path, pid: int | None) -> None:
        super().__init__(f"{path} is held by {f'pid {pid}' if pid else 'a process just starting'}")
        self.path = path
        self.pid = pid


class Lock:
    """A held lock file with this process's pid in it. Raises LockHeld, or OSError to open it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = _acquire(path)
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, b"%d\n" % os.getpid(), 0)

    def release(self) -> None:
        """Remove the file if it is still this lock's, then let go. May be called again."""
        if self._descriptor < 0:
            return
        if _same_file(self._descriptor, self._path):
            self._path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = -1

    def fileno(self) -> int:
        """The locked descriptor; negative once released."""
        return self._descriptor


def lock_holder(path: Path) -> int | None:
    """The pid of the process that holds the lock, 0 while it is just starting, None without one."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _pid_in(descriptor) or 0
    else:
        return None  # closing lets go at once; who wants the lock meanwhile tries again
    finally:
        os.close(descriptor)


def open_holder(path: Path) -> tuple[int, int] | None:
    """The holder's pid and a pidfd for it, which the caller closes; None without one.

    Never a later process of the same pid: it held the lock after the pidfd was there.
    """
    pid = lock_holder(path)
    if not pid:
        return None
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return None
    if lock_holder(path) == pid:
        return pid, descriptor
    os.close(descriptor)
    return None


def _acquire(path: Path) -> int:
    """A locked descriptor of the file that is at ``path`` now."""
    while True:
        descriptor = _open(path)
        if not _locked(descriptor):
            pid = _pid_in(descriptor)
            os.close(descriptor)
            raise LockHeld(path, pid)
        # Its last holder may have removed the file after we opened it: then ours locks nothing.
        if _same_file(descriptor, path):
            return descriptor
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    """Lock it; whoever only asks for the holder is in the way for microseconds, so try again."""
    for _ in range(_TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            time.sleep(_PAUSE_S)
        else:
            return True
    return False


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    return os.open(path, flags, 0o600)


def _pid_in(descriptor: int) -> int | None:
    pid = os.pread(descriptor, 32, 0).strip()
    return int(pid) if pid.isdigit() else None


def _same_file(descriptor: int, path: Path) -> bool:
    try:
        there = os.stat(path, follow_symlinks=False)
    except OSError:
        return False
    return os.path.samestat(os.fstat(descriptor), there)
