"""The replies that can be read again, of all actors: oldest first, and how large they are."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

from termnode.control.native.history import Entry, History, Outcome

R = TypeVar("R", bound=Outcome)


class Kept(Generic[R]):
    """Entries with a reply, each also in its history."""

    def __init__(self) -> None:
        self.bytes = 0
        """Of their replies, as they travel."""
        self._entries: OrderedDict[Entry[R], None] = OrderedDict()

    def add(self, entry: Entry[R]) -> None:
        """It is the newest."""
        history = entry.history
        self._entries[entry] = None
        history.kept[entry.request_id] = entry
        history.bytes += entry.size
        self.bytes += entry.size

    def remove(self, entry: Entry[R]) -> None:
        """It can no longer be read."""
        del self._entries[entry]
        del entry.history.kept[entry.request_id]
        entry.history.bytes -= entry.size
        self.bytes -= entry.size

    def remove_all(self, history: History[R]) -> None:
        """Those of one actor."""
        for entry in tuple(history.kept.values()):
            self.remove(entry)

    def oldest(self) -> Entry[R] | None:
        """The one that lapses first."""
        return next(iter(self._entries), None)

    def __len__(self) -> int:
        return len(self._entries)

    def lapses(self) -> list[float]:
        """When each lapses, in their order."""
        return [entry.until for entry in self._entries]
