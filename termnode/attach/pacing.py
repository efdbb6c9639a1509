"""When the next frame may be drawn. No I/O; times are in monotonic seconds."""

from __future__ import annotations

from typing import Final

FRAME_S: Final = 1 / 60
"""Between frames, on average: no terminal shows more."""

EARLY_S: Final = FRAME_S
"""How much earlier than that one may come: the service tells as often, and not on our beat."""


class Pacing:
    """Lets the first change through at once, and of many at most 60 a second."""

    def __init__(self) -> None:
        self._due = 0.0

    def wait(self, now: float) -> float:
        """Seconds until a frame may be drawn; 0 when it may be now."""
        return max(0.0, self._due - EARLY_S - now)

    def drawn(self, now: float) -> None:
        """A frame was drawn."""
        self._due = max(self._due, now) + FRAME_S
