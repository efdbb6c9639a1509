"""Where operations of the command line are found: a socket while one runs, then its result.

Only the connection that submitted an operation may ask for it, so a process of its own holds that
connection until the end (`exec_holder`).
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

KEPT_S: Final = 900.0
"""For which a result stays, after the end."""

FRESH_S: Final = 60.0
"""Younger sockets are left alone."""

MAX_LINE: Final = 4 * 1024 * 1024
"""Bytes of one message: a report has less than 256 KiB, which its escapes may multiply."""

_SOCKET, _RESULT = ".sock", ".json"


@dataclass(frozen=True, slots=True)
class OperationFiles:
    """The operations of the service ``name`` in a checked runtime directory."""

    runtime_dir: Path
    name: str

    @property
    def directory(self) -> Path:
        """Nobody else's."""
        return self.runtime_dir / f"{self.name}.operations"

    def listen(self, operation: int) -> socket.socket:
        """The socket of an operation that runs. Raises OSError."""
        self.directory.mkdir(mode=0o700, exist_ok=True)
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with self._reached(operation) as path:
            made.bind(path)
        made.listen(16)
        return made

    def connect(self, operation: int) -> socket.socket | None:
        """A connection to who holds the operation; None when nobody does."""
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with self._reached(operation) as path:
                made.connect(path)
        except OSError:
            made.close()
            return None
        return made

    def finish(self, operation: int, result: Mapping[str, Any]) -> None:
        """Keep the result in the place of the socket. Raises OSError."""
        draft = self.directory / f"{operation}.new"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            json.dump(result, file)
        draft.rename(self.directory / f"{operation}{_RESULT}")

    def unlisten(self, operation: int) -> None:
        """Nobody holds it any more."""
        with suppress(OSError):
            (self.directory / f"{operation}{_SOCKET}").unlink()

    def result(self, operation: int) -> dict[str, Any] | None:
        """What is kept; None when nothing is."""
        try:
            text = (self.directory / f"{operation}{_RESULT}").read_text("ascii")
        except OSError:
            return None
        found: dict[str, Any] = json.loads(text)
        return found

    def sweep(self) -> None:
        """Remove what is too old, and sockets that nobody holds any more."""
        with suppress(OSError):
            for entry in list(os.scandir(self.directory)):
                if self._is_over(entry):
                    with suppress(OSError):
                        os.unlink(entry)

    def _is_over(self, entry: os.DirEntry[str]) -> bool:
        stem, dot, ending = entry.name.partition(".")
        age = time.time() - entry.stat().st_mtime
        if f"{dot}{ending}" != _SOCKET:
            return age > KEPT_S
        if age < FRESH_S:
            return False  # it may not be listened at yet
        held = self.connect(int(stem)) if stem.isdigit() else None
        if held is None:
            return True
        held.close()
        return False

    @contextmanager
    def _reached(self, operation: int) -> Iterator[str]:
        """The socket's path in few characters: a socket's address has room for 107."""
        descriptor = os.open(self.directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield f"/proc/self/fd/{descriptor}/{operation}{_SOCKET}"
        finally:
            os.close(descriptor)


def exchange(made: socket.socket, question: Mapping[str, Any]) -> dict[str, Any] | None:
    """One question and its answer; None when the other end has ended. Closes the socket."""
    with closing(made), suppress(OSError):
        made.sendall(line(question))
        return read_line(made)
    return None


def line(message: Mapping[str, Any]) -> bytes:
    """A message as it is sent."""
    return json.dumps(message).encode() + b"\n"


def read_line(made: socket.socket) -> dict[str, Any] | None:
    """The next message; None when there is none. Raises OSError."""
    with made.makefile("rb") as file:
        raw = file.readline(MAX_LINE)
    if not raw.endswith(b"\n"):
        return None
    found: dict[str, Any] = json.loads(raw)
    return found
