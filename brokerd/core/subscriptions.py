"""Who wants what: topics to receive, and services whose directed events are welcome."""

from __future__ import annotations

from collections.abc import Iterable

from brokerd.core.charges import Meter
from brokerd.core.connections import Connection
from brokerd.errors import ErrorCode, Refusal
from brokerd.limits import Limits


class Subscriptions:
    """Subscriptions of all connections; both kinds share one charge per connection."""

    def __init__(self, limits: Limits) -> None:
        self._subscribers: dict[str, dict[Connection, None]] = {}
        self.per_connection = Meter(
            "subscriptions_per_connection",
            limits.subscriptions_per_connection,
            "unsubscribe from something first",
        )

    def to_topic(self, topic: str, connection: Connection) -> None:
        """Subscribe to ``topic``; again is no error. Raises Refusal (RESOURCE_LIMIT)."""
        self._add(topic, connection, connection.topics)
        self._subscribers.setdefault(topic, {})[connection] = None

    def to_service(self, name: str, connection: Connection) -> None:
        """Welcome directed events of who serves ``name``. Raises Refusal (RESOURCE_LIMIT)."""
        self._add(name, connection, connection.services)

    def from_topic(self, topic: str, connection: Connection) -> None:
        """End a subscription to a topic. Raises Refusal (NOT_FOUND)."""
        self._remove(topic, connection, connection.topics)
        subscribers = self._subscribers[topic]
        del subscribers[connection]
        if not subscribers:
            del self._subscribers[topic]

    def from_service(self, name: str, connection: Connection) -> None:
        """End a subscription to a service. Raises Refusal (NOT_FOUND)."""
        self._remove(name, connection, connection.services)

    def subscribers(self, topic: str) -> Iterable[Connection]:
        """Who receives ``topic``, in order of subscription."""
        return self._subscribers.get(topic, ())

    def drop(self, connection: Connection) -> None:
        """End all subscriptions of a connection that goes."""
        for topic in tuple(connection.topics):
            self.from_topic(topic, connection)
        for name in tuple(connection.services):
            self.from_service(name, connection)

    def __len__(self) -> int:
        return sum(self.per_connection.counts().values())

    def _add(self, name: str, connection: Connection, held: dict[str, None]) -> None:
        if name not in held:
            self.per_connection.require(connection)
            self.per_connection.add(connection)
            held[name] = None

    def _remove(self, name: str, connection: Connection, held: dict[str, None]) -> None:
        if name not in held:
            raise Refusal(ErrorCode.NOT_FOUND, "this connection is not subscribed to that")
        del held[name]
        self.per_connection.remove(connection)
