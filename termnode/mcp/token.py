"""The bearer token of one HTTP server: in a file of the user's own, for as long as it listens."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from termnode.mcp.limits import TOKEN_BYTES


@contextmanager
def token_file(directory: Path, port: int) -> Iterator[str]:
    """Make the token and its file (0600), and remove the file in the end. Raises OSError.

    Whoever has the port has the name: a file that is there already is of a server that was killed.
    """
    path = directory / f"mcp-{port}.token"
    token = secrets.token_hex(TOKEN_BYTES)
    with suppress(FileNotFoundError):
        path.unlink()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    made = os.open(path, flags, 0o600)
    try:
        mine = os.fstat(made).st_ino
        try:
            os.fchmod(made, 0o600)
            os.write(made, token.encode() + b"\n")
        finally:
            os.close(made)
        yield token
    finally:
        with suppress(OSError):
            if path.lstat().st_ino == mine:
                path.unlink()
