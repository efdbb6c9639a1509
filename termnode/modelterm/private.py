"""Directories of one set under /tmp, and those that a killed one left behind.

A set holds a lock in each of its directories for as long as it lives; the kernel lets go of it
however it ends. What nobody holds is nobody's, and the next set removes it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PREFIX: Final = "tnm-"
"""Short: a socket's path has 107 bytes."""

LOCK: Final = "lock"


@dataclass(frozen=True, slots=True)
class PrivateDirectory:
    """One of ours, mode 0700; ``held`` is the descriptor of its lock."""

    path: Path
    held: int

    def remove(self) -> None:
        """Remove it, and let go of its lock."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self.held)


def make_private(place: Path) -> PrivateDirectory:
    """A new one. Raises OSError."""
    path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
    begun = path / f".{LOCK}"
    held = os.open(begun, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    fcntl.flock(held, fcntl.LOCK_EX)
    begun.rename(path / LOCK)  # who finds it there finds it held
    return PrivateDirectory(path, held)


def abandoned(place: Path) -> Iterator[PrivateDirectory]:
    """Those of this user that no set holds any more; each is held by the caller from then on."""
    with suppress(OSError), os.scandir(place) as entries:
        names = [entry.name for entry in entries if entry.name.startswith(PREFIX)]
        for name in sorted(names):
            held = _take(place / name)
            if held is not None:
                yield PrivateDirectory(place / name, held)


def _take(path: Path) -> int | None:
    """Its lock, when it is ours and free."""
    try:
        found = os.lstat(path)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            return None
        held = os.open(path / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        return None
    return held
