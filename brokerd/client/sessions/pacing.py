"""How long to wait before trying again, and when the next renewal is due. No I/O, no clock."""

from __future__ import annotations

from typing import Final

FIRST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 5.0
"""Seconds between attempts to attach; doubled from one to the next."""


class Backoff:
    """Pauses in seconds, each twice the last."""

    def __init__(self) -> None:
        self._next = FIRST_PAUSE

    def pause(self) -> float:
        """The pause before the next attempt."""
        pause, self._next = self._next, min(2 * self._next, LONGEST_PAUSE)
        return pause

    def reset(self) -> None:
        """It went well for a while."""
        self._next = FIRST_PAUSE


def next_due(due: float, now: float, every: float) -> float:
    """The first of ``due``, ``due + every``, ... after ``now``: missed ones are skipped."""
    return due if due > now else due + every * ((now - due) // every + 1)
