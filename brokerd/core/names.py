"""Service names: addresses that belong to one connection each. Never authority.

A peer registers the names it likes; an allocated name is the route to a record, given and taken by
the broker alone, with the record. What peers register is charged to them; routes are not, since
records have bounds of their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from brokerd.core.charges import Meter
from brokerd.core.connections import Connection
from brokerd.errors import ErrorCode, Refusal, forbidden
from brokerd.limits import Limits
from brokerd.wire import ALLOCATED_NAME


class Names:
    """Which connection holds which name. A name is never taken from a living holder."""

    def __init__(self, limits: Limits) -> None:
        self._holders: dict[str, Connection] = {}
        remedy = "deregister one first"
        self.per_connection = Meter("names_per_connection", limits.names_per_connection, remedy)
        self.per_uid = Meter("names_per_uid", limits.names_per_uid, remedy)

    def holder(self, name: str) -> Connection | None:
        """The connection at which ``name`` is served, if any."""
        return self._holders.get(name)

    def register(self, name: str, connection: Connection) -> None:
        """Give ``name`` to ``connection``; again is no error.

        Raises Refusal: FORBIDDEN (an allocated name), CONFLICT (another holds it, or this
        connection holds a record), RESOURCE_LIMIT (too many names).
        """
        _require_ordinary(name)
        if connection.route is not None:
            raise Refusal(
                ErrorCode.CONFLICT,
                "a connection that holds a record has no other name; use another connection",
                reason="bound_connection",
            )
        holder = self._holders.get(name)
        if holder is connection:
            return
        if holder is not None:
            raise Refusal(
                ErrorCode.CONFLICT,
                "another connection serves that name; choose a different one or end the other",
                reason="name_in_use",
            )
        self.per_connection.require(connection)
        self.per_uid.require(connection.owner)
        self._give(name, connection)
        self._charge(connection, 1)

    def deregister(self, name: str, connection: Connection) -> None:
        """Take a registered ``name`` from ``connection``.

        Raises Refusal: FORBIDDEN (an allocated name), NOT_FOUND (not a name of the connection).
        """
        _require_ordinary(name)
        if name not in connection.names:
            raise Refusal(ErrorCode.NOT_FOUND, "this connection does not serve that name")
        self._take(name, connection)
        self._charge(connection, -1)

    def allocate(self, name: str, connection: Connection) -> None:
        """Make ``name`` the route to ``connection``, which must have no other name."""
        connection.route, connection.lost = name, False
        self._give(name, connection)

    def release(self, connection: Connection) -> None:
        """Take the allocated name from ``connection``, if it has one."""
        if connection.route is not None:
            self._take(connection.route, connection)
            connection.route, connection.lost = None, True

    def drop(self, connection: Connection) -> None:
        """Take every name from a connection that goes."""
        self.release(connection)
        for name in tuple(connection.names):
            self.deregister(name, connection)

    def __iter__(self) -> Iterator[tuple[str, Connection]]:
        return iter(sorted(self._holders.items(), key=lambda item: item[0]))

    def __len__(self) -> int:
        return len(self._holders)

    def _give(self, name: str, connection: Connection) -> None:
        self._holders[name] = connection
        connection.names[name] = None

    def _take(self, name: str, connection: Connection) -> None:
        del self._holders[name]
        del connection.names[name]

    def _charge(self, connection: Connection, amount: int) -> None:
        self.per_connection.add(connection, amount)
        self.per_uid.add(connection.owner, amount)


def _require_ordinary(name: str) -> None:
    if ALLOCATED_NAME.fullmatch(name):
        raise forbidden()
