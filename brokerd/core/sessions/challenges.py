"""Challenges: one per connection, good for one attempt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from brokerd.core.sessions.model import Challenge, Record
from brokerd.core.sessions.refusals import Quota, because, expired
from brokerd.core.sessions.schedule import Kind, Schedule
from brokerd.errors import forbidden
from brokerd.limits import SessionLimits


@dataclass(slots=True)
class Slot:
    """What one connection was given, and what it has used."""

    outstanding: Challenge | None = None
    lapsed: str | None = None
    """Id of the latest one that ended before it was used."""
    consumed: dict[str, None] = field(default_factory=dict)


class Challenges:
    """Those outstanding, by connection and by record."""

    def __init__(self, limits: SessionLimits, schedule: Schedule) -> None:
        self._slots: dict[str, Slot] = {}
        self._of_record: dict[Record, dict[Challenge, None]] = {}
        self._schedule = schedule
        self._remembered = limits.consumed_per_connection
        self.per_uid = Quota("challenge_limit", limits.challenges_per_uid)

    def same(
        self, connection_id: str, selector: tuple[object, ...], now_ms: int
    ) -> Challenge | None:
        """The outstanding challenge, if it answers the same question; None when there is none.

        Raises Refusal (CONFLICT challenge_outstanding) when it answers another.
        """
        slot = self._slots.get(connection_id)
        if slot is None or slot.outstanding is None:
            return None
        if slot.outstanding.selector != selector:
            left = slot.outstanding.expires_ms - now_ms
            raise because("challenge_outstanding", retry_after_ms=str(left))
        return slot.outstanding

    def require_room(self, uid: int) -> None:
        """Raise Refusal (RESOURCE_LIMIT challenge_limit) unless the user may have one more."""
        self.per_uid.require_one(uid)

    def open(self, challenge: Challenge) -> None:
        """Give it to its connection, which has none outstanding."""
        slot = self._slots.setdefault(challenge.connection_id, Slot())
        slot.outstanding, slot.lapsed = challenge, None
        self._of_record.setdefault(challenge.record, {})[challenge] = None
        self.per_uid.add(challenge.record.uid)
        self._schedule.set(Kind.CHALLENGE, challenge, challenge.expires_ms)

    def redeem(self, connection_id: str, challenge_id: str | None) -> Challenge:
        """Take the outstanding challenge for an attempt with this id, whatever comes of it.

        Raises Refusal: CONFLICT challenge_consumed, EXPIRED, FORBIDDEN (not the one outstanding).
        """
        slot = self._slots.get(connection_id, Slot())
        used = challenge_id in slot.consumed
        lapsed, taken = slot.lapsed, slot.outstanding
        self._consume(slot)
        if used:
            raise because("challenge_consumed")
        if taken is not None and taken.id == challenge_id:
            return taken
        raise expired() if lapsed is not None and lapsed == challenge_id else forbidden()

    def lapse(self, challenge: Challenge) -> None:
        """It ended, or its record did: proving it is EXPIRED from now on."""
        slot = self._slots[challenge.connection_id]
        self._close(challenge)
        slot.outstanding, slot.lapsed = None, challenge.id

    def lapse_of(self, record: Record) -> None:
        """The record is no more, nor are its challenges."""
        for challenge in tuple(self._of_record.get(record, ())):
            self.lapse(challenge)

    def forget(self, connection_id: str) -> None:
        """The connection ended."""
        slot = self._slots.pop(connection_id, None)
        if slot is not None and slot.outstanding is not None:
            self._close(slot.outstanding)

    def slots(self) -> Mapping[str, Slot]:
        """What each connection has."""
        return self._slots

    def by_record(self) -> Mapping[Record, Mapping[Challenge, None]]:
        """The outstanding ones of each record."""
        return self._of_record

    def __iter__(self) -> Iterator[Challenge]:
        return (each.outstanding for each in self._slots.values() if each.outstanding is not None)

    def __len__(self) -> int:
        return sum(self.per_uid.counts().values())

    def _consume(self, slot: Slot) -> None:
        if slot.outstanding is not None:
            self._close(slot.outstanding)
            slot.consumed[slot.outstanding.id] = None
        elif slot.lapsed is not None:
            slot.consumed[slot.lapsed] = None
        slot.outstanding = slot.lapsed = None
        if len(slot.consumed) > self._remembered:
            del slot.consumed[next(iter(slot.consumed))]

    def _close(self, challenge: Challenge) -> None:
        of_record = self._of_record[challenge.record]
        del of_record[challenge]
        if not of_record:
            del self._of_record[challenge.record]
        self.per_uid.remove(challenge.record.uid)
        self._schedule.cancel(Kind.CHALLENGE, challenge)
