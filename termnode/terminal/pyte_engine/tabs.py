"""Tab stops: every eight columns until a program sets its own."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from typing import Final

from termnode.terminal.engine import MAX_COLS

EVERY: Final = 8


class TabStops:
    """Finds the next and the previous stop in logarithmic time, so floods of tabs cost little.

    Stops by rule cover every width, so a wider screen has them too; once one is set or cleared,
    the stops are the list of those left.
    """

    def __init__(self) -> None:
        self._stops: list[int] | None = None

    def reset(self) -> None:
        """Back to a stop every eight columns."""
        self._stops = None

    def set(self, x: int) -> None:
        """Set a stop at column ``x``."""
        stops = self._own()
        at = bisect_left(stops, x)
        if at == len(stops) or stops[at] != x:
            insort(stops, x)

    def clear(self, x: int) -> None:
        """Clear the stop at column ``x``, if there is one."""
        stops = self._own()
        at = bisect_left(stops, x)
        if at < len(stops) and stops[at] == x:
            del stops[at]

    def clear_all(self) -> None:
        """Leave no stop: a tab then goes to the last column."""
        self._stops = []

    def after(self, x: int, count: int, last: int) -> int:
        """The column ``count`` stops to the right of ``x``, at most ``last``."""
        if self._stops is None:
            return min((x // EVERY + count) * EVERY, last)
        at = bisect_right(self._stops, x) + count - 1
        return min(self._stops[at], last) if at < len(self._stops) else last

    def before(self, x: int, count: int) -> int:
        """The column ``count`` stops to the left of ``x``, or the first."""
        if self._stops is None:
            return max(((x + EVERY - 1) // EVERY - count) * EVERY, 0)
        at = bisect_left(self._stops, x) - count
        return self._stops[at] if at >= 0 else 0

    def _own(self) -> list[int]:
        if self._stops is None:
            self._stops = list(range(EVERY, MAX_COLS, EVERY))
        return self._stops
