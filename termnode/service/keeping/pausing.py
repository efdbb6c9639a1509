"""Pauses before a process that ended is started again: longer each time, unless it had lived."""

from __future__ import annotations

from typing import Final

SETTLED_S: Final = 5.0
"""One that lived this long did not fail at its start: the next one need not wait."""


class Pauses:
    """From ``first`` to ``longest`` seconds, doubling."""

    def __init__(self, first: float, longest: float) -> None:
        self._first: Final = first
        self._longest: Final = longest
        self.now = first
        """The pause that is due now."""

    def after(self, lived: float) -> float:
        """The pause after one that lived so many seconds."""
        self.now = self._first if lived > SETTLED_S else min(2 * self.now, self._longest)
        return self.now
