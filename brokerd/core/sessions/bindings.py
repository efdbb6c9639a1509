"""Which connection holds which record, and which have lost one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from brokerd.core.sessions.model import Record, Ref

RETIRED: Final = 256
"""Revoked children that a Term's record remembers."""


class Bindings:
    """One record per connection, one connection per record.

    A connection is known here once it has held a record, until it ends.
    """

    def __init__(self) -> None:
        self._held: dict[str, Record] = {}
        self._lost: dict[str, dict[Record, None]] = {}
        self._retired: dict[str, Ref] = {}

    def holds(self, connection_id: str) -> Record | None:
        """The record that this connection holds now."""
        return self._held.get(connection_id)

    def ever(self, connection_id: str) -> bool:
        """Whether this connection holds a record or held one."""
        return connection_id in self._lost

    def attach(self, record: Record, connection_id: str) -> str | None:
        """Give the record to that connection, which holds no other; who held it until now."""
        before = record.connection_id
        if before is not None:
            del self._held[before]
        self.leave(record)
        record.connection_id = connection_id
        self._held[connection_id] = record
        self._lost.setdefault(connection_id, {})
        return before

    def release(self, record: Record) -> str | None:
        """Take the record from who holds it, who is then its former holder; who that is."""
        connection_id = record.connection_id
        if connection_id is not None:
            del self._held[connection_id]
            record.connection_id = None
            record.former = connection_id
            self._lost[connection_id][record] = None
        return connection_id

    def leave(self, record: Record) -> None:
        """Its former holder, if any, has nothing to do with it any more."""
        if record.former is not None:
            del self._lost[record.former][record]
            record.former = None

    def retire(self, record: Record) -> None:
        """It was revoked: its former holder and its parent may say so once more."""
        if record.former is not None:
            self._retired[record.former] = record.ref
        if record.parent is not None:
            kept = record.parent.retired
            kept[record.ref] = None
            if len(kept) > RETIRED:
                del kept[next(iter(kept))]
        self.leave(record)

    def retired(self, connection_id: str, target: Ref) -> bool:
        """Whether that was revoked, and was this connection's or a child of what it holds."""
        holds = self._held.get(connection_id)
        children = holds.retired if holds is not None else {}
        return target in children or self._retired.get(connection_id) == target

    def forget(self, connection_id: str) -> None:
        """The connection ended; it holds nothing any more."""
        for record in self._lost.pop(connection_id, {}):
            record.former = None
        self._retired.pop(connection_id, None)

    def held(self) -> Mapping[str, Record]:
        """All bindings, by connection."""
        return self._held

    def lost(self) -> Mapping[str, Mapping[Record, None]]:
        """Every known connection, with the records that it was the last to hold."""
        return self._lost
