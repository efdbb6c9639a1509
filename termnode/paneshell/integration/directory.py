"""The directory that one shell, its sidecar and Term share."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

CONTROL: Final = "ctl"
NONCE: Final = "nonce"
PIPE_BYTES: Final = 1 << 20
"""What the shell can tell before anybody reads: a full pipe would stop it at its prompt."""


@dataclass(slots=True)
class ShellDir:
    """A directory of mode 0700 with the control pipe, which it holds open, and the nonce.

    Whoever made it calls `close` once the shell has ended.
    """

    path: Path
    nonce: str
    """16 hex digits: a mark with it in the output is the shell's own word."""
    control: int
    """Descriptor of the pipe, open for both ways, so that a writer never waits for a reader."""

    @classmethod
    def make(cls, parent: Path) -> Self:
        """A new one below ``parent``, which must be a directory. Raises OSError."""
        path = Path(tempfile.mkdtemp(prefix="", dir=parent))
        try:
            return cls._fill(path)
        except OSError:
            shutil.rmtree(path, ignore_errors=True)
            raise

    @classmethod
    def _fill(cls, path: Path) -> Self:
        nonce = secrets.token_hex(8)
        descriptor = os.open(
            path / NONCE, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600
        )
        with os.fdopen(descriptor, "wb") as file:
            file.write(nonce.encode() + b"\0")
        os.mkfifo(path / CONTROL, 0o600)
        return cls(path, nonce, open_control(path))

    def close(self) -> None:
        """Remove it all. Harmless when repeated."""
        if self.control >= 0:
            os.close(self.control)
            self.control = -1
        shutil.rmtree(self.path, ignore_errors=True)


def open_control(path: Path) -> int:
    """The control pipe in directory ``path``, without blocking, both ways, as large as it may be.

    Raises OSError when it is missing.
    """
    control = os.open(path / CONTROL, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    with contextlib.suppress(OSError):  # more than this user may have: the usual 64 KiB must do
        fcntl.fcntl(control, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    return control
