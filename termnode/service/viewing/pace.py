"""How fast a view is told, and whether it takes what it is told. No I/O, no clock of its own."""

from __future__ import annotations

from typing import Final

FRAME_S: Final = 1 / 60
"""A view is told of changes at most so often; of the first one after a while at once."""

SAVED: Final = 4.0
"""Batches that a view may be told beyond that after a while in which it was told less. One of them
is kept for the answer to a key: it need not wait for its turn while another pane floods."""

UNDER_WAY: Final = 2
"""Batches that a view has not acknowledged yet."""

READ_WITHIN_S: Final = 10.0
"""A view that acknowledges nothing for so long is stuck."""


class Pace:
    """Of one view. Times are in monotonic seconds; batches and acknowledgements count messages."""

    def __init__(self) -> None:
        self.under_way: list[tuple[int, float]] = []
        """Of each batch: how many messages were sent with it in all, and when."""
        self._sent = 0
        self._last = float("-inf")
        self._saved = SAVED

    def told(self, messages: int, now: float) -> None:
        """A batch of so many messages is sent."""
        self._saved = self._allowed(now) - 1.0
        self._last = now
        self._sent += messages
        self.under_way.append((self._sent, now))

    def wait(self, now: float, *, urgent: bool) -> float | None:
        """Seconds until it may be told something; None when it must acknowledge first.

        ``urgent``: there is an answer to what the person did.
        """
        if len(self.under_way) >= UNDER_WAY:
            return None
        allowed = self._allowed(now)
        if urgent:
            return max(0.0, (1.0 - allowed) * FRAME_S)
        return max(self._last + FRAME_S - now, (2.0 - allowed) * FRAME_S, 0.0)

    def ack(self, n: int) -> bool:
        """The view has taken in so many messages; False when it was not sent so many."""
        self.under_way = [batch for batch in self.under_way if batch[0] > n]
        return n <= self._sent

    def stuck(self, now: float) -> bool:
        """Whether it has acknowledged nothing for too long."""
        return bool(self.under_way) and now - self.under_way[0][1] >= READ_WITHIN_S

    def excuse(self, now: float) -> None:
        """It could not read until now, and has its time anew."""
        self.under_way = [(sent, now) for sent, _ in self.under_way]

    def _allowed(self, now: float) -> float:
        """How many batches it may be told now."""
        return min(SAVED, self._saved + (now - self._last) / FRAME_S)
