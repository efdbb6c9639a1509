"""What specs/control.md says of retries, in the fewest words: the measure of the real ledger.

It keeps everything for ever and works each answer out anew, in whatever time that takes.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

Actor = Hashable


@dataclass
class Deed:
    """One id that was spent."""

    digest: bytes
    pane: int
    reply: bytes | None = None
    since: float = 0.0
    order: int = 0
    later: bytes | None = None
    running: bool = True
    kept: bool = False


@dataclass
class Life:
    """One actor, from its first mutation on."""

    mark: int = 0
    deeds: dict[int, Deed] = field(default_factory=dict)
    warm: int = 0


class Model:
    """Everything that ever happened, and what of it must still be known."""

    def __init__(
        self, *, retention: float, per_actor: int, entries: int, reply_bytes: int, actors: int
    ) -> None:
        self.retention, self.per_actor = retention, per_actor
        self.entries, self.reply_bytes, self.actors = entries, reply_bytes, actors
        self.lives: dict[Actor, Life] = {}
        self.count = 0

    def life(self, actor: Actor) -> Life:
        return self.lives.setdefault(actor, Life())

    def known(self, actor: Actor, now: float) -> dict[int, Deed]:
        """The deeds of an actor that can be read."""
        return {
            number: deed
            for number, deed in self.life(actor).deeds.items()
            if deed.running or (deed.kept and now - deed.since < self.retention)
        }

    def expect(self, actor: Actor, number: int, digest: bytes, now: float) -> str | Deed:
        """A deed to be told again, or one word: new, mismatch, retired."""
        deed = self.known(actor, now).get(number)
        if deed is None:
            return "retired" if number <= self.life(actor).mark else "new"
        return deed if deed.digest == digest else "mismatch"

    def fits(self, actor: Actor, now: float) -> str | None:
        """None when one more deed may begin, else which bound is in the way."""
        if self.full(now):
            return None if self.yields(actor, now) else "retained_requests"
        alive = self.alive(actor, now)
        busy = [other for other in alive if any(d.running for d in self.known(other, now).values())]
        return "retained_actors" if len(alive) >= self.actors and len(busy) == len(alive) else None

    def full(self, now: float) -> bool:
        """Whether there are as many deeds to be known as there may be."""
        return sum(len(self.known(each, now)) for each in self.lives) >= self.entries

    def yields(self, actor: Actor, now: float) -> list[Deed]:
        """What an actor with its full share can give up for one more deed, oldest first."""
        known = self.known(actor, now).values()
        replies = sorted((deed for deed in known if deed.kept), key=lambda deed: deed.order)
        return replies if len(known) >= self.per_actor else []

    def size(self, actor: Actor, now: float) -> int:
        """Bytes of the replies of an actor that can be read."""
        return sum(len(deed.reply or b"") for deed in self.known(actor, now).values())

    def alive(self, actor: Actor, now: float) -> list[Actor]:
        """Others of whom something is known, when ``actor`` needs a place among them."""
        if self.known(actor, now):
            return []
        return [other for other in self.lives if other != actor and self.known(other, now)]

    def begin(self, actor: Actor, number: int, deed: Deed, now: float) -> None:
        """The deed is done now; the coldest other actor is no longer known if it has to be."""
        if self.full(now):
            self.yields(actor, now)[0].kept = False
        alive = self.alive(actor, now)
        if len(alive) >= self.actors:
            idle = [o for o in alive if not any(d.running for d in self.known(o, now).values())]
            coldest = min(idle, key=lambda other: self.life(other).warm)
            for gone in self.life(coldest).deeds.values():
                gone.kept = False
        life = self.life(actor)
        life.mark, life.deeds[number] = number, deed

    def end(self, actor: Actor, number: int, reply: bytes | None, now: float) -> None:
        """It has its reply; None: nothing is kept of it."""
        life = self.life(actor)
        deed = life.deeds[number]
        self.make_room(len(reply or b""), now)
        deed.running, deed.kept, deed.reply, deed.since = False, reply is not None, reply, now
        if reply is None:
            return
        self.count += 1
        life.warm = deed.order = self.count
        kept = [n for n, each in life.deeds.items() if each.kept]
        kept.sort(key=lambda n: life.deeds[n].order)
        for old in kept[: -self.per_actor]:
            life.deeds[old].kept = False

    def make_room(self, size: int, now: float) -> None:
        """The oldest replies of who has the largest go, of the coldest of several."""
        while sum(self.size(each, now) for each in self.lives) + size > self.reply_bytes:
            largest = max(self.lives, key=lambda who: (self.size(who, now), -self.life(who).warm))
            replies = [deed for deed in self.known(largest, now).values() if deed.kept]
            min(replies, key=lambda deed: deed.order).kept = False
