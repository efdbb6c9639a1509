"""Where the ledger keeps its histories: what has a place, and who has to go when there is none.

Two rows of actors, so that it is known at once who goes first. Idle ones have no entry. Busy ones
stand in the order of their latest reply: when the reply of the first has not lapsed, none has.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Final, Generic, NamedTuple, TypeVar

from termnode.control.native import answers
from termnode.control.native.actors import Actor, Marks, anchor
from termnode.control.native.history import Entry, History, Outcome
from termnode.control.native.kept import Kept
from termnode.control.native.soundness import disagreements

PURGED_PER_CALL: Final = 4
"""Lapsed entries given up per call: more than one call can add."""

R = TypeVar("R", bound=Outcome)


class Leaving(NamedTuple, Generic[R]):
    """What goes for ``newcomer``: at the next call, unless that cancels what it came for.

    Another actor, for one that has no place yet; else the newcomer's own ``oldest`` reply.
    """

    newcomer: History[R]
    now: float
    victim: History[R] | None = None
    oldest: Entry[R] | None = None


class Histories(Generic[R]):
    """Actors and their entries within bounds. Every call is O(1), amortised.

    But for a reply that finds no room in ``reply_bytes``: then all actors are looked at.
    """

    def __init__(
        self, *, per_actor: int, entries: int, reply_bytes: int, actors: int, marks: Marks
    ) -> None:
        self.per_actor = per_actor
        self.max_entries = entries
        self.max_bytes = reply_bytes
        self.max_actors = actors
        self.marks = marks
        self._busy: OrderedDict[Actor, History[R]] = OrderedDict()
        self._idle: OrderedDict[Actor, History[R]] = OrderedDict()
        self._kept = Kept[R]()
        self._running = 0
        self._leaving: Leaving[R] | None = None

    def find(self, actor: Actor) -> History[R] | None:
        """The history of an actor, if it has one."""
        return self._busy.get(actor) or self._idle.get(actor)

    def entry(self, actor: Actor, request_id: int, now: float) -> Entry[R] | None:
        """The entry of an id, while it is readable."""
        history = self.find(actor)
        return None if history is None else history.find(request_id, now)

    def mark(self, actor: Actor) -> int:
        """The highest id spent."""
        history = self.find(actor)
        return self.marks.get(actor) if history is None else history.mark

    # -- an entry's life ------------------------------------------------------------------------

    def room(self, actor: Actor, now: float) -> History[R]:
        """The history in which one more entry can begin; something may go for it (`Leaving`).

        Raises Refusal RESOURCE_LIMIT, with nothing changed, when there is no room.
        """
        history = self.find(actor)
        if self._running + len(self._kept) >= self.max_entries:
            return self._in_its_own_place(history, now)
        return self._newcomer(actor, now) if history is None else history

    def begin(self, entry: Entry[R]) -> None:
        """The entry is under way, and its id is the actor's mark."""
        history = entry.history
        history.mark = max(history.mark, entry.request_id)
        history.running[entry.request_id] = entry
        self._running += 1
        if self._idle.pop(history.actor, None) is not None:
            self._busy[history.actor] = history

    def keep(self, entry: Entry[R], now: float) -> None:
        """The entry has its reply."""
        self._let_go()
        history = entry.history
        self._make_room(entry.size, now)
        self._stop(entry)
        self._kept.add(entry)
        self._busy.move_to_end(history.actor)
        if len(history.kept) > self.per_actor and history.oldest is not None:
            self._give_up(history.oldest)

    def drop(self, entry: Entry[R]) -> None:
        """Nothing is kept of the entry but its mark."""
        self._let_go()
        self._stop(entry)
        self._rest(entry.history)

    def cancel(self, entry: Entry[R]) -> None:
        """The entry never was. In the call after `begin`, not even what would have gone for it."""
        history, leaving = entry.history, self._leaving
        if leaving is not None and leaving.newcomer is history:
            self._leaving = None
        else:
            leaving = None
            self._let_go()
        self._stop(entry)
        history.mark = entry.before
        if leaving is not None and leaving.victim is not None:
            del self._busy[history.actor]
            self._leave_mark(history, leaving.now)
        else:
            self._rest(history)

    def purge(self, now: float) -> None:
        """Give up what has lapsed, at most `PURGED_PER_CALL` entries."""
        self._let_go()
        self.marks.purge(now)
        for _ in range(PURGED_PER_CALL):
            oldest = self._kept.oldest()
            if oldest is None or oldest.readable(now):
                return
            self._give_up(oldest)

    def ended(self, key: str, now: float) -> None:
        """A connection or record is no more."""
        self._let_go()
        for history in self._all():
            if anchor(history.actor) == key:
                history.ended = True
        self.marks.ended(key, now)

    # -- who goes -------------------------------------------------------------------------------

    def _in_its_own_place(self, history: History[R] | None, now: float) -> History[R]:
        """All is full: an actor that has its share goes on, and gives up its own oldest reply."""
        if history is None or history.oldest is None or history.size < self.per_actor:
            oldest = self._kept.oldest()
            left = None if oldest is None else oldest.until - now
            raise answers.too_many_entries(self.max_entries, left)
        self._leaving = Leaving(history, now, oldest=history.oldest)
        return history

    def _newcomer(self, actor: Actor, now: float) -> History[R]:
        crowded = len(self._busy) + len(self._idle) >= self.max_actors
        victim = self._coldest() if crowded else None
        history = History[R](actor, *self.marks.take(actor))
        if victim is not None:
            self._leaving = Leaving(history, now, victim)
        self._idle[actor] = history
        return history

    def _coldest(self) -> History[R]:
        """An idle one, else the busy one whose latest reply is oldest; none with work under way."""
        free = (each for each in self._all() if not each.running)
        victim = next(free, None)
        if victim is None:
            raise answers.too_many_actors(self.max_actors)
        return victim

    def _all(self) -> Iterator[History[R]]:
        yield from self._idle.values()
        yield from self._busy.values()

    def _let_go(self) -> None:
        leaving, self._leaving = self._leaving, None
        if leaving is None:
            return
        if leaving.oldest is not None:
            self._give_up(leaving.oldest)
        if leaving.victim is not None:
            self._kept.remove_all(leaving.victim)
            self._busy.pop(leaving.victim.actor, None)
            self._idle.pop(leaving.victim.actor, None)
            self._leave_mark(leaving.victim, leaving.now)

    def _leave_mark(self, history: History[R], now: float) -> None:
        if history.mark:
            self.marks.put(history.actor, history.mark)
        if history.ended:
            self.marks.ended(anchor(history.actor), now)

    def _make_room(self, size: int, now: float) -> None:
        """For a reply that is not kept yet: what has lapsed goes, then the oldest of the largest.

        So nobody pushes out the replies of those who have less.
        """
        while self._kept.bytes and self._kept.bytes + size > self.max_bytes:
            oldest = self._kept.oldest()
            if oldest is not None and oldest.readable(now):
                oldest = max(self._busy.values(), key=lambda each: each.bytes).oldest
            assert oldest is not None, "who has bytes has a reply"
            self._give_up(oldest)

    def _stop(self, entry: Entry[R]) -> None:
        del entry.history.running[entry.request_id]
        self._running -= 1

    def _give_up(self, entry: Entry[R]) -> None:
        self._kept.remove(entry)
        self._rest(entry.history)

    def _rest(self, history: History[R]) -> None:
        """Put an actor without entries among the idle; one that has spent nothing is forgotten."""
        if history.running or history.kept:
            return
        self._busy.pop(history.actor, None)
        if history.mark:
            self._idle[history.actor] = history

    # -- inspection -----------------------------------------------------------------------------

    def statistics(self) -> dict[str, int]:
        """How many entries there are of each kind, and of how many actors."""
        replaced = self._leaving is not None and self._leaving.victim is not None
        return {
            "running": self._running,
            "kept": len(self._kept),
            "bytes": self._kept.bytes,
            "actors": len(self._busy) + len(self._idle) - replaced,
            **self.marks.statistics(),
        }

    def verify(self) -> None:
        """Raise AssertionError when the parts disagree or a bound does not hold."""
        replaced = self._leaving is not None and self._leaving.oldest is not None
        bounds = {
            "entries over their bound": self._running + len(self._kept) - replaced
            <= self.max_entries,
            "bytes over their bound": self._kept.bytes <= self.max_bytes,
            "actors over their bound": self.statistics()["actors"] <= self.max_actors,
            "kept per actor": all(len(each.kept) <= self.per_actor for each in self._all()),
        }
        wrong = [what for what, holds in bounds.items() if not holds]
        wrong += disagreements(self._idle.values(), self._busy.values(), self._kept, self._running)
        if wrong:
            raise AssertionError(", ".join(wrong))
        self.marks.verify()
