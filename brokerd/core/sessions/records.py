"""The records that are not revoked, found by id, by key and by user."""

from __future__ import annotations

from collections.abc import Iterator

from brokerd.core.sessions.model import Record
from brokerd.core.sessions.refusals import Quota, because
from brokerd.encodings import TERM
from brokerd.errors import forbidden
from brokerd.limits import SessionLimits


class Records:
    """A record is here from its making to its revocation; then nothing of it remains."""

    def __init__(self, limits: SessionLimits) -> None:
        self._by_id: dict[str, Record] = {}
        self._by_key: dict[bytes, Record] = {}
        self._by_uid: dict[int, dict[str, Record]] = {}
        self.terms = Quota("term_limit", limits.terms_per_uid)

    def get(self, record_id: str) -> Record | None:
        """The record of that id."""
        return self._by_id.get(record_id)

    def owned(self, uid: int, record_id: str) -> Record:
        """The record of that id if it is this user's. Raises Refusal (FORBIDDEN)."""
        record = self._by_id.get(record_id)
        if record is None or record.uid != uid:
            raise forbidden()
        return record

    def with_key(self, public_key: bytes) -> Record | None:
        """The one record of that key."""
        return self._by_key.get(public_key)

    def of(self, uid: int) -> list[Record]:
        """All records of a user, by name."""
        return sorted(self._by_uid.get(uid, {}).values(), key=lambda record: record.name)

    def require_unused(self, public_key: bytes) -> None:
        """Raise Refusal (CONFLICT key_in_use) when a record has this key."""
        if public_key in self._by_key:
            raise because("key_in_use")

    def add(self, record: Record) -> None:
        """Keep a new record; its key is unused and its user has room."""
        self._by_id[record.record_id] = record
        self._by_key[record.public_key] = record
        self._by_uid.setdefault(record.uid, {})[record.record_id] = record
        if record.role == TERM:
            self.terms.add(record.uid)
        if record.parent is not None:
            record.parent.children[record.record_id] = record

    def remove(self, record: Record) -> None:
        """Forget a record."""
        del self._by_id[record.record_id]
        del self._by_key[record.public_key]
        of_user = self._by_uid[record.uid]
        del of_user[record.record_id]
        if not of_user:
            del self._by_uid[record.uid]
        if record.role == TERM:
            self.terms.remove(record.uid)
        if record.parent is not None:
            del record.parent.children[record.record_id]

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Record]:
        return iter(tuple(self._by_id.values()))
