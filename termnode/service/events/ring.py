"""The last events of a service, by number (specs/looking.md, "Events"). No I/O."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

KNOWN: Final = 1_024
"""Events that can be sent again."""


@dataclass(frozen=True, slots=True)
class Happened:
    """One event. ``panes`` are those it is about; none means that it is about all.

    ``body`` is what travels, but for ``previous``, which differs from one subscription to another.
    It is for ``actor`` alone, unless that is None.
    """

    seq: int
    kind: str
    panes: frozenset[int]
    body: Mapping[str, object]
    actor: Hashable = None

    def about(self, pane: int | None) -> bool:
        """Whether it is about this pane, or any pane will do."""
        return pane is None or not self.panes or pane in self.panes


class Ring:
    """The last ``size`` events. Numbers begin after ``begin``; ``last`` is that of the newest."""

    def __init__(self, size: int = KNOWN, begin: int = 0) -> None:
        self._slots: list[Happened | None] = [None] * size
        self.begin: Final = begin
        self.last = begin

    @property
    def oldest(self) -> int:
        """The number of the oldest event that is known; ``last`` + 1 while there is none."""
        return max(self.begin, self.last - len(self._slots)) + 1

    def add(
        self,
        kind: str,
        panes: frozenset[int],
        body: Mapping[str, object],
        actor: Hashable = None,
    ) -> int:
        """Number one more event, which takes the place of the oldest; returns its number."""
        self.last += 1
        happened = Happened(self.last, kind, panes, {"seq": self.last, **body}, actor)
        self._slots[self.last % len(self._slots)] = happened
        return self.last

    def after(self, seq: int) -> Iterator[Happened]:
        """The known events with higher numbers, oldest first."""
        for number in range(max(seq + 1, self.oldest), self.last + 1):
            happened = self._slots[number % len(self._slots)]
            assert happened is not None, "every number from the oldest to the last has its slot"
            yield happened
