"""When something is tried again: grants of a child, and its pane shell. Times are in seconds."""

from __future__ import annotations

from collections import deque
from typing import Final

MINT_FLOOR_S: Final = 60.0
"""From one grant of a child to the next, unless the broker or the pane shell is a new one."""

AGAIN_AFTER_S: Final = (120.0, 240.0, 480.0)
"""A grant that nobody used is made again after these times, from one grant to the next."""

FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 60.0

RESTARTS: Final = 5
RESTARTS_WITHIN_S: Final = 300.0
"""A pane shell that ends more often than that is given up."""


class Regrants:
    """When a child that had enrolled is granted again with the same key.

    At once when its record is lost (never sooner than the floor after the grant before), then, as
    long as it does not enrol, after each of AGAIN_AFTER_S; after that not any more.
    """

    def __init__(self) -> None:
        self._last: float | None = None
        self._tries = 0

    def minted(self, now: float) -> None:
        """A grant was made."""
        self._last = now
        self._tries += 1

    def arm(self) -> None:
        """Count anew: the child has enrolled, or what happened to it may have been missed."""
        self._tries = 0

    def forget(self) -> None:
        """The broker, or the pane shell, is a new one: nothing was tried with it."""
        self._last, self._tries = None, 0

    @property
    def floor(self) -> float:
        """No grant is to be made sooner."""
        return 0.0 if self._last is None else self._last + MINT_FLOOR_S

    def due(self, now: float) -> float | None:
        """When the next grant is to be made; None: not any more."""
        if self._last is None or self._tries == 0:
            return max(now, self.floor)
        if self._tries > len(AGAIN_AFTER_S):
            return None
        return max(now, self._last + AGAIN_AFTER_S[self._tries - 1])


class Pauses:
    """From one failure to the next try: a second, and twice as long each time, up to a minute."""

    def __init__(self) -> None:
        self._next = FIRST_PAUSE_S

    def next(self) -> float:
        """How long to wait after one more failure."""
        pause, self._next = self._next, min(2 * self._next, LONGEST_PAUSE_S)
        return pause

    def clear(self) -> None:
        """It worked."""
        self._next = FIRST_PAUSE_S


class Restarts:
    """When a pane shell that ended is started again."""

    def __init__(self) -> None:
        self._ends: deque[float] = deque(maxlen=RESTARTS)

    def after_end(self, now: float) -> float | None:
        """When to start it again; None once it has ended too often of late."""
        while self._ends and self._ends[0] <= now - RESTARTS_WITHIN_S:
            self._ends.popleft()
        if len(self._ends) == RESTARTS:
            return None
        pause = FIRST_PAUSE_S * float(1 << len(self._ends))
        self._ends.append(now)
        return now + min(pause, LONGEST_PAUSE_S)
