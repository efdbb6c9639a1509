"""The subscriptions to the events of a service: whose, to what, how far each is served. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Final

from brokerd.client import limit_reached
from termnode.control.native.fields import EXEC_OUTPUT
from termnode.service.events.ring import Happened

SUBSCRIPTIONS: Final = 64
"""Subscriptions at a time; one subscriber has one."""

NAMED_ONLY: Final = frozenset({EXEC_OUTPUT})
"""Kinds that are told only to who names them: there is much of it."""


@dataclass(frozen=True, slots=True)
class Subscriber:
    """Whom events go to: a connection under a broker epoch, and the process it belongs to."""

    connection: str
    epoch: str
    pid: int

    @property
    def key(self) -> str:
        """Whose subscription one takes the place of."""
        return self.connection

    def speaks_for(self, actor: Hashable) -> bool:  # noqa: ARG002  # others do
        """Whether it may be told what is for that actor alone."""
        return False


@dataclass(slots=True)
class Subscription:
    """What one connection wants. ``kinds`` and ``pane`` are None for all of them.

    ``cursor`` is the number of the last event that was looked at for it. ``previous`` is what its
    next event will name: the last one sent, or one that it cannot have seen when some were lost.
    """

    who: Subscriber
    pane: int | None
    kinds: frozenset[str] | None
    cursor: int
    previous: int

    def wants(self, kind: str) -> bool:
        """Whether it asked for this kind."""
        return kind not in NAMED_ONLY if self.kinds is None else kind in self.kinds

    def takes(self, happened: Happened) -> bool:
        """Whether it asked for this event, and it is for it."""
        mine = happened.actor is None or self.who.speaks_for(happened.actor)
        return mine and self.wants(happened.kind) and happened.about(self.pane)

    def would_take(self, kind: str, pane: int, actor: Hashable = None) -> bool:
        """Whether it asked for events of this kind in this pane, which may be for one actor."""
        mine = actor is None or self.who.speaks_for(actor)
        return mine and self.wants(kind) and self.pane in {None, pane}


class Subscriptions:
    """At most ``limit`` subscriptions, one per subscriber, in the order in which they began."""

    def __init__(self, limit: int = SUBSCRIPTIONS) -> None:
        self._limit = limit
        self._held: dict[str, Subscription] = {}

    def __len__(self) -> int:
        return len(self._held)

    def add(self, new: Subscription) -> None:
        """Put one in, in place of what it had. Raises Refusal RESOURCE_LIMIT."""
        self.remove(new.who)
        if len(self._held) >= self._limit:
            self._make_room(new.who.pid)
        self._held[new.who.key] = new

    def _make_room(self, pid: int) -> None:
        """Let the oldest subscription of the same process give way.

        Nobody says when a connection goes while its process lives on, so a process that connects
        again and again would in the end shut itself out.
        """
        oldest = next((key for key, each in self._held.items() if each.who.pid == pid), None)
        if oldest is None:
            message = f"{self._limit} connections are told of events: end one, then ask again"
            raise limit_reached("subscriptions", self._limit, message)
        del self._held[oldest]

    def remove(self, who: Subscriber) -> None:
        """Take out what that subscriber has, if anything."""
        self._held.pop(who.key, None)

    def keep(self, true: Callable[[Subscriber], bool]) -> bool:
        """Take out those for which it is not ``true``; whether there were any."""
        before = len(self._held)
        self._held = {key: each for key, each in self._held.items() if true(each.who)}
        return len(self._held) < before

    def furthest_behind_first(self) -> Iterable[Subscription]:
        """All of them, in the order in which they should be served."""
        return sorted(self._held.values(), key=lambda each: each.cursor)

    def wanted(self, kind: str, pane: int, actor: Hashable = None) -> bool:
        """Whether anybody would be told of an event of this kind in this pane; with ``actor``, of
        one that is for that actor alone."""
        return any(each.would_take(kind, pane, actor) for each in self._held.values())

    def pids(self) -> frozenset[int]:
        """The processes that they belong to."""
        return frozenset(each.who.pid for each in self._held.values())
