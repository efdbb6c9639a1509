"""One line for each call: when, which, how much, how it ended. Never what it said."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from brokerd.client import ErrorCode
from termnode.modelterm.limits import DEFAULTS, Limits
from termnode.modelterm.results import TermError

_FLAGS: Final = (
    os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
)
"""Without O_NONBLOCK a named pipe would be waited for, and everything with it."""


class CallLog:
    """Appends JSON lines to a file (0600); without a path it does nothing.

    A line has time (Unix ms), tool, sizes, duration_ms, outcome, and code of a refusal: no text, no
    keys, no screen, no command. Raises OSError when the file cannot be made, or is no plain file of
    this user's. Over its bound nothing more is written.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        limits: Limits = DEFAULTS,
    ) -> None:
        self._clock, self._wall = clock, wall
        self._most = limits.log_bytes
        self._file = None if path is None else _open(path)

    def add(
        self,
        tool: str,
        sizes: Mapping[str, int],
        duration_s: float,
        outcome: str = "ok",
        code: str | None = None,
    ) -> None:
        """One call that has ended. A disk that is full ends no call."""
        if self._file is None:
            return
        said: dict[str, object] = {
            "time": round(self._wall() * 1000),
            "tool": tool,
            "sizes": dict(sizes),
            "duration_ms": round(duration_s * 1000),
            "outcome": outcome,
        }
        if code is not None:
            said["code"] = code
        line = json.dumps(said, separators=(",", ":")).encode() + b"\n"
        try:
            if os.fstat(self._file).st_size + len(line) <= self._most:
                os.write(self._file, line)
        except OSError:
            return

    @contextmanager
    def call(self, tool: str, **sizes: int) -> Iterator[dict[str, int]]:
        """Note the call in the block, however it ends; sizes may be added to what it gives."""
        began = self._clock()
        outcome, code = "cancelled", None
        try:
            yield sizes
            outcome = "ok"
        except TermError as error:
            outcome, code = "refused", error.code
            raise
        except Exception:
            outcome, code = "failed", str(ErrorCode.UNAVAILABLE)
            raise
        finally:
            self.add(tool, sizes, self._clock() - began, outcome, code)

    def close(self) -> None:
        """Write no more; once more is no error."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()


def _open(path: Path) -> int:
    file = os.open(path, _FLAGS, 0o600)
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            raise PermissionError(0, "it is no plain file of yours: name another", str(path))
        os.fchmod(file, 0o600)
    except BaseException:
        os.close(file)
        raise
    return file
