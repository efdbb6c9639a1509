"""When the lines above the screen changed: those in history, and those no longer there.

Lines that went by together share one stamp, so runs of neighbours are kept, not lines.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from termnode.terminal.screen_log.marks import Marks, whole

MAX_RUNS: Final = 8_192
"""Beyond, pairs of the older runs are merged, and count as the newer of the two."""

MAX_PARTLY: Final = 4_096
"""Lines of which only a part is as new as the line; beyond, the oldest count as new as a whole."""


class Past:
    """Lines ``begin`` to before ``end``."""

    def __init__(self, begin: int) -> None:
        self.begin: Final = begin
        self.end = begin
        self._starts: list[int] = []
        self._stamps: list[int] = []
        self._peaks: list[int] = []
        """The newest stamp of each run and all before it: where to begin to look."""
        self._partly: dict[int, Marks] = {}

    def extend(self, count: int, stamp: int) -> None:
        """``count`` more lines, all new at ``stamp``."""
        if count <= 0:
            return
        if not self._stamps or self._stamps[-1] != stamp:
            self._push(self.end, stamp)
            if len(self._starts) > MAX_RUNS:
                self._merge()
        self.end += count

    def add(self, stamp: int, marks: Marks) -> None:
        """One more line that changed last at ``stamp``, its characters as ``marks`` say."""
        if marks != whole(stamp):
            self._partly[self.end] = marks
            if len(self._partly) > MAX_PARTLY:
                del self._partly[next(iter(self._partly))]
        self.extend(1, stamp)

    def _push(self, start: int, stamp: int) -> None:
        self._starts.append(start)
        self._stamps.append(stamp)
        self._peaks.append(max([stamp, *self._peaks[-1:]]))

    def _merge(self) -> None:
        """Halve the number of the older runs."""
        runs = list(zip(self._starts, self._stamps, strict=True))
        half = len(runs) // 2 & ~1
        older = [(runs[n][0], max(runs[n][1], runs[n + 1][1])) for n in range(0, half, 2)]
        self._starts, self._stamps, self._peaks = [], [], []
        for start, stamp in older + runs[half:]:
            self._push(start, stamp)

    def cut(self, end: int) -> None:
        """Forget line ``end`` and those after it."""
        if end >= self.end:
            return
        self.end = min(self.end, max(end, self.begin))
        while self._starts and self._starts[-1] >= self.end:
            self._starts.pop()
            self._stamps.pop()
            self._peaks.pop()
        for line in [line for line in self._partly if line >= self.end]:
            del self._partly[line]

    def __contains__(self, line: int) -> bool:
        return self.begin <= line < self.end

    def stamp(self, line: int) -> int:
        """When a line that is in it changed last."""
        return self._stamps[bisect_right(self._starts, line) - 1]

    def marks(self, line: int) -> Marks:
        """When the characters of a line that is in it changed."""
        return self._partly.get(line) or whole(self.stamp(line))

    def peak(self, line: int) -> int:
        """The newest stamp of all lines up to ``line``, -1 when there are none."""
        index = bisect_right(self._starts, line) - 1
        return self._peaks[index] if index >= 0 else -1

    def newer(self, since: int) -> Iterator[range]:
        """The lines newer than ``since``, ascending, by stretches."""
        for index in range(bisect_right(self._peaks, since), len(self._starts)):
            if self._stamps[index] > since:
                ends = self._starts[index + 1] if index + 1 < len(self._starts) else self.end
                yield range(self._starts[index], ends)
