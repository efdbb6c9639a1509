"""Grants that may still be used."""

from __future__ import annotations

from collections.abc import Iterator

from brokerd.core.sessions.model import Grant, GrantState, Record
from brokerd.core.sessions.refusals import Quota, SharedQuota
from brokerd.core.sessions.schedule import Kind, Schedule
from brokerd.limits import SessionLimits


class Grants:
    """The pending ones, counted by parent and together."""

    def __init__(self, limits: SessionLimits, schedule: Schedule, own_uid: int | None) -> None:
        self._pending: dict[Grant, None] = {}
        self._schedule = schedule
        self.per_parent = Quota("grant_limit", limits.grants_per_parent)
        self.total = SharedQuota("grant_limit", limits.grants, own_uid)

    def require_room(self, parent: Record) -> None:
        """Raise Refusal (RESOURCE_LIMIT grant_limit) unless one more may be pending."""
        self.per_parent.require_one(parent)
        self.total.require_one(parent.uid)

    def open(self, grant: Grant) -> None:
        """Keep a new grant until it is used, or ends."""
        self._pending[grant] = None
        self.per_parent.add(grant.parent)
        self.total.add(grant.parent.uid)
        self._schedule.set(Kind.GRANT, grant, grant.expires_ms)

    def close(self, grant: Grant, state: GrantState) -> None:
        """It has been used, has ended or was revoked. Raises AssertionError unless pending."""
        grant.move(state)
        del self._pending[grant]
        self.per_parent.remove(grant.parent)
        self.total.remove(grant.parent.uid)
        self._schedule.cancel(Kind.GRANT, grant)

    def __len__(self) -> int:
        return len(self._pending)

    def __iter__(self) -> Iterator[Grant]:
        return iter(self._pending)
