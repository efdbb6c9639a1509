"""Who listens to a terminal's raw output besides its screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

Tap = Callable[[bytes], None]

TAIL: Final = 4_096
"""Bytes of the newest output that are kept, for who begins in the middle of a sequence."""


class Taps(set[Tap]):
    """Called with each slice of output, in the step that fed it, after the screen took it in.

    Called with ``b""`` when the size has changed, the program has ended, or the terminal is being
    closed (its engine can still be read in that step). A tap must be quick and must not raise.
    """

    def __init__(self) -> None:
        super().__init__()
        self.recent = b""
        """The end of the newest slice, at most TAIL bytes."""

    def tell(self, data: bytes) -> None:
        """Pass output on."""
        self.recent = data[-TAIL:]
        if self:
            self._call(data)

    def nudge(self) -> None:
        """Something besides output has changed."""
        if self:
            self._call(b"")

    def _call(self, data: bytes) -> None:
        for tap in tuple(self):
            tap(data)
