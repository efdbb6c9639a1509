"""Tells who submitted a command what it writes, while it runs: private events, now and then.

Nothing here ever waits for a reader, and no terminal for anything here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

import trio

from termnode.control.native.decisions import Go
from termnode.control.native.fields import EXEC_OUTPUT
from termnode.service.events.hub import Events
from termnode.service.live_pane import LivePane
from termnode.service.shells.streams import Piece, Streams

EVERY_S: Final = 0.1
"""Between two tellings; what is written meanwhile is told together."""

AT_ONCE: Final = 16
"""Pieces told at a time, of all operations together: so all other events stay known long enough."""


class OutputTelling:
    """``events`` are those of the native lane, ``publish`` makes events of the service.

    ``clock`` is monotonic, in seconds.
    """

    def __init__(self, events: Events, publish: Events, clock: Callable[[], float]) -> None:
        self._events = events
        self._publish = publish
        self._clock = clock
        self._streams = Streams()
        self._news = trio.Event()

    def listen(self, live: LivePane) -> None:
        """Hear what operations write in a new pane."""
        if live.shell is not None:
            live.shell.on_chunk = partial(self._heard, live.id)
            live.shell.on_over = partial(self._over, live.id)

    def accepted(self, go: Go, operation: int) -> None:
        """A pane's shell took a command: it is that caller's."""
        target = go.target
        self._streams.own(target.pane_id, str(operation), go.actor, target.pane_generation)
        self.wake()

    def wake(self) -> None:
        """There may be something to tell, or somebody who wants it."""
        self._news.set()

    async def run(self) -> None:
        """Tell, until cancelled."""
        while True:
            await self._news.wait()
            self._news = trio.Event()
            self.turn()
            await trio.sleep(EVERY_S)

    def turn(self) -> None:
        """Tell what is due now."""
        wanted = partial(self._events.wanted_by, EXEC_OUTPUT)
        pieces = self._streams.take(wanted, AT_ONCE, self._clock())
        for piece in pieces:
            self._tell(piece)
        if len(pieces) == AT_ONCE:
            self.wake()

    def _heard(self, pane: int, op: str, data: bytes) -> None:
        self._streams.put(pane, op, data)
        self.wake()

    def _over(self, pane: int, op: str) -> None:
        self._streams.end(pane, op, self._clock())
        self.wake()

    def _tell(self, piece: Piece) -> None:
        self._publish.publish(
            EXEC_OUTPUT,
            piece.pane,
            actor=piece.owner,
            generation=piece.generation,
            operation_id=piece.op,
            offset=piece.offset,
            bytes=piece.size,
            text=piece.text,
            lost=piece.lost or None,
            over=piece.over or None,
        )
