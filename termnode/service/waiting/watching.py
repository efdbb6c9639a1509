"""Watches the panes that somebody waits for: one look at each change, however many wait.

The waits of a pane drive its watcher themselves: the oldest holds the lock and looks for all; when
it ends, the next takes over. A pane that nobody waits for costs nothing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Final

import trio

from termnode.service.live_pane import LivePane
from termnode.service.waiting.wait_board import Board, Waiter
from termnode.service.waiting.wait_conditions import Ask, Verdict
from termnode.service.waiting.wait_search import Search

CHECK_EVERY_S: Final = 0.01
"""A flood changes the screen all the time; looking more often would only take time from others."""

REST_SHARE: Final = 3
"""After a look, rest at least for so many times as long as it took."""

_SEARCHES: Final = trio.CapacityLimiter(4)
"""Threads for searches that take long, of all panes together."""


class Watches:
    """The watched panes."""

    def __init__(self) -> None:
        self._of: dict[LivePane, Watch] = {}

    async def wait(self, live: LivePane, ask: Ask, timeout: float) -> tuple[Verdict, int]:
        """How a wait of at most ``timeout`` seconds ended, and how many lines went by unread."""
        watch = self._of.setdefault(live, Watch(live))
        try:
            return await watch.wait(ask, timeout)
        finally:
            if watch.idle:
                self._of.pop(live, None)


class Watch:
    """The watcher of one pane. ``clock`` is that of its terminal, in seconds."""

    def __init__(self, live: LivePane, clock: Callable[[], float] = time.monotonic) -> None:
        self._live = live
        self._clock = clock
        self._board = Board(live, clock)
        self._watching = trio.Lock()
        self._rest = CHECK_EVERY_S
        self._looked_at = -math.inf
        self._nap = trio.CancelScope()
        self._poked = False

    @property
    def idle(self) -> bool:
        """Whether nobody waits."""
        return self._board.empty

    async def wait(self, ask: Ask, timeout: float) -> tuple[Verdict, int]:
        """As `Watches.wait`."""
        waiter = self._board.join(ask)
        waiter.scope.deadline = trio.current_time() + timeout
        try:
            await self._until(waiter)
            verdict = waiter.verdict or self._board.unanswered(waiter)
            return verdict, 0 if waiter.search is None else waiter.search.missed
        finally:
            self._board.leave(waiter)

    async def _until(self, waiter: Waiter) -> None:
        """Look now, at changes, and when the time is up; many that begin or end share a look."""
        await trio.lowlevel.checkpoint()
        if not waiter.seen:
            self._look()
        with waiter.scope:
            self._poke()
            async with self._watching:
                await self._watch()
        if waiter.verdict is None and self._looked_at < waiter.scope.deadline:
            self._look()

    async def _watch(self) -> None:
        """Look at each change, but not more often than CHECK_EVERY_S; until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._poke_when_gone)
            while True:
                self._begin_slow(nursery)
                await trio.sleep(self._rest)
                await self._news()
                self._look()

    def _look(self) -> None:
        start = time.perf_counter()
        self._poked = False
        self._looked_at = trio.current_time()
        self._board.look()
        self._rest = max(CHECK_EVERY_S, REST_SHARE * (time.perf_counter() - start))

    async def _news(self) -> None:
        """Wait until something may hold that did not at the last look."""
        if self._poked:
            return
        with trio.move_on_after(max(0.0, self._board.due() - self._clock())) as self._nap:
            await self._live.terminal.changed(self._board.looked)

    def _poke(self) -> None:
        self._poked = True
        self._nap.cancel()

    async def _poke_when_gone(self) -> None:
        await self._live.gone.wait()
        self._poke()

    def _begin_slow(self, nursery: trio.Nursery) -> None:
        for search in self._board.slow():
            search.busy = True
            nursery.start_soon(self._search_slowly, search)

    async def _search_slowly(self, search: Search) -> None:
        """In a thread, on the text as it was seen: a costly pattern delays nobody but itself.

        When this watcher ends meanwhile, the next one begins the search anew.
        """
        try:
            found, stale = await trio.to_thread.run_sync(
                search.run_left, abandon_on_cancel=True, limiter=_SEARCHES
            )
        finally:
            search.busy = False
        self._board.finish(search, found, stale=stale)
        self._poke()
