"""What clients were shown of shared panes, so that a later look can say what changed. No I/O."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

T = TypeVar("T")

MOST: Final = 32
"""Screens that are remembered; the oldest is forgotten for a new one."""

PERSONS: Final = 256
"""Panes of clients of which it is remembered how often a person had typed there."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A screen that was shown: which program of which pane, at which revision."""

    pane: int
    generation: int
    revision: int


class PaneMemory(Generic[T]):
    """Screens (``T``) by what they were of."""

    def __init__(self) -> None:
        self._screens: OrderedDict[Shown, T] = OrderedDict()
        self._persons: OrderedDict[tuple[str, int], int] = OrderedDict()

    def keep(self, shown: Shown, screen: T) -> None:
        """It was shown now."""
        self._screens[shown] = screen
        self._screens.move_to_end(shown)
        if len(self._screens) > MOST:
            self._screens.popitem(last=False)

    def find(self, shown: Shown) -> T | None:
        """What was shown then; None when that is not known any more."""
        return self._screens.get(shown)

    def person_typed(self, client: str, pane: int, inputs: int) -> bool:
        """Whether a person typed there since the client's last look; ``inputs`` is how often."""
        before = self._persons.pop((client, pane), inputs)
        self._persons[client, pane] = inputs
        if len(self._persons) > PERSONS:
            self._persons.popitem(last=False)
        return inputs > before
