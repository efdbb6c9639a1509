"""Reply slots: which request waits for whose answer.

A slot is opened when a request is queued to its recipient, and closed by the first of: the answer
of that very connection, the end of either side, the end of the name, or ``pending_ms``. An answer
without a slot goes nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from brokerd.core.charges import Meter
from brokerd.core.connections import Connection
from brokerd.core.deadlines import Alarm, Deadlines
from brokerd.limits import Limits

Key: TypeAlias = "tuple[str, str]"
"""Connection id of the requester, and its request id."""


@dataclass(slots=True, eq=False)
class Slot:
    """One open reply slot. ``protected``: it is of a record, or asks for one."""

    requester: Connection
    id: str
    recipient: Connection
    name: str
    command: str
    protected: bool = False

    @property
    def key(self) -> Key:
        """What finds it."""
        return self.requester.id, self.id


class Pending:
    """All open slots, by key, by requester and by recipient."""

    def __init__(self, limits: Limits, alarm: Alarm) -> None:
        self._slots: dict[Key, Slot] = {}
        self._asked: dict[Connection, dict[Key, Slot]] = {}
        self._asking: dict[Connection, dict[Key, Slot]] = {}
        self.deadlines: Deadlines[Key] = Deadlines(limits.pending_ms, alarm)
        self.per_connection = Meter(
            "pending_per_connection",
            limits.pending_per_connection,
            "wait for answers before asking more",
        )
        self.per_recipient = Meter(
            "pending_per_recipient",
            limits.pending_per_recipient,
            "the service has too much to answer; try again later",
        )

    def get(self, requester_id: str, request_id: str) -> Slot | None:
        """The open slot of that request."""
        return self._slots.get((requester_id, request_id))

    def require_room(self, requester: Connection, recipient: Connection) -> None:
        """Raise Refusal (RESOURCE_LIMIT) unless one more may be opened between these two."""
        self.per_connection.require(requester)
        self.per_recipient.require(recipient)

    def open(self, slot: Slot, now_ms: int) -> None:
        """Open ``slot``; its key must be free and room must have been required."""
        key = slot.key
        self._slots[key] = slot
        self._asking.setdefault(slot.requester, {})[key] = slot
        self._asked.setdefault(slot.recipient, {})[key] = slot
        self.deadlines.add(key, now_ms)
        self.per_connection.add(slot.requester)
        self.per_recipient.add(slot.recipient)

    def close(self, slot: Slot) -> None:
        """Close an open slot and give its charges back."""
        key = slot.key
        del self._slots[key]
        _discard(self._asking, slot.requester, key)
        _discard(self._asked, slot.recipient, key)
        self.deadlines.discard(key)
        self.per_connection.remove(slot.requester)
        self.per_recipient.remove(slot.recipient)

    def asked_of(self, recipient: Connection, name: str | None = None) -> list[Slot]:
        """What ``recipient`` has not answered (under ``name`` only, when one is given)."""
        slots = self._asked.get(recipient, {}).values()
        return [slot for slot in slots if name is None or slot.name == name]

    def asked_by(self, requester: Connection) -> list[Slot]:
        """What ``requester`` waits for."""
        return list(self._asking.get(requester, {}).values())

    def expired(self, now_ms: int, at_most: int) -> list[Slot]:
        """Close and return slots that were open for too long."""
        slots = [self._slots[key] for key in self.deadlines.expired(now_ms, at_most)]
        for slot in slots:
            self.close(slot)
        return slots

    def all(self) -> Iterable[Slot]:
        """Every open slot."""
        return self._slots.values()

    def __len__(self) -> int:
        return len(self._slots)


def _discard(index: dict[Connection, dict[Key, Slot]], owner: Connection, key: Key) -> None:
    slots = index[owner]
    del slots[key]
    if not slots:
        del index[owner]
