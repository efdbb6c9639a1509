"""Beside each pane: tells when its output has stopped, and what its program said too fast."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

import trio

from termnode.service.events.telling import Telling
from termnode.service.live_pane import LivePane

QUIET_S: Final = 1.0
"""Without output for so long after there was some: that is told."""


class PaneWatch:
    """The tasks beside panes.

    ``until_wanted`` waits until somebody wants a kind of event of a pane; whether it had to wait.
    """

    def __init__(
        self,
        telling: Telling,
        until_wanted: Callable[[str, int], Awaitable[bool]],
        clock: Callable[[], float],
    ) -> None:
        self._telling = telling
        self._until_wanted = until_wanted
        self._clock = clock

    async def run(self, live: LivePane) -> None:
        """Beside one pane until it is cancelled. Sleeps for ever where nobody wants anything."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._held, live)
            nursery.start_soon(self._quiet, live)

    async def _held(self, live: LivePane) -> None:
        while True:
            await live.held.wait()
            live.held = trio.Event()
            while (due := live.hearing.due) is not None:
                await trio.sleep(max(0.0, due - self._clock()))
                self._telling.flush(live)

    async def _quiet(self, live: LivePane) -> None:
        told = None
        while not live.terminal.final:
            if await self._until_wanted("quiet", live.id) and self._idle(live) >= QUIET_S:
                told = live.terminal.last_output  # it stopped before anybody wanted to know
            told = await self._next_quiet(live, told)

    async def _next_quiet(self, live: LivePane, told: float | None) -> float | None:
        """One step: wait for output, or for its end, or tell that it has ended.

        ``told`` is when the output ended that was told of last; returns what it is from now on.
        """
        terminal, idle = live.terminal, self._idle(live)
        last = terminal.last_output
        if last is None or last == told:
            await terminal.changed(terminal.revision)
            return told
        if idle < QUIET_S:
            await trio.sleep(QUIET_S - idle)
            return told
        self._telling.quiet(live, idle)
        return last

    def _idle(self, live: LivePane) -> float:
        """Seconds since its last output."""
        last = live.terminal.last_output
        return 0.0 if last is None else self._clock() - last
