"""The runtime directory: where the broker's socket and lock are, and whether it can be trusted.

The directory is the only gate in front of the socket, so it is looked at through an open
descriptor (no symbolic link, ours, closed to others) before anything is made in it. The lock file
is held by flock for as long as the broker lives; the kernel lets go of it however the broker ends.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from brokerd.limits import MAX_SOCKET_PATH
from brokerd.locks import Lock, LockHeld, lock_holder, open_holder

SOCKET_NAME: Final = "bus.sock"
LOCK_NAME: Final = "broker.lock"
VARIABLE: Final = "COSMIX_RUNTIME_DIR"


class RuntimeDirError(Exception):
    """The runtime directory or its lock cannot be used; the message says why and what to do."""


class RuntimeDirMissing(RuntimeDirError):
    """There is no runtime directory: nobody has started anything here."""


def resolve(path: str | os.PathLike[str] | None = None, *, make: bool = True) -> Path:
    """The runtime directory, checked, and made with mode 0700 when it is missing.

    Without ``make`` a missing one raises RuntimeDirMissing: who only asks leaves nothing behind.

    ``path``, else COSMIX_RUNTIME_DIR, else XDG_RUNTIME_DIR/cosmix, else TMPDIR/cosmix-<uid>.
    Raises RuntimeDirError with the remedy: a symbolic link, not a directory, another owner, open
    to group or others, a socket path over 107 bytes, or a parent in which it cannot be made.
    """
    directory = locate(path)
    check_length(directory, f"set {VARIABLE} to a shorter directory")
    if make:
        _make(directory)
    elif not os.path.lexists(directory):
        raise RuntimeDirMissing(f"{directory} is not there: nothing has been started in it")
    check(directory)
    return directory


def locate(
    path: str | os.PathLike[str] | None = None, environment: Mapping[str, str] = os.environ
) -> Path:
    """Which directory it is, as an absolute path; nothing is made or checked on disk.

    Raises RuntimeDirError when COSMIX_RUNTIME_DIR is set but not an absolute path: a mistake in it
    must not silently mean another directory.
    """
    if path is not None:
        return Path(path).absolute()
    if VARIABLE in environment:
        return _absolute(environment[VARIABLE])
    xdg = environment.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(xdg):  # a relative one is to be ignored (XDG base directory rules)
        return Path(xdg) / "cosmix"
    return Path(environment.get("TMPDIR") or "/tmp") / f"cosmix-{os.geteuid()}"


def socket_path(directory: Path) -> Path:
    """The broker's socket in a runtime directory."""
    return directory / SOCKET_NAME


def check(directory: Path) -> None:
    """Raise RuntimeDirError unless ``directory`` is a real one, ours, and closed to others."""
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise RuntimeDirError(_cannot_open(directory, error)) from None
    try:
        status = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    if status.st_uid != os.geteuid():
        raise RuntimeDirError(
            f"{directory} belongs to another user; set {VARIABLE} to a directory of your own"
        )
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise RuntimeDirError(f"{directory} is open to other users; run: chmod 700 {directory}")


def check_shared(directory: Path, owners: Collection[int]) -> None:
    """Raise RuntimeDirError unless ``directory`` is a real one that only its owner can change.

    ``owners`` are the uids it may belong to. Others may look into it: what is there is for them.
    """
    try:
        status = os.lstat(directory)
    except FileNotFoundError:
        raise RuntimeDirMissing(f"{directory} is not there: no broker shares it") from None
    except OSError as error:
        raise RuntimeDirError(f"{directory} cannot be looked at ({error.strerror})") from None
    if not stat.S_ISDIR(status.st_mode):
        raise RuntimeDirError(f"{directory} is not a directory, or a link to one; name another")
    if status.st_uid not in owners:
        raise RuntimeDirError(f"{directory} belongs to a user that is not expected; name another")
    if stat.S_IMODE(status.st_mode) & 0o022:
        raise RuntimeDirError(
            f"{directory} can be changed by other users; its owner must run: chmod go-w {directory}"
        )
    check_length(directory)


def check_length(directory: Path, remedy: str = "name a shorter directory") -> None:
    """Raise RuntimeDirError when the path of a socket in it would be too long."""
    if len(os.fsencode(socket_path(directory))) > MAX_SOCKET_PATH:
        raise RuntimeDirError(
            f"{directory}: the socket's path would be over {MAX_SOCKET_PATH} bytes; {remedy}"
        )


def acquire(directory: Path) -> Lock:
    """The broker's lock on a runtime directory; hold it from before bind until after unbind.

    Raises RuntimeDirError when a live broker holds it (the message says its pid).
    """
    path = directory / LOCK_NAME
    try:
        return Lock(path)
    except LockHeld as held:
        owner = f"pid {held.pid}" if held.pid else "a broker that is just starting"
        raise RuntimeDirError(
            f"a broker already runs on {directory} ({owner});"
            f" use it, end it, or set {VARIABLE} to another directory"
        ) from None
    except OSError as error:
        raise RuntimeDirError(
            f"{path} cannot be opened ({error.strerror}); remove it and start again"
        ) from None


def remove_leftovers(directory: Path) -> None:
    """Remove the socket and lock of a broker that was killed; nothing while one lives."""
    try:
        lock = acquire(directory)
    except RuntimeDirError:
        return
    try:
        if stat.S_ISSOCK(os.lstat(socket_path(directory)).st_mode):
            socket_path(directory).unlink()
    except FileNotFoundError:
        pass
    finally:
        lock.release()


def broker_pid(directory: Path) -> int | None:
    """The pid of the live broker of a directory, 0 while it is just starting, None without one."""
    return lock_holder(directory / LOCK_NAME)


def open_broker(directory: Path) -> tuple[int, int] | None:
    """The live broker's pid and a pidfd for it, which the caller closes; None without one."""
    return open_holder(directory / LOCK_NAME)


def _absolute(value: str) -> Path:
    if not os.path.isabs(value):
        raise RuntimeDirError(f"{VARIABLE} must be an absolute path; correct it or unset it")
    return Path(value)


def _make(directory: Path) -> None:
    try:
        os.mkdir(directory, 0o700)
    except FileExistsError:
        return
    except OSError as error:
        raise RuntimeDirError(
            f"{directory} cannot be made ({error.strerror}); make its parent directory,"
            f" or set {VARIABLE} to a directory you can write to"
        ) from None


def _cannot_open(directory: Path, error: OSError) -> str:
    if directory.is_symlink():
        return f"{directory} is a symbolic link; replace it by a directory, or set {VARIABLE}"
    return (
        f"{directory} cannot be used as a directory ({error.strerror});"
        f" remove it or set {VARIABLE} to another one"
    )
