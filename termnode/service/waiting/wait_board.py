"""The waits of one pane and one look for all of them. Synchronous; `watching` says when to look."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import trio

from termnode.service.live_pane import LivePane
from termnode.service.waiting.prompts import Prompts
from termnode.service.waiting.wait_conditions import (
    MAX_TEXT,
    Ask,
    Glance,
    Start,
    Verdict,
    judge,
    quiet_at,
)
from termnode.service.waiting.wait_lines import Target, share, targets
from termnode.service.waiting.wait_search import INLINE_S, Search
from termnode.terminal.prompting import POLL_S, marks_itself

LOOK_INLINE_S: Final = 0.004
"""Seconds for the searches of one look together, and INLINE_S for each; the rest is for threads."""


@dataclass(slots=True, eq=False)
class Waiter:
    """One wait. ``scope`` is cancelled when it has its verdict; ``seen`` once it was looked for."""

    ask: Ask
    start: Start
    search: Search | None
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    verdict: Verdict | None = None
    seen: bool = False

    def end(self, verdict: Verdict) -> None:
        """Fix how it ended, once, and wake it."""
        if self.verdict is None:
            self.verdict = verdict
            self.scope.cancel()

    def searched(self, revision: int) -> bool:
        """Whether no match can be left in what was there at a revision."""
        return self.search is None or self.search.caught_up(revision)


class Board:
    """Who waits for what of one pane. ``clock`` is that of its terminal, in seconds."""

    def __init__(self, live: LivePane, clock: Callable[[], float]) -> None:
        self.looked = 0
        """The revision of the last look."""
        self._live = live
        self._clock = clock
        self._waiters: list[Waiter] = []
        self._searches: list[Search] = []

    @property
    def empty(self) -> bool:
        """Whether nobody waits."""
        return not self._waiters

    def join(self, ask: Ask) -> Waiter:
        """Another wait; it shares the search of those that ask for the same."""
        terminal = self._live.terminal
        start = Start(self._clock(), terminal.log.revision)
        search = None if ask.until is None else self._search_for(ask.until, ask.after, start)
        waiter = Waiter(ask, start, search)
        self._waiters.append(waiter)
        return waiter

    def leave(self, waiter: Waiter) -> None:
        """The wait is over; its search too when nobody else has it."""
        self._waiters.remove(waiter)
        search = waiter.search
        if search in self._searches and not self._waiting(search):
            self._searches.remove(search)

    def unanswered(self, waiter: Waiter) -> Verdict:
        """What is said of a wait whose time is up: all up to its revision was searched."""
        return Verdict("deadline", self._reached(waiter))

    def look(self) -> None:
        """See what has changed, and end the waits for which something holds."""
        # Whether it ended is read before the screen: what it wrote last is on the screen by then.
        glance = self._glance()
        if not glance.gone:
            self._search()
        self.looked = glance.revision
        for waiter in self._waiters:
            waiter.seen = True
            searched = waiter.searched(glance.revision)
            outcome = judge(waiter.ask, waiter.start, glance, searched=searched)
            if outcome is not None:
                waiter.end(Verdict(outcome, self._reached(waiter)))

    def slow(self) -> list[Search]:
        """Searches that took too long, and that no thread goes on with yet."""
        return [search for search in self._searches if search.left and not search.busy]

    def finish(self, search: Search, found: Target | None, *, stale: bool) -> None:
        """A thread is through with what was ``left``, or has found something in it."""
        search.done()
        if found is not None:
            self._matched(search, found, lambda _began: stale)

    def due(self) -> float:
        """When to look again although nothing changes; infinite when there is no such time."""
        now = self._clock()
        if any(search.behind and not search.left for search in self._searches):
            return now
        glance = self._glance()
        times: list[float] = [
            quiet_at(waiter.ask, waiter.start, glance)
            for waiter in self._waiters
            if waiter.searched(glance.revision)
        ]
        return min([*times, now + POLL_S if self._polled() else math.inf])

    def _polled(self) -> bool:
        """Whether something is waited for of which nothing tells."""
        terminal = self._live.terminal
        if terminal.ended:  # the service takes note of it a moment later
            return self._live.ended is None
        asks = [waiter.ask for waiter in self._waiters if waiter.ask.prompt]
        if marks_itself(terminal):  # then only the time since something was typed is not told
            ready = terminal.commands.prompt_revision is not None
            return ready and any(ask.after is None for ask in asks)
        return bool(asks)

    def _glance(self) -> Glance:
        live, terminal, now = self._live, self._live.terminal, self._clock()
        return Glance(
            now=now,
            revision=terminal.revision,
            ended=live.ended is not None,
            gone=live.gone.is_set(),
            last_output=terminal.last_output,
            written=terminal.output_revision,
            switched=lambda: terminal.log.switched,
            prompt=Prompts(terminal, now).newer,
        )

    def _reached(self, waiter: Waiter) -> int:
        """The revision to go on from, right after a look: nothing up to it is unsearched.

        It will come back as an anchor, so the log takes in the screen as it is at it.
        """
        gone = self._live.gone.is_set()
        revision = self.looked if gone else self._live.terminal.log.revision
        return revision if waiter.search is None else min(revision, waiter.search.covered)

    def _search_for(self, text: str, after: int | None, start: Start) -> Search:
        """One without an anchor that is behind may still find what has gone before now."""
        for search in self._searches:
            current = after is not None or not search.behind
            if (search.text, search.after) == (text, after) and current:
                search.began = start.revision
                return search
        search = Search(text, after, start.revision)
        self._searches.append(search)
        return search

    def _waiting(self, search: Search | None) -> list[Waiter]:
        return [waiter for waiter in self._waiters if waiter.search is search]

    def _search(self) -> None:
        """Read what has changed once, and search it once for each pattern and anchor."""
        revision = self._live.terminal.revision
        ready = [search for search in self._searches if search.wants(revision)]
        if not ready:
            return
        log, engine = self._live.terminal.log, self._live.terminal.engine
        cursor = engine.cursor
        line = log.base + cursor.y
        for search in ready:
            search.notice(log, engine.rows, line)
        rows = share(engine.cols, len(ready))
        taken = {search: search.take(rows) for search in ready}
        texts = targets(engine, log, sorted(set().union(*taken.values())), (line, cursor.x))
        seconds = min(INLINE_S, LOOK_INLINE_S / len(ready))
        for search, lines in taken.items():
            found = search.run(_of(texts, lines), log, seconds)
            if found is not None:
                self._matched(search, found, partial(search.stale, log, found))

    def _matched(self, search: Search, target: Target, stale: Callable[[int], bool]) -> None:
        """End all waits of a search; ``stale`` says it for the revision at which one began."""
        if search not in self._searches:
            return
        self._searches.remove(search)  # what it took after the match was not searched
        row = target.line - search.base
        for waiter in self._waiting(search):
            waiter.end(
                Verdict(
                    "matched",
                    search.seen,
                    line=target.line,
                    row=row if row >= 0 else None,
                    text=target.text[:MAX_TEXT],
                    stale=stale(waiter.start.revision),
                )
            )


def _of(texts: Sequence[Target], lines: Sequence[int]) -> list[Target]:
    """Those that have one of the lines in them."""
    wanted = frozenset(lines)
    return [text for text in texts if any(line in wanted for line, _ in text.parts)]
