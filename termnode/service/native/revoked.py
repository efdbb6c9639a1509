"""`term.input.revoked`: telling a caller that its right to write ended. Best effort, bounded.

`term.operation` is the answer of record; both are made of the same settled input (`outcomes`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import trio

from brokerd.client import Bus
from termnode.control.native.limits import REVOKED_NOTICES, REVOKED_PER_TURN, REVOKED_SEND_MS

COMMAND: Final = "term.input.revoked"

PAUSE_S: Final = REVOKED_SEND_MS / 1000
"""After a turn in which one could not be sent, and between turns when there are more."""


class Notice(NamedTuple):
    """To the very connection that asked: of ``epoch``, so that no successor is told."""

    epoch: str
    connection: str
    body: Mapping[str, object]


Send = Callable[[str, Mapping[str, object]], bool]
"""Offers an event to a connection; False when it cannot go now. Never waits."""


class Revoked:
    """Notices that wait to be sent; of more than ``most`` the oldest goes."""

    def __init__(self, most: int = REVOKED_NOTICES) -> None:
        self._waiting: deque[Notice] = deque(maxlen=most)
        self._news = trio.Event()

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, notice: Notice) -> None:
        """Tell it in the next turn."""
        self._waiting.append(notice)
        self._news.set()

    def flush(self, epoch: str, send: Send, most: int = REVOKED_PER_TURN) -> bool:
        """One turn, on a connection of that epoch; whether all that it took could be sent.

        One that cannot be sent is put back. Those of another epoch have nobody to go to.
        """
        for _ in range(min(most, len(self._waiting))):
            notice = self._waiting[0]
            if notice.epoch == epoch and not send(notice.connection, notice.body):
                return False
            self._waiting.popleft()
        return True

    async def run(self, bus: Bus) -> None:
        """Send over ``bus``, which holds the Term's record, for ever."""

        def send(connection: str, body: Mapping[str, object]) -> bool:
            return bus.send_event(connection, COMMAND, body)

        while True:
            if not self._waiting:
                self._news = trio.Event()
                await self._news.wait()
            if not self.flush(bus.broker_epoch, send) or self._waiting:
                await trio.sleep(PAUSE_S)
