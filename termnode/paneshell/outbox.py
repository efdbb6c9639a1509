"""What waits to be sent on a channel: bounded, in order, and never waited for by who posts it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, Final

import trio

from termnode.paneshell.packets import Packets
from termnode.paneshell.records import MAX_CHANNEL_RECORD, RecordError, encode

MAX_RECORDS: Final = 256
"""Records that wait."""

MAX_BYTES: Final = 2 * 1024 * 1024
"""Their encoded bytes."""


class Outbox:
    """Records on their way to the other end of a channel; ``run`` sends what did not go at once."""

    def __init__(self, packets: Packets) -> None:
        self.lost = 0
        """Records that found no room."""
        self._packets = packets
        self._latest: Mapping[str, Any] | None = None
        self._waiting: deque[bytes] = deque()
        self._bytes = 0
        self._more = trio.Event()

    def show(self, record: Mapping[str, Any]) -> None:
        """Send this before anything else that waits, in place of an unsent one shown before."""
        self._latest = record
        self._more.set()

    def post(self, record: Mapping[str, Any], *, best_effort: bool = False) -> bool:
        """Send it now or as soon as what was posted before is sent; never waits.

        False when it will not be sent: no room, too large, the other end is gone, or, for one that
        is ``best_effort``, anything waits already.
        """
        try:
            data = encode(record, MAX_CHANNEL_RECORD)
            if not self._waiting and self._packets.offer(data):
                return True
        except (RecordError, OSError):
            return False
        if best_effort or not self._fits(data):
            self.lost += 1
            return False
        self._waiting.append(data)
        self._bytes += len(data)
        self._more.set()
        return True

    async def run(self) -> None:
        """Send what waits, for as long as the other end is there. For one task."""
        while True:
            await self._more.wait()
            self._more = trio.Event()
            try:
                await self._send_all()
            except (OSError, trio.ClosedResourceError):
                return

    async def _send_all(self) -> None:
        while self._latest is not None or self._waiting:
            if self._latest is not None:
                latest, self._latest = self._latest, None
                await self._packets.send(encode(latest))
            else:
                await self._packets.send(self._waiting[0])
                self._bytes -= len(self._waiting.popleft())

    def _fits(self, data: bytes) -> bool:
        return len(self._waiting) < MAX_RECORDS and self._bytes + len(data) <= MAX_BYTES
