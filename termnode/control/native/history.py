"""What one actor has done: the entries that can still be read, and the mark below all of them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from termnode.control.native.actors import Actor


class Outcome(Protocol):
    """What the ledger reads of a reply; `termnode.lanes.calls.Sealed` is one."""

    @property
    def about_load(self) -> bool:
        """Whether it says that nothing was done for want of room: never recorded."""

    @property
    def size(self) -> int:
        """Bytes of it, as it travels."""


R = TypeVar("R", bound=Outcome)


class Later:
    """What an operation came to after its first reply. Whoever carries it out settles it."""

    def __init__(self) -> None:
        self.outcome: Mapping[str, object] | None = None

    def settle(self, outcome: Mapping[str, object]) -> None:
        """Say once what it came to: the body that `term.operation` gives. ValueError when twice."""
        if self.outcome is not None:
            raise ValueError("the operation has its outcome")
        self.outcome = dict(outcome)


@dataclass(slots=True, eq=False)
class Entry(Generic[R]):
    """One request id: under way while ``reply`` is None, then kept until ``until`` (seconds)."""

    history: History[R]
    request_id: int
    digest: bytes
    target: object
    command: str
    before: int
    """The actor's mark without this id."""
    reply: R | None = None
    later: Later | None = None
    until: float = 0.0

    @property
    def size(self) -> int:
        """Bytes of its reply."""
        return 0 if self.reply is None else self.reply.size

    def readable(self, now: float) -> bool:
        """Whether it still stands for its id."""
        return self.reply is None or now < self.until


@dataclass(slots=True, eq=False)
class History(Generic[R]):
    """Entries of one actor by id. ``kept`` has those with a reply, oldest first."""

    actor: Actor
    mark: int
    ended: bool
    """Its connection or record is no more: its mark need not be kept for long."""
    running: dict[int, Entry[R]] = field(default_factory=dict)
    kept: OrderedDict[int, Entry[R]] = field(default_factory=OrderedDict)
    bytes: int = 0
    """Of the replies kept."""

    def find(self, request_id: int, now: float) -> Entry[R] | None:
        """The entry of an id that can be read at ``now``."""
        entry = self.running.get(request_id) or self.kept.get(request_id)
        return entry if entry is not None and entry.readable(now) else None

    @property
    def size(self) -> int:
        """Entries of either kind."""
        return len(self.running) + len(self.kept)

    @property
    def oldest(self) -> Entry[R] | None:
        """The reply that was recorded first."""
        return next(iter(self.kept.values()), None)

    @property
    def highest(self) -> int:
        """The highest id that has an entry; 0 without."""
        return max([*self.running, *self.kept], default=0)

    @property
    def latest(self) -> float:
        """When its newest entry lapses; 0 without."""
        return next(reversed(self.kept.values())).until if self.kept else 0.0
