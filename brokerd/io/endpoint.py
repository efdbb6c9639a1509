"""The place on disk: directory, lock and socket file, taken together and left as found."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable
from pathlib import Path

from brokerd import rundir
from brokerd.locks import Lock
from brokerd.rundir import RuntimeDirError


class Endpoint:
    """Holds the lock of a runtime directory from construction to ``close``.

    ``lock`` takes the lock. Raises RuntimeDirError: the directory cannot be trusted, a live broker
    holds it, or something that is not a socket is where the socket belongs.
    """

    def __init__(self, directory: Path, lock: Callable[[Path], Lock] = rundir.acquire) -> None:
        self.directory = directory
        self.path = rundir.socket_path(directory)
        self._bound: os.stat_result | None = None
        self._lock = lock(directory)
        try:
            check_leftover(self.path)
        except RuntimeDirError:
            self._lock.release()
            raise

    def bound(self) -> None:
        """The socket file is there and is ours: remember which it is."""
        self._bound = os.lstat(self.path)

    def close(self) -> None:
        """Remove what is still ours, and let go of the lock. What has vanished is no error."""
        with contextlib.suppress(OSError):
            if self._bound and os.path.samestat(self._bound, os.lstat(self.path)):
                self.path.unlink()
        self._lock.release()


def check_leftover(path: Path) -> None:
    """A socket that a dead broker left is replaced by bind; anything else is not ours to remove."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise RuntimeDirError(f"{path} is not a socket; move it away and start again")
