"""The retry table of the native lane: a mutation runs at most once per actor and request id.

The rules (specs/control.md "Retries"):

1. `Ledger.lookup` answers for every id that is readable, refuses every other one at or below the
   actor's mark, and calls the rest new. It spends nothing.
2. `Ledger.reserve` raises the mark to the id before its verb runs. Only `Reservation.cancel`, in
   the very step of the reserve, takes that back.
3. A reply is readable for 15 minutes from when it was recorded, the last 1,024 per actor, 4,096 and
   16 MiB in all. What is under way is never given up. Refusals about load are not kept.
4. What goes leaves its mark: in its history, or when that goes too, in `Marks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, Generic, TypeVar

from brokerd.client import forbidden
from termnode.control.native import answers
from termnode.control.native.actors import MARKS, Actor, Marks
from termnode.control.native.answers import Lookup, New, Operation, Pending, Recorded, Settled
from termnode.control.native.histories import Histories
from termnode.control.native.history import Entry, Later, Outcome
from termnode.control.native.reservation import Reservation

__all__ = [
    "ACTORS",
    "ENTRIES",
    "PER_ACTOR",
    "REPLY_BYTES",
    "RETENTION_S",
    "Actor",
    "Later",
    "Ledger",
    "Lookup",
    "New",
    "Operation",
    "Outcome",
    "Pending",
    "Recorded",
    "Reservation",
    "Settled",
]

RETENTION_S: Final = 900.0
"""Seconds for which a reply can be read again (seed: "15 minutes")."""

PER_ACTOR: Final = 1_024
"""Replies kept per actor; the oldest goes first."""

ENTRIES: Final = 4_096
"""Replies kept and mutations under way in all; more are RESOURCE_LIMIT retained_requests, but of an
actor that has its 1,024: its own oldest reply goes."""

REPLY_BYTES: Final = 16 * 1_048_576
"""Of the replies kept in all; over it the oldest of the actor whose replies are largest goes."""

ACTORS: Final = 256
"""Actors with a history; the coldest leaves its mark and goes, first one without replies."""

R = TypeVar("R", bound=Outcome)


class Ledger(Generic[R]):
    """What became of every request id. Times are monotonic seconds; ``R`` is a sealed reply."""

    def __init__(
        self,
        *,
        retention: float = RETENTION_S,
        per_actor: int = PER_ACTOR,
        entries: int = ENTRIES,
        reply_bytes: int = REPLY_BYTES,
        actors: int = ACTORS,
        marks: int = MARKS,
    ) -> None:
        self.retention = retention
        self._histories = Histories[R](
            per_actor=per_actor,
            entries=entries,
            reply_bytes=reply_bytes,
            actors=actors,
            marks=Marks(most=marks, linger=retention),
        )

    def lookup(self, actor: Actor, request_id: int, digest: bytes, now: float) -> Lookup[R]:
        """What is known of a request whose command and bytes have this digest.

        Raises Refusal CONFLICT when the id was used for another request, UNKNOWN_OUTCOME when it
        is retired.
        """
        entry = self._entry(actor, request_id, now)
        if entry is None:
            return New()
        if entry.digest != digest:
            raise answers.request_mismatch()
        return Pending(request_id) if entry.reply is None else Recorded(entry.reply)

    def operation(
        self, actor: Actor, target: object, operation_id: int, now: float
    ) -> Operation[R]:
        """What an operation of this actor came to, as far as it is known.

        Raises Refusal FORBIDDEN when it was on another target, UNKNOWN_OUTCOME when there is none
        or nothing is kept of it.
        """
        entry = self._entry(actor, operation_id, now)
        if entry is None:
            raise answers.unknown_operation(self.high_water(actor))
        if entry.target != target:
            raise forbidden()
        if entry.later is not None and entry.later.outcome is not None:
            return Settled(entry.later.outcome)
        return Pending(operation_id) if entry.reply is None else Recorded(entry.reply)

    def high_water(self, actor: Actor) -> int:
        """The highest id that is spent: only higher ones can run. 0 for a new actor."""
        return self._histories.mark(actor)

    def reserve(
        self,
        actor: Actor,
        request_id: int,
        digest: bytes,
        target: object,
        command: str,
        *,
        now: float,
        live: bool = True,
        again: bool = False,
    ) -> Reservation[R]:
        """Spend a new id, in the step in which its verb starts.

        ``live`` is False when the actor's connection or record is known to have ended. ``again``
        is for an id that was spent before, nothing of which is kept, when whoever carries it out
        cannot do so twice. Raises Refusal RESOURCE_LIMIT, having spent nothing, when the ledger is
        full; ValueError for an id that `lookup` would not call new.
        """
        self._histories.purge(now)
        if self._histories.entry(actor, request_id, now) is not None or not (
            again or request_id > self.high_water(actor)
        ):
            raise ValueError("the id is not new")
        history = self._histories.room(actor, now)
        history.ended = history.ended or not live
        entry = Entry(history, request_id, digest, target, command, history.mark)
        self._histories.begin(entry)
        return Reservation(self._histories, entry, self.retention)

    def ended(self, key: str, now: float) -> None:
        """The connection or the record with this id has ended.

        Its marks go, 15 minutes later: what it sent before its end may come after the news of it.
        """
        self._histories.ended(key, now)

    def on_many(self, tell: Callable[[], object]) -> None:
        """Have ``tell`` called, in the midst of a call, when marks of connections are many."""
        self._histories.marks.on_many = tell

    def connections(self) -> tuple[str, ...]:
        """The connections of which nothing but a mark is kept, coldest first."""
        return self._histories.marks.connections()

    def gone(self, connections: Iterable[str]) -> None:
        """They have ended, and all that they sent has had its turn: their marks go now."""
        self._histories.marks.gone(connections)

    def clear_marks(self) -> None:
        """The broker is another: whoever has only a mark will never be heard again."""
        self._histories.marks.clear()

    def statistics(self) -> dict[str, int]:
        """How much is under way, kept and remembered."""
        return self._histories.statistics()

    def verify(self) -> None:
        """Raise AssertionError when an invariant does not hold."""
        self._histories.verify()

    def _entry(self, actor: Actor, request_id: int, now: float) -> Entry[R] | None:
        """The readable entry of an id; None for one that was never spent, else UNKNOWN_OUTCOME."""
        self._histories.purge(now)
        entry = self._histories.entry(actor, request_id, now)
        if entry is None and request_id <= self.high_water(actor):
            raise answers.retired(self.high_water(actor))
        return entry
