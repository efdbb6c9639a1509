"""Wakes the tasks that tell views, when there may be something to tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import trio

from termnode.service.live_pane import LivePane

REST_S: Final = 0.004
"""A pane that changes all the time wakes nobody more often than that."""

HIDDEN_REST_S: Final = 0.04
"""One that no view shows: all that is told of it is that it had output."""


class News:
    """A bell that many tasks listen to. ``count`` rises each time it rings."""

    def __init__(self) -> None:
        self.count = 0
        self._next = trio.Event()

    def ring(self) -> None:
        """There may be something to tell. Quick; never raises."""
        self.count += 1
        self._next.set()
        self._next = trio.Event()

    async def after(self, seen: int, within: float) -> None:
        """Wait until it has rung since ``count`` was ``seen``; for ``within`` seconds at most."""
        await trio.lowlevel.checkpoint()
        with trio.move_on_after(within):
            while self.count == seen:
                await self._next.wait()


class Feed:
    """Rings when a pane's screen changes, as long as somebody looks.

    ``shown`` says whether a view shows the pane of that id.
    """

    def __init__(self, news: News, shown: Callable[[int], bool]) -> None:
        self._news = news
        self._shown = shown
        self._watched = trio.Event()

    def watch(self, *, somebody: bool) -> None:
        """Say whether there is a view."""
        if somebody:
            self._watched.set()
        elif self._watched.is_set():
            self._watched = trio.Event()

    async def run(self, live: LivePane) -> None:
        """Beside one pane until its screen cannot change any more. Sleeps where nobody looks."""
        while not live.terminal.final:
            await self._watched.wait()
            seen = live.terminal.revision
            await live.terminal.changed(seen)
            self._news.ring()
            await trio.sleep(REST_S if self._shown(live.id) else HIDDEN_REST_S)
        self._news.ring()
