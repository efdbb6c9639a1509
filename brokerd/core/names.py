"""Service names: addresses that belong to one connection each. Never authority."""

from __future__ import annotations

from collections.abc import Iterator

from brokerd.core.charges import Meter
from brokerd.core.connections import Connection
from brokerd.errors import ErrorCode, Refusal
from brokerd.limits import Limits


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

        Raises Refusal: CONFLICT (another holds it), RESOURCE_LIMIT (too many names).
        """
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
        self.per_uid.require(connection.peer.uid)
        self._holders[name] = connection
        connection.names[name] = None
        self._charge(connection, 1)

    def deregister(self, name: str, connection: Connection) -> None:
        """Take ``name`` from ``connection``. Raises Refusal (NOT_FOUND) when it has it not."""
        if name not in connection.names:
            raise Refusal(ErrorCode.NOT_FOUND, "this connection does not serve that name")
        del self._holders[name]
        del connection.names[name]
        self._charge(connection, -1)

    def __iter__(self) -> Iterator[tuple[str, Connection]]:
        return iter(sorted(self._holders.items(), key=lambda item: item[0]))

    def __len__(self) -> int:
        return len(self._holders)

    def _charge(self, connection: Connection, amount: int) -> None:
        self.per_connection.add(connection, amount)
        self.per_uid.add(connection.peer.uid, amount)
