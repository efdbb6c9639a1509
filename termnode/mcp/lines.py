"""Messages of the protocol on a byte stream: one line of JSON each, of bounded length. No I/O."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from termnode.mcp.limits import LINE_BYTES

TOO_LONG: Final = None
"""Stands for a line that was too long; nothing of it is kept."""


class Lines:
    """Cuts what was read into lines. A longer one than ``most`` bytes is given as `TOO_LONG`."""

    def __init__(self, most: int = LINE_BYTES) -> None:
        self._most = most
        self._kept = bytearray()
        self._dropping = False

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """The lines that are whole now, without their ends; empty ones are left out."""
        begin = 0
        while (end := data.find(b"\n", begin)) >= 0:
            yield from self._line(data[begin:end])
            begin = end + 1
        self._keep(data[begin:])

    def end(self) -> Iterator[bytes | None]:
        """What stands there without a line end when the input is over."""
        yield from self._line(b"")

    def _line(self, rest: bytes) -> Iterator[bytes | None]:
        self._keep(rest)
        line, dropped = bytes(self._kept).strip(), self._dropping
        self._kept.clear()
        self._dropping = False
        if dropped:
            yield TOO_LONG
        elif line:
            yield line

    def _keep(self, data: bytes) -> None:
        if self._dropping or len(self._kept) + len(data) > self._most:
            self._kept.clear()
            self._dropping = True
        else:
            self._kept += data
