"""The launch descriptor: how a pane's grant and key get to its process, and to no other.

A sealed file in memory, handed over as a descriptor whose number stands in COSMIX_SESSION_FD. It is
read once; what is wrong with it leaves no descriptor of that name open.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from collections.abc import MutableMapping
from typing import Final

from brokerd.client import parse_u64
from termnode.paneshell.bundle import (
    MAX_SIZE,
    MIN_SIZE,
    BadDescriptor,
    LaunchBundle,
    pack,
    unpack,
)

__all__ = ["BadDescriptor", "LaunchBundle", "close_all", "read", "take", "write"]

MARKER: Final = "COSMIX_SESSION_FD"
NAME: Final = "cosmix-session"
FIRST_FD: Final = 3
"""Those below are the standard ones, never a launch descriptor."""

_CONTENT_SEALS: Final = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
_ALL_SEALS: Final = _CONTENT_SEALS | fcntl.F_SEAL_SEAL
_LINK: Final = f"/memfd:{NAME} (deleted)"
_DESCRIPTORS: Final = "/proc/self/fd"
_MAX_FD: Final = 2**31 - 1


def write(bundle: LaunchBundle) -> int:
    """A sealed descriptor, closed on exec, that says this.

    Raises BadDescriptor for what ``read`` would not take, OSError.
    """
    return _sealed(pack(bundle))


def take(environment: MutableMapping[str, str]) -> int | None:
    """The descriptor that the marker names, from now on closed on exec; None without a marker.

    The marker is removed first, so that nothing that is started later sees it. Raises
    BadDescriptor, and no launch descriptor stays open then.
    """
    marker = environment.pop(MARKER, None)
    if marker is None:
        return None
    with _all_closed_on_failure():
        number = parse_u64(marker)
        if number is None or not FIRST_FD <= number <= _MAX_FD:
            raise BadDescriptor(f"{MARKER} is not the number of a descriptor")
        _close_on_exec(number)
    return number


def read(fd: int) -> LaunchBundle:
    """The launch that the descriptor says; the descriptor is closed.

    Raises BadDescriptor, and no launch descriptor stays open then.
    """
    with _all_closed_on_failure():
        bundle = unpack(_content(fd))
    os.close(fd)
    return bundle


def close_all() -> None:
    """Close every descriptor, from 3 on, that is a launch descriptor."""
    for fd in map(int, os.listdir(_DESCRIPTORS)):
        if fd >= FIRST_FD and _is_launch(fd):
            with contextlib.suppress(OSError):
                os.close(fd)


def _is_launch(fd: int) -> bool:
    try:
        return os.readlink(f"{_DESCRIPTORS}/{fd}") == _LINK
    except OSError:  # the one that listed the directory is closed by now
        return False


class _all_closed_on_failure(contextlib.AbstractContextManager[None]):  # noqa: N801 - used as one
    """Leaves no launch descriptor behind when its body fails, whatever the failure."""

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        if failed is not None:
            close_all()


def _sealed(content: bytes) -> int:
    fd = os.memfd_create(NAME, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        if os.write(fd, content) != len(content):
            raise OSError("the launch descriptor was not written whole")
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _CONTENT_SEALS)
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SEAL)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _close_on_exec(fd: int) -> None:
    try:
        os.set_inheritable(fd, False)
    except OSError:
        raise BadDescriptor("the launch descriptor is not open") from None


def _content(fd: int) -> bytes:
    """The bytes of a descriptor that nobody can change any more."""
    if fd < FIRST_FD:
        raise BadDescriptor("a standard descriptor is no launch descriptor")
    _close_on_exec(fd)
    if not _is_launch(fd):
        raise BadDescriptor("the descriptor is no launch descriptor")
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink:
        raise BadDescriptor("the launch descriptor has a place in a file system")
    if _seals(fd) & _ALL_SEALS != _ALL_SEALS:
        raise BadDescriptor("the launch descriptor is not sealed")
    if not MIN_SIZE <= status.st_size <= MAX_SIZE:
        raise BadDescriptor("the launch descriptor has a wrong size")
    # At a place, not the current one: that is shared with whoever else holds the file.
    return os.pread(fd, status.st_size, 0)


def _seals(fd: int) -> int:
    try:
        return fcntl.fcntl(fd, fcntl.F_GET_SEALS)
    except OSError:
        return 0
