"""What of a subscription's events has been seen, and what must be asked for again. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from termnode.client.decode import decode
from termnode.client.seen import Event, Subscribed


class Lost(Exception):
    """Events before this one are missing: subscribe again with ``after``."""


class Order:
    """Events by their numbers: in order and none twice.

    ``after`` is the number of the last one that was seen, for a subscription that goes on; None
    before the first one.
    """

    def __init__(self, after: int | None = None) -> None:
        self.after = after

    def subscribed(self, newest: int, missed: int) -> None:
        """Take in the answer to a subscription that asked for ``after``: the newest number, and
        how many behind ``after`` are no longer known. These are told once: nobody asks for them
        again.

        Numbers that are lower than what was seen are another service's: they began anew.
        """
        start = newest if self.after is None else self.after
        self.after = (start if start <= newest else 0) + missed

    def takes(self, seq: int, previous: int) -> bool:
        """Whether an event is the next one; False for one that was seen before. Raises Lost.

        Each names the one that was sent before it, so that the bus's word of a gap adds nothing.
        """
        last = self.after or 0
        if seq <= last:
            return False
        if previous > last:
            raise Lost
        self.after = seq
        return True


class Follower:
    """The events of one subscription, decoded, in their `Order`."""

    def __init__(self, after: int | None = None) -> None:
        self._order = Order(after)
        self._missed = 0

    @property
    def after(self) -> int | None:
        """As `Order.after`."""
        return self._order.after

    def subscribed(self, reply: Subscribed) -> None:
        """Take in the answer to a subscription that was asked for with ``after``."""
        self._order.subscribed(reply.seq, reply.missed)
        self._missed += reply.missed

    def take(self, body: Mapping[str, Any]) -> Event | None:
        """The next event; None for one that was seen before. Raises Lost, BadReply."""
        event = decode(Event, body)
        if not self._order.takes(event.seq, event.previous):
            return None
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
