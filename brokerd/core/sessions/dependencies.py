"""Deliveries: which recipients heard which bindings, and may therefore ask about their leases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from brokerd.core.sessions.model import Record, Ref
from brokerd.core.sessions.refusals import SharedQuota
from brokerd.core.sessions.schedule import Kind, Schedule
from brokerd.limits import SessionLimits


class Dependencies:
    """Each of one reference at one recipient, until ``dependency_ms`` after its last use."""

    def __init__(self, limits: SessionLimits, schedule: Schedule, own_uid: int | None) -> None:
        self._heard: dict[str, dict[Ref, Record]] = {}
        self._recipients: dict[Record, dict[str, int]] = {}
        self._schedule = schedule
        self._after_ms = limits.dependency_ms
        self.per_recipient = SharedQuota(
            "recipient_dependency_limit", limits.dependencies_per_recipient, own_uid
        )
        self.total = SharedQuota("dependency_limit", limits.dependencies, own_uid)

    def note(self, record: Record, recipient: str, now_ms: int) -> None:
        """The recipient is about to hear the record's binding of now.

        Raises Refusal (RESOURCE_LIMIT); then nothing was noted.
        """
        ref = record.ref
        if not self.has(recipient, ref):
            self.per_recipient.require_one(record.uid, recipient)
            self.total.require_one(record.uid)
            self._add(record, ref, recipient)
        self.refresh(recipient, ref, now_ms)

    def has(self, recipient: str, ref: Ref) -> bool:
        """Whether the recipient heard that binding of late."""
        return ref in self._heard.get(recipient, ())

    def refresh(self, recipient: str, ref: Ref, now_ms: int) -> None:
        """Start the time of one that is there again."""
        self._schedule.set(Kind.DEPENDENCY, (recipient, ref), now_ms + self._after_ms)

    def recipients(self, record: Record) -> Iterable[str]:
        """Who heard any binding of that record."""
        return self._recipients.get(record, ())

    def drop(self, recipient: str, ref: Ref) -> None:
        """One that is there has ended."""
        heard = self._heard[recipient]
        record = heard.pop(ref)
        if not heard:
            del self._heard[recipient]
        counts = self._recipients[record]
        counts[recipient] -= 1
        if not counts[recipient]:
            del counts[recipient]
        if not counts:
            del self._recipients[record]
        self.per_recipient.remove(record.uid, recipient)
        self.total.remove(record.uid)
        self._schedule.cancel(Kind.DEPENDENCY, (recipient, ref))

    def forget(self, recipient: str) -> None:
        """The recipient ended."""
        for ref in tuple(self._heard.get(recipient, ())):
            self.drop(recipient, ref)

    def forget_record(self, record: Record) -> None:
        """The record is no more."""
        for recipient in tuple(self._recipients.get(record, ())):
            for ref in [each for each in self._heard[recipient] if each[0] == record.record_id]:
                self.drop(recipient, ref)

    def clear(self) -> None:
        """Nobody heard anything."""
        for recipient in tuple(self._heard):
            self.forget(recipient)

    def counts(self) -> dict[Record, dict[str, int]]:
        """How many bindings of each record each recipient heard."""
        return self._recipients

    def __len__(self) -> int:
        return self.total.all.counts().get(None, 0)

    def __iter__(self) -> Iterator[tuple[str, Ref, Record]]:
        return (
            (who, ref, record) for who, all_ in self._heard.items() for ref, record in all_.items()
        )

    def _add(self, record: Record, ref: Ref, recipient: str) -> None:
        self._heard.setdefault(recipient, {})[ref] = record
        counts = self._recipients.setdefault(record, {})
        counts[recipient] = counts.get(recipient, 0) + 1
        self.per_recipient.add(record.uid, recipient)
        self.total.add(record.uid)
