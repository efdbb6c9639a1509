"""Which callers will never be heard again, so that nothing needs to be kept of their request ids.

Nothing tells a Term that an ambient connection has ended; it asks the broker when it keeps the
marks of many. The answer comes over the connection that requests come over, behind all that those
connections ever sent, and what has come waits among the mutations at most. So once a turn that was
taken after the answer has come, nothing of them is left, however long that took.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

import trio

from brokerd.client import Bus, BusError
from termnode.control.native.ledger import Ledger
from termnode.lanes.calls import Sealed
from termnode.service.state import Work

BROKER: Final = "brokerd"
CONNECTED: Final = "broker.connected"

AT_ONCE: Final = 128
"""Connections in one question (specs/bus.md)."""

ASK_S: Final = 5.0
"""For the broker to answer one question; without an answer nothing is given up."""

PAUSE_S: Final = 5.0
"""Between two rounds of questions."""


class Departures:
    """``add`` puts work among the mutations of all lanes, behind those that have come."""

    def __init__(self, ledger: Ledger[Sealed], add: Callable[[Work], None]) -> None:
        self._ledger = ledger
        self._add = add
        self._many = trio.Event()
        self._passed = trio.Event()
        self._passed.set()
        self._epoch = ""
        ledger.on_many(self._ring)

    def under(self, epoch: str) -> None:
        """The Term has proved itself to the broker with this epoch; its record is another then.

        To be called before it acts by that. What came by an earlier broker and still waits names
        an earlier record, and is refused for that.
        """
        if epoch != self._epoch:
            self._epoch = epoch
            self._ledger.clear_marks()

    async def run(self, bus: Bus) -> None:
        """Ask whenever there are many; ``bus`` is what requests come over. Ends by cancellation."""
        while True:
            await self._many.wait()
            self._many = trio.Event()
            with suppress(BusError):
                await self._ask(bus)
            await trio.sleep(PAUSE_S)

    def _ring(self) -> None:
        self._many.set()

    async def _ask(self, bus: Bus) -> None:
        """Raises BusError."""
        await self._passed.wait()  # an earlier turn may be waited for still
        ids = self._ledger.connections()
        gone: list[str] = []
        for start in range(0, len(ids), AT_ONCE):
            gone += await _gone(bus, ids[start : start + AT_ONCE])
        if gone:
            self._passed = trio.Event()
            self._add(partial(self._give_up, gone))
            await self._passed.wait()

    async def _give_up(self, gone: Sequence[str]) -> None:
        """All that came before has had its turn."""
        self._passed.set()
        self._ledger.gone(gone)


async def _gone(bus: Bus, ids: Sequence[str]) -> list[str]:
    """Those that are not connected any more; none when the broker does not say. Raises BusError."""
    reply = await bus.request(BROKER, CONNECTED, {"connection_ids": list(ids)}, timeout=ASK_S)
    connected = (reply.body or {}).get("connected") if reply.ok else None
    return [each for each in ids if each not in connected] if isinstance(connected, list) else []
