"""Pastes of people that come in several parts, until the last one is there. No I/O."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

MAX_PASTE: Final = 1024 * 1024
"""Characters of one paste."""

MAX_OPEN: Final = 16
"""Pastes of which the last part has not come; the oldest goes when there are more."""


@dataclass(slots=True)
class _Parts:
    """Those of one paste. ``texts`` is None once it is too long."""

    texts: list[str] | None = field(default_factory=list)
    length: int = 0

    def add(self, text: str, most: int) -> None:
        """One more; takes no longer the more there are, and an empty one is not kept."""
        self.length += len(text)
        if self.length > most:
            self.texts = None
        elif self.texts is not None and text:
            self.texts.append(text)


class PersonPastes:
    """The parts that have come, by whose paste in which pane it is.

    A paste that is too long is dropped as a whole: half of one could do harm.
    """

    def __init__(self, most: int = MAX_PASTE, most_open: int = MAX_OPEN) -> None:
        self._most = most
        self._most_open = most_open
        self._open: dict[Hashable, _Parts] = {}

    def take(self, key: Hashable, text: str, *, more: bool) -> str | None:
        """The whole text once its last part is there; None before, and for one that is dropped."""
        parts = self._open.pop(key, None) or _Parts()
        parts.add(text, self._most)
        if not more:
            return None if parts.texts is None else "".join(parts.texts)
        self._open[key] = parts
        while len(self._open) > self._most_open:
            del self._open[next(iter(self._open))]
        return None
