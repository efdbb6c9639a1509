"""The file of a recording, written in whole lines."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from termnode.cast.reading import MAX_LINE, NotACast

MAX_HELD: Final = 256 * 1024
"""Characters that wait for `flush` at most."""


class CastFile:
    """A new file of which nobody else can read. Raises FileExistsError, OSError."""

    def __init__(self, path: str) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        self._file = os.fdopen(os.open(path, flags, 0o600), "wb", buffering=0)
        self._lines: list[str] = []
        self._held = 0

    def write(self, line: str) -> None:
        """Keep a line until the next flush, or write all when it is much."""
        self._lines.append(line)
        self._held += len(line)
        if self._held > MAX_HELD:
            self.flush()

    def flush(self) -> None:
        """Write what is kept."""
        data = memoryview("".join(self._lines).encode())
        self._lines.clear()
        self._held = 0
        while data:
            data = data[self._file.write(data) or 0 :]

    def close(self) -> None:
        """Flush, and close the file even if that fails."""
        try:
            self.flush()
        finally:
            self._file.close()


def read_lines(path: str) -> Iterator[str]:
    """The lines of a recording. Raises OSError, and NotACast for what is no text of lines."""
    with Path(path).open(encoding="utf-8", newline="\n") as file:
        try:
            while line := file.readline(MAX_LINE):
                if len(line) == MAX_LINE:
                    raise NotACast("this is no recording (asciicast): it has too long a line")
                yield line
        except UnicodeDecodeError:
            raise NotACast("this is no recording (asciicast): it is not UTF-8") from None
