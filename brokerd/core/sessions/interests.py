"""Who waits for a key to be granted or to become provable again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from brokerd.core.sessions.refusals import Quota, because
from brokerd.core.sessions.schedule import Kind, Schedule
from brokerd.errors import Refusal
from brokerd.limits import SessionLimits


class Interests:
    """One key per connection, for ``interest_ms``."""

    def __init__(self, limits: SessionLimits, schedule: Schedule) -> None:
        self._keys: dict[str, tuple[int, bytes]] = {}
        self._waiting: dict[tuple[int, bytes], dict[str, None]] = {}
        self._schedule = schedule
        self._after_ms = limits.interest_ms
        self.per_uid = Quota("interest_limit", limits.interests_per_uid)

    def note(self, connection_id: str, uid: int, public_key: bytes, now_ms: int) -> Refusal | None:
        """The connection waits for this key, and for no other; why not, if there is no room."""
        if connection_id not in self._keys and self.per_uid.full(uid):
            return because(
                "interest_limit", limit=self.per_uid.cap, retry_after_ms=str(self._after_ms)
            )
        self.drop(connection_id)
        self._keys[connection_id] = (uid, public_key)
        self._waiting.setdefault((uid, public_key), {})[connection_id] = None
        self.per_uid.add(uid)
        self._schedule.set(Kind.INTEREST, connection_id, now_ms + self._after_ms)
        return None

    def drop(self, connection_id: str) -> None:
        """It waits no longer; no error when it did not."""
        waited = self._keys.pop(connection_id, None)
        if waited is None:
            return
        connections = self._waiting[waited]
        del connections[connection_id]
        if not connections:
            del self._waiting[waited]
        self.per_uid.remove(waited[0])
        self._schedule.cancel(Kind.INTEREST, connection_id)

    def of(self, uid: int, public_key: bytes) -> Iterable[str]:
        """The connections of that user that wait for that key."""
        return self._waiting.get((uid, public_key), ())

    def clear(self) -> None:
        """Nobody waits any more."""
        for connection_id in tuple(self._keys):
            self.drop(connection_id)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[tuple[str, tuple[int, bytes]]]:
        return iter(self._keys.items())
