"""Waits for an operation, and prints what a command writes as its holder passes it on."""

from __future__ import annotations

import json
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from termnode.cli.exec_asking import cancel, outcome
from termnode.cli.exec_files import OperationFiles, line
from termnode.cli.exec_live import Live, Said
from termnode.cli.exec_words import note

CHUNK: Final = 65_536
"""Bytes read at a time."""

SOON_S: Final = 0.001
"""The shortest wait."""


class Following:
    """One operation, from now to its end; it can be interrupted, and gone on with.

    ``timeout`` is in seconds from now, None for as long as it takes. With ``live`` it is a command,
    of which is printed what it writes.
    """

    def __init__(
        self, files: OperationFiles, operation: int, timeout: float | None, *, live: bool
    ) -> None:
        self._files = files
        self._operation = operation
        self._end = None if timeout is None else time.monotonic() + timeout
        self._live = Live()
        self._buffer = b""
        self._front = files.connect(operation) if live else None
        if self._front is not None:
            with suppress(OSError):
                self._front.sendall(line({"do": "follow"}))

    def told(self) -> dict[str, Any]:
        """Where it stands, once it has ended or the time is over.

        Raises CommandError when nobody knows, KeyboardInterrupt.
        """
        while self._front is not None and self._left() != 0:
            message = self._next(self._front)
            if message is not None and "text" in message:
                say(self._live.piece(message["text"], message["lost"], time.monotonic()))
            elif message is not None:
                return message
            else:
                say(self._live.late(time.monotonic()))
        return outcome(self._files, self._operation, self._left())

    def cancel(self) -> dict[str, Any]:
        """What was done about it. Raises CommandError when nobody knows it, KeyboardInterrupt."""
        return cancel(self._files, self._operation)

    def rest(self, told: Mapping[str, Any]) -> None:
        """Print what is not yet printed of one that has ended."""
        output = told["result"].get("output")
        say(self._live.end(output, complete=told.get("complete", False)))

    def close(self) -> None:
        """Hear no more."""
        if self._front is not None:
            self._front.close()
            self._front = None

    def _next(self, front: socket.socket) -> dict[str, Any] | None:
        """The next message; None when none has come in time, or nobody is there any more."""
        while b"\n" not in self._buffer:
            front.settimeout(self._patience())
            try:
                more = front.recv(CHUNK)
            except TimeoutError:
                return None
            except OSError:
                more = b""
            if not more:
                self.close()
                return None
            self._buffer += more
        raw, _, self._buffer = self._buffer.partition(b"\n")
        found: dict[str, Any] = json.loads(raw)
        return found

    def _patience(self) -> float | None:
        """Never 0, which would mean something else."""
        waits = (self._left(), self._live.wait(time.monotonic()))
        known = [max(SOON_S, each) for each in waits if each is not None]
        return min(known, default=None)

    def _left(self) -> float | None:
        return None if self._end is None else max(0.0, self._end - time.monotonic())


def say(words: list[Said]) -> None:
    """Print it now."""
    for each in words:
        if each.note:
            note(each.words)
        else:
            sys.stdout.write(each.words)
    sys.stdout.flush()
