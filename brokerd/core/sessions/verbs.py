"""What callers may do, each verb with the refusals that it can raise."""

from __future__ import annotations

from brokerd.core.sessions import life, making, proving
from brokerd.core.sessions.model import Challenge, Grant, Record, Ref
from brokerd.core.sessions.refusals import because
from brokerd.core.sessions.tables import Caller, Tables
from brokerd.errors import Refusal, forbidden


class Verbs:
    """The verbs of ``Sessions``. A caller is a connection and its uid."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def require_clock(self) -> None:
        """Raise Refusal (UNAVAILABLE clock_unavailable) once the clock has failed."""
        if self._tables.clock_failed:
            raise because("clock_unavailable")

    def allocate(
        self, connection_id: str, uid: int, public_key: bytes, signature: bytes, policy: str
    ) -> Record:
        """Make a Term's record for the key that signed this, attached here.

        Raises Refusal: already_bound, INVALID_ARGUMENT, FORBIDDEN, key_in_use, term_limit,
        issued_name_limit, name_collision.
        """
        self.require_clock()
        return making.allocate(
            self._tables, Caller(connection_id, uid), public_key, signature, policy
        )

    def create_grant(  # noqa: PLR0917 - in the order of the verb's fields
        self,
        connection_id: str,
        uid: int,
        parent: Ref,
        pane_id: int,
        pane_generation: int,
        public_key: bytes,
        capabilities: tuple[str, ...],
    ) -> Grant:
        """Make a pending record for the shell of a pane of the Term that this connection holds.

        Raises Refusal: FORBIDDEN, INVALID_ARGUMENT, key_in_use, STALE_GENERATION, grant_limit,
        issued_name_limit, name_collision.
        """
        self.require_clock()
        record = self._tables.held(Caller(connection_id, uid), parent)
        pane = making.Pane(pane_id, pane_generation)
        return making.create_grant(self._tables, record, pane, public_key, capabilities)

    def fetch_grant(self, connection_id: str, uid: int, public_key: bytes) -> Grant:
        """The grant of that key made by the Term that this connection holds; else FORBIDDEN."""
        self.require_clock()
        return making.fetch_grant(self._tables, Caller(connection_id, uid), public_key)

    def challenge_record(  # noqa: PLR0917 - in the order of the verb's fields
        self,
        connection_id: str,
        uid: int,
        record_id: str,
        incarnation: str,
        purpose: str,
        grant_id: str | None,
    ) -> Challenge:
        """What to sign to enrol or resume that record.

        Raises Refusal: INVALID_ARGUMENT, FORBIDDEN, grant_consumed, challenge_outstanding,
        generation_limit, challenge_limit.
        """
        self.require_clock()
        selector = proving.Selector(record_id, incarnation, purpose, grant_id)
        return proving.challenge_record(self._tables, Caller(connection_id, uid), selector)

    def challenge_key(
        self, connection_id: str, uid: int, public_key: bytes
    ) -> tuple[Challenge, Refusal | None]:
        """What to sign to enrol or resume the record of that key; the connection waits for it.

        Second: why its waiting was not noted, if so. Raises Refusal: FORBIDDEN (and the waiting is
        noted if there is room), challenge_outstanding, generation_limit, challenge_limit.
        """
        self.require_clock()
        return proving.challenge_key(self._tables, Caller(connection_id, uid), public_key)

    def prove(
        self, connection_id: str, uid: int, challenge_id: str | None, signature: bytes
    ) -> Record:
        """Attach the record of the outstanding challenge here, if this is its signature.

        ``challenge_id`` None: an attempt that names none; it takes the challenge too. Raises
        Refusal: challenge_consumed, FORBIDDEN, EXPIRED, already_bound, generation_limit,
        binding_pending, grant_consumed.
        """
        self.require_clock()
        return proving.prove(self._tables, Caller(connection_id, uid), challenge_id, signature)

    def renew(self, connection_id: str, uid: int, target: Ref) -> Record:
        """Start the lease of the record held here again. Raises Refusal (FORBIDDEN)."""
        self.require_clock()
        record = self._tables.held(Caller(connection_id, uid), target)
        life.refresh(self._tables, record)
        return record

    def revoke(self, connection_id: str, uid: int, target: Ref) -> bool:
        """Revoke the record held here, or a child of it; False when it was already.

        Raises Refusal (FORBIDDEN), also for a binding that another has followed.
        """
        self.require_clock()
        if self._tables.bindings.retired(connection_id, target):
            return False
        record = self._tables.records.owned(uid, target.record_id)
        holds = self._tables.bindings.holds(connection_id)
        if holds is None or holds not in (record, record.parent) or record.ref != target:
            raise forbidden()
        life.revoke(self._tables, record)
        return True

    def self_record(self, uid: int, record_id: str) -> Record:
        """That record, if it is of that user. Raises Refusal (FORBIDDEN)."""
        self.require_clock()
        return self._tables.records.owned(uid, record_id)

    def lease_check(
        self,
        connection_id: str,
        uid: int,  # noqa: ARG002 - the caller, as for every verb
        target: Ref,
    ) -> int:
        """How long (ms) a binding that was heard here is good for; it stays checkable.

        Of any user: who heard it may ask. Raises Refusal (NOT_FOUND dependency_missing).
        """
        self.require_clock()
        tables = self._tables
        record = tables.records.get(target.record_id)
        heard = tables.dependencies.has(connection_id, target)
        if not heard or record is None or not record.attached or record.ref != target:
            raise because("dependency_missing")
        tables.dependencies.refresh(connection_id, target, tables.now_ms)
        return tables.lease_remaining(record)

    def list(self, uid: int) -> list[Record]:
        """All records of that user, by name."""
        self.require_clock()
        return self._tables.records.of(uid)
