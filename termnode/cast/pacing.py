"""When each event of a recording is to be shown. Sans-IO."""

from __future__ import annotations


class Pace:
    """Turns recorded times into those of a playback. All in seconds.

    ``speed``: twice as fast with 2. ``idle_limit``: what a pause is shortened to, in recorded time.
    """

    def __init__(self, speed: float, idle_limit: float | None) -> None:
        self._speed = speed
        self._idle_limit = idle_limit
        self._recorded = 0.0
        self._played = 0.0

    def due(self, at: float) -> float:
        """When what was recorded ``at`` is due, after the beginning; ask in order."""
        gap = max(at - self._recorded, 0.0)
        self._recorded = max(at, self._recorded)
        self._played += (gap if self._idle_limit is None else min(gap, self._idle_limit)) / (
            self._speed
        )
        return self._played
