"""The shared endpoint on disk: a directory that all may enter, a lock, and a socket for all."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
from pathlib import Path
from typing import Final

from brokerd import rundir
from brokerd.io.endpoint import Endpoint
from brokerd.locks import Lock, LockHeld
from brokerd.rundir import RuntimeDirError

_BACKLOG: Final = 128


class SharedEndpoint(Endpoint):
    """Holds the lock of a shared directory and listens in it, from construction to ``close``.

    Raises RuntimeDirError: the directory cannot be trusted or used, another broker shares it, or
    something that is not a socket is where the socket belongs.
    """

    def __init__(self, directory: Path) -> None:
        directory = directory.absolute()
        rundir.check_length(directory)
        _make(directory)
        rundir.check_shared(directory, {os.geteuid()})
        super().__init__(directory, _lock)
        try:
            self.listener = _listen(self.path)
            self.bound()
        except BaseException:
            super().close()
            raise

    def close(self) -> None:
        """Listen no more, and leave the directory as any endpoint does."""
        self.listener.close()
        super().close()


def _make(directory: Path) -> None:
    try:
        os.mkdir(directory)
        os.chmod(directory, 0o755)
    except FileExistsError:
        return
    except OSError as error:
        raise RuntimeDirError(
            f"{directory} cannot be made ({error.strerror}); make its parent directory"
        ) from None


def _lock(directory: Path) -> Lock:
    path = directory / rundir.LOCK_NAME
    try:
        return Lock(path)
    except LockHeld as held:
        owner = f"pid {held.pid}" if held.pid else "one that is just starting"
        raise RuntimeDirError(
            f"a broker already uses {directory} ({owner}); end it, or share another directory"
        ) from None
    except OSError as error:
        raise RuntimeDirError(f"{path} cannot be opened ({error.strerror}); remove it") from None


def _listen(path: Path) -> socket.socket:
    """A listening socket that every user may connect to; nobody can before it is all set up."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    try:
        with contextlib.suppress(FileNotFoundError):
            if stat.S_ISSOCK(os.lstat(path).st_mode):
                path.unlink()  # of a broker that was killed: the lock is ours
        listener.bind(os.fspath(path))
        os.chmod(path, 0o666)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise RuntimeDirError(f"{path} cannot be bound ({error.strerror}); start again") from None
    return listener
