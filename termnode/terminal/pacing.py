"""How much program output one pane may feed to its engine before others get their turn.

The service is one thread: while an engine is fed, no verb is answered. A turn of all flooding panes
together takes about ``TURN`` seconds; an engine that needs more than that for the smallest slice
makes its pane sleep for what it took too much. Sans-IO: times are arguments.
"""

from __future__ import annotations

from typing import Final

TURN: Final = 0.0005
"""Seconds of reading and feeding per scheduler turn, shared by all panes that flood."""

MIN_SLICE: Final = 1_024
MAX_SLICE: Final = 64 * 1024
"""Bytes of one read. The smallest keeps even an engine of 1 MB/s within a turn."""

FIRST_SLICE: Final = 16 * 1024

MAX_SLEEP: Final = 0.05
"""Seconds a pane sleeps at most after a slice that took too long."""


class FloodShare:
    """Counts the panes that flood right now. All terminals of a service share one."""

    def __init__(self) -> None:
        self.active = 0

    @property
    def budget(self) -> float:
        """Seconds that one flooding pane may feed per turn."""
        return TURN / max(1, self.active)


class Pacer:
    """The slice size of one pane, from how long its engine took for the slices before."""

    def __init__(self, share: FloodShare) -> None:
        self._share = share
        self._flooding = False
        self.slice = FIRST_SLICE
        """Bytes to read next, MIN_SLICE to MAX_SLICE."""

    def fed(self, count: int, seconds: float) -> None:
        """Note that ``count`` bytes took ``seconds``; adapts the slice to the budget."""
        if count < MIN_SLICE:
            return  # too little to tell the engine's speed from the noise
        fitting = int(count * self._share.budget / max(seconds, 1e-9))
        # Halfway only: one slow turn (another program had the processor) must not shrink it all.
        self.slice = max(MIN_SLICE, min(MAX_SLICE, (self.slice + fitting) // 2))

    def turn_over(self, used: float) -> bool:
        """Whether the turn of this pane is over after ``used`` seconds of feeding."""
        return used >= self._share.budget

    def flooding(self, value: bool) -> None:
        """Tell whether the pane has more output than fits in a turn."""
        if value != self._flooding:
            self._flooding = value
            self._share.active += 1 if value else -1

    def rest(self, used: float) -> float:
        """Seconds to sleep after a turn of ``used`` seconds: what was over twice the budget."""
        return min(MAX_SLEEP, max(0.0, used - 2 * self._share.budget))
