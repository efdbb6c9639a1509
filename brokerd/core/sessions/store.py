"""Everything about verified sessions behind one object."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable

from brokerd.core.sessions import life
from brokerd.core.sessions.model import Effect, Record, Told
from brokerd.core.sessions.tables import Tables
from brokerd.core.sessions.verbs import Verbs
from brokerd.core.sessions.verify import verify
from brokerd.limits import SessionLimits


def _random_id() -> str:
    return secrets.token_hex(16)


class Sessions(Verbs):
    """The store. It knows connections by id and uid, and time by the last ``advance``.

    Whoever uses it advances it before anything else, says ``lost`` of every connection that ends,
    and asks nothing in the name of one that has ended. Verbs raise Refusal; a refusal changes
    nothing but the challenge that an attempt took, and who waits for a key. ``new_id``
    gives 32 hex digits, never the same. ``own_uid`` is the broker's user: half of what all users
    share is kept for it.
    """

    def __init__(
        self,
        *,
        epoch: str,
        node: str,
        limits: SessionLimits,
        new_id: Callable[[], str] = _random_id,
        new_bytes: Callable[[int], bytes] = secrets.token_bytes,
        own_uid: int | None = None,
    ) -> None:
        self.epoch = epoch
        self.node = node
        tables = Tables(
            epoch=epoch, limits=limits, new_id=new_id, new_bytes=new_bytes, own_uid=own_uid
        )
        super().__init__(tables)
        self.notices = tables.notices
        """What there is to be told, to whom."""

    # Time

    def advance(self, now_ms: int) -> None:
        """Move the clock, and end what has ended by then, in the order in which it did.

        A lease that ended long ago suspends as of then, so that its window may be over too.
        """
        self._tables.now_ms = max(self._tables.now_ms, now_ms)
        for due, kind, what in self._tables.schedule.expired(self._tables.now_ms):
            life.end(self._tables, kind, what, due)

    def next_deadline(self) -> int | None:
        """When ``advance`` may have something to end: never too late, maybe too early."""
        return self._tables.schedule.next()

    def fail_clock(self) -> None:
        """The clock cannot be read: everything is revoked, and every verb refused from now on."""
        life.fail_clock(self._tables)

    def lost(self, connection_id: str) -> None:
        """That connection ended; unknown is no error. What it held is suspended."""
        life.lost(self._tables, connection_id)

    def binding(self, connection_id: str) -> Record | None:
        """The record that this connection holds now."""
        return self._tables.bindings.holds(connection_id)

    def lost_binding(self, connection_id: str) -> bool:
        """Whether this connection held a record and holds none now."""
        bindings = self._tables.bindings
        return bindings.ever(connection_id) and bindings.holds(connection_id) is None

    def lease_remaining(self, record: Record) -> int:
        """Milliseconds: the least of the record and its ancestors; 0 unless attached."""
        return self._tables.lease_remaining(record)

    def delivering(self, record: Record, recipient_connection: str) -> None:
        """A message of an attached record is about to go to that connection, which may then check.

        Raises Refusal (recipient_dependency_limit, dependency_limit); then nothing was noted.
        """
        self._tables.dependencies.note(record, recipient_connection, self._tables.now_ms)

    # Notices and effects

    def take_notice(self, connection_id: str) -> Told | None:
        """What to tell this connection next, a gap first; None when there is nothing."""
        return self._tables.notices.take(connection_id)

    def restore(self, connection_id: str, taken: Told) -> None:
        """What was taken for a connection that is still there could not be sent."""
        self._tables.notices.restore(connection_id, taken)

    def waiting(self) -> Iterable[str]:
        """The connections that have something to be told."""
        return self._tables.notices.waiting()

    def effects(self) -> list[Effect]:
        """What followed for routing since this was last asked, in order."""
        taken, self._tables.effects = self._tables.effects, []
        return taken

    # Audit

    def statistics(self) -> dict[str, int]:
        """Counts of all that is held; all 0 when every connection is gone and time has passed."""
        tables = self._tables
        return {
            "records": len(tables.records),
            "terms": sum(tables.records.terms.counts().values()),
            "grants": len(tables.grants),
            "challenges": len(tables.challenges),
            "dependencies": len(tables.dependencies),
            "notices": len(tables.notices),
            "gaps": tables.notices.gaps,
            "interests": len(tables.interests),
            "bindings": len(tables.bindings.held()),
        }

    def verify(self) -> None:
        """Recompute every count, index and rule. Raises AssertionError with the broken one."""
        verify(self._tables)
