"""All that the broker knows about sessions, in one place; and the time that it goes by."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from brokerd.core.sessions.bindings import Bindings
from brokerd.core.sessions.challenges import Challenges
from brokerd.core.sessions.dependencies import Dependencies
from brokerd.core.sessions.grants import Grants
from brokerd.core.sessions.interests import Interests
from brokerd.core.sessions.issued_names import IssuedNames
from brokerd.core.sessions.model import Effect, Record, Ref
from brokerd.core.sessions.notices import Notices
from brokerd.core.sessions.records import Records
from brokerd.core.sessions.schedule import Schedule
from brokerd.errors import forbidden
from brokerd.limits import SessionLimits


class Caller(NamedTuple):
    """Who uses a verb: a connection, and its user."""

    connection_id: str
    uid: int


class Tables:
    """State without policy. ``now_ms`` never goes back; ``own_uid`` is the broker's user."""

    def __init__(
        self,
        *,
        epoch: str,
        limits: SessionLimits,
        new_id: Callable[[], str],
        new_bytes: Callable[[int], bytes],
        own_uid: int | None,
    ) -> None:
        self.epoch = epoch
        self.limits = limits
        self.new_id = new_id
        self.new_bytes = new_bytes
        self.now_ms = 0
        self.clock_failed = False
        self.schedule = Schedule()
        self.names = IssuedNames(limits, new_bytes, own_uid)
        self.records = Records(limits)
        self.bindings = Bindings()
        self.grants = Grants(limits, self.schedule, own_uid)
        self.challenges = Challenges(limits, self.schedule)
        self.interests = Interests(limits, self.schedule)
        self.dependencies = Dependencies(limits, self.schedule, own_uid)
        self.notices = Notices(limits)
        self.effects: list[Effect] = []

    def held(self, caller: Caller, ref: Ref) -> Record:
        """The record that the caller holds, if ``ref`` names this very binding.

        Raises Refusal (FORBIDDEN).
        """
        record = self.bindings.holds(caller.connection_id)
        if record is None or record.uid != caller.uid or record.ref != ref:
            raise forbidden()
        return record

    def lease_remaining(self, record: Record) -> int:
        """Milliseconds: the least of the record and its ancestors; 0 unless attached."""
        own = max(0, record.ends_ms - self.now_ms) if record.attached else 0
        return own if record.parent is None else min(own, self.lease_remaining(record.parent))
