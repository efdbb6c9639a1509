"""What of a subscription's events has been seen, and what must be asked for again. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from termnode.client.decode import decode
from termnode.client.seen import Event, Subscribed


class Lost(Exception):
    """Events before this one are missing: subscribe again with ``after``."""


class Follower:
    """Events in order and none twice.

    ``after`` is the number of the last one that was seen, for a subscription that goes on; None
    before the first one.
    """

    def __init__(self, after: int | None = None) -> None:
        self.after = after
        self._missed = 0

    def subscribed(self, reply: Subscribed) -> None:
        """Take in the answer to a subscription that was asked for with ``after``.

        Numbers that are lower than what was seen are another service's: they began anew.
        """
        if self.after is None:
            self.after = reply.seq
        elif self.after > reply.seq:
            self.after = 0
        self._missed += reply.missed

    def take(self, body: Mapping[str, Any]) -> Event | None:
        """The next event; None for one that was seen before. Raises Lost, BadReply.

        Each names the one that was sent before it, so that the bus's word of a gap adds nothing.
        """
        event = decode(Event, body)
        last = self.after or 0
        if event.seq <= last:
            return None
        if event.previous > last:
            raise Lost
        self.after = event.seq
        missed, self._missed = self._missed, 0
        return replace(event, missed=missed)


@dataclass(eq=False, slots=True)
class Taking:
    """One try of a reader to take an event. The reader says at once what became of it."""

    arrived: bool = False
    given_up: bool = False
    """It was interrupted: if it was given an event, nobody has seen it."""


class Given:
    """Events on their way to the reader, so that one that does not arrive is given again."""

    def __init__(self) -> None:
        self._under_way: list[tuple[Taking, Event]] = []

    def give(self, taking: Taking, event: Event) -> Event:
        """The event, which is that reader's now."""
        self._under_way.append((taking, event))
        return event

    def again(self) -> Event | None:
        """The first that was given to who has given up since."""
        self._under_way = [each for each in self._under_way if not each[0].arrived]
        lost = next((each for each in self._under_way if each[0].given_up), None)
        if lost is None:
            return None
        self._under_way.remove(lost)
        return lost[1]
