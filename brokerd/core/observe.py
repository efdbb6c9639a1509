"""Observing a service: what was said to it and by it, when and how large; never what.

An observer is a ring of metadata, bounded in count and bytes, of one service that the broker was
told may be observed. Bodies never come here, so none can get out. Without observers nothing is
done.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Final, TypeVar

from brokerd import bodies
from brokerd.core.charges import Meter
from brokerd.core.connections import Connection
from brokerd.errors import ErrorCode, Refusal
from brokerd.limits import MAX_MESSAGE_BYTES, Limits

Owner = TypeVar("Owner")

MAX_RING_BYTES: Final = 8 * MAX_MESSAGE_BYTES
MAX_READ_BYTES: Final = MAX_MESSAGE_BYTES - 65_536
"""Of the events in one answer to broker.observe.read; the rest comes with the next."""

TO_SERVICE: Final = "in"
FROM_SERVICE: Final = "out"
DELIVERED: Final = "delivered"
DROPPED: Final = "dropped"
REFUSED: Final = "refused"


@dataclass(slots=True, kw_only=True)
class Sight:
    """One message, seen from outside: metadata. ``size`` is that of its body in bytes."""

    direction: str
    outcome: str
    from_: str
    to: str
    command: str
    type: str
    size: int
    protected: bool
    id: str | None = None
    rc: int | None = None

    def encode(self, seq: int, time_ms: int) -> bytes:
        """The event as JSON."""
        fields = asdict(self)
        fields["from"] = fields.pop("from_")
        omitted = "native_session_protected" if fields.pop("protected") else "metadata_only"
        told = {"seq": seq, "time_ms": time_ms, **fields}
        return bodies.encode({**told, "payload": None, "payload_omitted": omitted})


class Observer:
    """The ring of one observer. The oldest give way; ``dropped`` counts those."""

    def __init__(self, service: str, globs: tuple[str, ...], ring: int) -> None:
        self.service = service
        self.dropped = 0
        self.bytes = 0
        self._globs = globs
        self._ring = ring
        self._seq = 0
        self._events: deque[tuple[int, bytes]] = deque()

    def see(self, sight: Sight, time_ms: int) -> None:
        """Keep ``sight``, when its command is one of those asked for."""
        if not any(fnmatchcase(sight.command, glob) for glob in self._globs):
            return
        self._seq += 1
        event = sight.encode(self._seq, time_ms)
        self._events.append((self._seq, event))
        self.bytes += len(event)
        while len(self._events) > self._ring or self.bytes > MAX_RING_BYTES:
            self.bytes -= len(self._events.popleft()[1])
            self.dropped += 1

    def read(self, after: int) -> bytes:
        """The body that tells the events whose ``seq`` is above ``after``, as many as fit."""
        events, size = [], 0
        for seq, event in self._events:
            if seq > after:
                size += len(event) + 1
                if size > MAX_READ_BYTES:
                    break
                events.append(event)
        return b'{"events":[%b],"dropped":%d}' % (b",".join(events), self.dropped)


class Observers:
    """All observers, by the connection that started them and by the service they look at."""

    def __init__(self, limits: Limits) -> None:
        self._held: dict[Connection, dict[str, Observer]] = {}
        self.watching: dict[str, dict[str, Observer]] = {}
        """By service; empty when nobody observes anything: look before making a ``Sight``."""
        remedy = "stop one first"
        self.per_connection = Meter(
            "observers_per_connection", limits.observers_per_connection, remedy
        )
        self.all = Meter("observers", limits.observers, remedy)

    def start(self, observe_id: str, observer: Observer, connection: Connection) -> None:
        """Let ``observer`` see from now on. Raises Refusal (RESOURCE_LIMIT)."""
        self.per_connection.require(connection)
        self.all.require(None)
        self.per_connection.add(connection)
        self.all.add(None)
        self._held.setdefault(connection, {})[observe_id] = observer
        self.watching.setdefault(observer.service, {})[observe_id] = observer

    def get(self, observe_id: str, connection: Connection) -> Observer:
        """The observer that ``connection`` started. Raises Refusal (NOT_FOUND)."""
        observer = self._held.get(connection, {}).get(observe_id)
        if observer is None:
            raise Refusal(ErrorCode.NOT_FOUND, "this connection started no such observer")
        return observer

    def stop(self, observe_id: str, connection: Connection) -> None:
        """End an observer of ``connection``. Raises Refusal (NOT_FOUND)."""
        service = self.get(observe_id, connection).service
        _discard(self._held, connection, observe_id)
        _discard(self.watching, service, observe_id)
        self.per_connection.remove(connection)
        self.all.remove(None)

    def drop(self, connection: Connection) -> None:
        """End every observer of a connection that goes."""
        for observe_id in tuple(self._held.get(connection, ())):
            self.stop(observe_id, connection)

    def see(self, services: Iterable[str], sight: Sight, now_ms: int) -> None:
        """Tell those who observe one of ``services``."""
        for service in services:
            for observer in self.watching.get(service, {}).values():
                observer.see(sight, now_ms)

    def holders(self) -> Iterable[Connection]:
        """The holder of each observer, as often as it has one; for the audit."""
        return (each for each, held in self._held.items() for _ in held)

    def __len__(self) -> int:
        return sum(map(len, self._held.values()))


def _discard(index: dict[Owner, dict[str, Observer]], owner: Owner, observe_id: str) -> None:
    held = index[owner]
    del held[observe_id]
    if not held:
        del index[owner]
