"""Open or strict: a small file in the runtime directory, read at every request.

Whatever is odd about the file means strict, so that no accident can open what a person closed.
The only module of this package that does I/O.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final

VARIABLE: Final = "COSMIX_MESH_OPEN"
"""Gives the value at start: strict when it is exactly 0 (the seed's first paragraph)."""

_MODE: Final = 0o600
_MAX_BYTES: Final = 16
_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
"""Not blocking: a FIFO in the file's place must not stop the service."""


class Posture(StrEnum):
    """``open`` serves every verb to every stamped caller; ``strict`` only INFO and HELP."""

    OPEN = "open"
    STRICT = "strict"


def start_value(environ: Mapping[str, str]) -> Posture:
    """The posture that the environment asks for."""
    return Posture.STRICT if environ.get(VARIABLE) == "0" else Posture.OPEN


def file_path(runtime_dir: Path, service: str) -> Path:
    """Where the posture of the service with this name is kept."""
    return runtime_dir / f"{service}.posture"


def read(path: Path) -> Posture:
    """The posture now. Never raises: strict for a file that is missing or not as `write` makes it.

    That is: a symlink, not a regular file, another owner, other permissions, a second link, or
    other content.
    """
    try:
        descriptor = os.open(path, _FLAGS)
    except (OSError, ValueError):
        return Posture.STRICT
    try:
        return _read(descriptor)
    except (OSError, ValueError):
        return Posture.STRICT
    finally:
        os.close(descriptor)


def write(path: Path, posture: Posture) -> None:
    """Set the posture, at once or not at all. Raises OSError."""
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), _MODE)
            file.write(f"{posture}\n".encode())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _read(descriptor: int) -> Posture:
    status = os.fstat(descriptor)
    as_written = (
        stat.S_ISREG(status.st_mode)
        and stat.S_IMODE(status.st_mode) == _MODE
        and status.st_uid == os.geteuid()
        and status.st_nlink == 1
        and status.st_size <= _MAX_BYTES
    )
    if not as_written:
        return Posture.STRICT
    return Posture(os.read(descriptor, _MAX_BYTES + 1).decode("ascii").removesuffix("\n"))
