"""The sidecar's hold on the control directory: the pipe that it reads, requests and claims."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from termnode.paneshell.integration import Request, take_claim, write_request
from termnode.paneshell.integration.directory import open_control
from termnode.paneshell.prompt.records import PromptRecord, RecordStream

REQUEST: Final = "req"
CLAIMS_KEPT: Final = 256
"""Claims that stay: a shell that read a request long ago must still find it taken."""

_READ: Final = 65_536


class ControlDir:
    """Owns its descriptor of the pipe. One process reads it: a predecessor must have ended."""

    def __init__(self, path: str) -> None:
        """Raises OSError when the pipe is not there."""
        self._path = Path(path)
        self.descriptor = open_control(self._path)
        self._stream = RecordStream()
        self._claims: deque[str] = deque()

    @property
    def malformed(self) -> int:
        """Records of the shell that were none."""
        return self._stream.malformed

    def read(self) -> Iterator[PromptRecord]:
        """All that the shell has told until now; never waits."""
        while True:
            try:
                data = os.read(self.descriptor, _READ)
            except OSError:  # nothing more now
                return
            yield from self._stream.feed(data)

    def put(self, request: Request) -> None:
        """Make it the next request. Raises OSError."""
        write_request(self._path, request)

    def claim(self, request_id: str) -> bool:
        """Whether the claim was to be had; when nobody can say, it was not."""
        try:
            return take_claim(self._path, request_id)
        except OSError:
            return False

    def withdraw(self, request_id: str) -> None:
        """Let no key press find the request again; its claim is removed once it is old."""
        with suppress(OSError):
            (self._path / REQUEST).unlink()
        self._claims.append(request_id)
        while len(self._claims) > CLAIMS_KEPT:
            with suppress(OSError):
                (self._path / f"claim.{self._claims.popleft()}").unlink()

    def retire(self) -> None:
        """Let nothing run that a predecessor asked for."""
        with suppress(OSError, ValueError):
            left = (self._path / REQUEST).read_bytes().split(b"\0")[0].decode("ascii")
            if left.isalnum():
                self.claim(left)
        with suppress(OSError):
            (self._path / REQUEST).unlink()

    def close(self) -> None:
        """Let go of the pipe. Harmless when repeated."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
