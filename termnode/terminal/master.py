"""The master end of a pseudo-terminal, without blocking and without trust in readiness."""

from __future__ import annotations

import os
from typing import Final

import trio

END: Final = b""
"""What ``read`` returns at the end of file."""


class Master:
    """Owns one descriptor. Its blocking flag is shared with the pane host's duplicate only."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self.fd = fd
        """The descriptor; -1 once closed."""

    @property
    def closed(self) -> bool:
        """Whether ``close`` was called."""
        return self.fd < 0

    def read(self, limit: int) -> bytes | None:
        """At most ``limit`` bytes; None when there are none now; END at the end of file.

        Linux says EIO, not end of file, when the last slave is closed.
        """
        try:
            return os.read(self.fd, limit)
        except BlockingIOError:
            return None
        except OSError:
            return END

    def write(self, data: bytes | memoryview) -> int | None:
        """How many bytes were taken; None when there is no room; OSError when the PTY is gone."""
        try:
            return os.write(self.fd, data)
        except BlockingIOError:
            return None

    async def wait_readable(self) -> None:
        """Wait until a read may give something."""
        await trio.lowlevel.wait_readable(self.fd)

    async def wait_writable(self) -> None:
        """Wait until a write may take something."""
        await trio.lowlevel.wait_writable(self.fd)

    def close(self) -> None:
        """Close the descriptor, once."""
        if not self.closed:
            trio.lowlevel.notify_closing(self.fd)
            os.close(self.fd)
            self.fd = -1
