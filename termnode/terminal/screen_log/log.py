"""The log of a terminal's screen: which lines, and which of their characters, are newer than when.

Nothing is done while output is fed. ``sync`` compares what the screen shows with what it showed at
the sync before, so a stamp is the revision at which a change was seen: never before the change.
Whoever gives a revision out as an anchor syncs at that revision; else more than what changed since
counts as newer, never less. Sans-IO.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from termnode.terminal.engine import Engine
from termnode.terminal.screen_log.marks import spans, whole
from termnode.terminal.screen_log.page import Page
from termnode.terminal.screen_log.reflow import Stream, reflowed


@dataclass(frozen=True, slots=True)
class Changes:
    """What is newer than some revision."""

    full: bool
    """Numbers began anew since then: all rows of the screen are in ``lines``."""
    lines: tuple[int, ...]
    """Ascending; all can still be read."""
    missed: int
    """Newer lines that can no longer be read."""


class ScreenLog:
    """Which lines of a screen changed when. Lines are numbered as ``Engine.scrolled`` does it.

    Bounded: a record per row of the screen, and a few numbers per line of history.
    """

    def __init__(self, revision: int = 0) -> None:
        self.revision = revision
        """That of the last sync."""
        self.first = 0
        """The oldest line that can be read."""
        self.layout = 0
        """Rises whenever line numbers began anew."""
        self.switched = -1
        """The revision at which a change of screens was seen last; -1 when there was none.

        The alternate screen left and entered again between two syncs is none.
        """
        self._begin = revision
        """Anchors before it know nothing of the numbers in use."""
        self._engine: Engine | None = None
        self._erasures = self._main_erasures = 0
        self._main = Page(0, [])
        self._alternate: Page | None = None
        self._torn = False
        """Whether the main screen was laid out anew while it could not be read."""

    @property
    def base(self) -> int:
        """The line in the first row of the screen."""
        return self._page.base

    @property
    def _page(self) -> Page:
        return self._alternate or self._main

    def sync(self, engine: Engine, revision: int) -> None:
        """Take in the screen as it is at ``revision``; does nothing when that was taken in."""
        if engine is not self._engine:
            self._take_up(engine, revision)
        elif revision != self.revision:
            self._look(engine, revision)

    def _take_up(self, engine: Engine, revision: int) -> None:
        """Begin with an engine: the first one, or one that takes the place of a dead one."""
        if self._engine is not None:
            self._begin_anew(revision)
        self._engine = engine
        self._erasures = self._main_erasures = 0
        self._main = Page.blank(0, engine.rows, self._begin)
        if self._alternate is not None:
            self._alternate = None
            self.switched = revision
        self._look(engine, revision)

    def _look(self, engine: Engine, revision: int) -> None:
        self.revision = revision
        dirty = engine.take_dirty()
        before, self._erasures = self._erasures, engine.erasures
        if self._erasures == before:
            self._page.look(engine, revision, dirty)
        elif not engine.modes.alternate:
            self._look_at_main(engine)
        elif self._alternate is None:
            self._enter(engine)
        else:
            self._wiped_alternate(engine, self._alternate.base)
        self._measure(engine)

    def _enter(self, engine: Engine) -> None:
        """The alternate screen is up: what was last seen of the main screen is kept."""
        self._switch()
        self._alternate = Page.read(engine, self.revision)

    def _wiped_alternate(self, engine: Engine, base: int) -> None:
        """The alternate screen was wiped, or was left and entered again."""
        self._alternate = Page.read(engine, self.revision)
        if self._alternate.base != base:
            self._begin_anew(self.revision)

    def _look_at_main(self, engine: Engine) -> None:
        """The main screen was wiped, or is back, or both."""
        if self._alternate is not None:
            self._alternate = None
            self._switch()
        before, self._main_erasures = self._main_erasures, engine.main_erasures
        if self._main_erasures == before:
            self.switched = self.revision  # nothing wiped it: it was left and is back
            self._return(engine)
        else:
            self._main.wiped(engine, self.revision)
            self._torn = False

    def _return(self, engine: Engine) -> None:
        """The main screen is back as it was left, but for what was written since."""
        if self._torn:
            old = Stream.of_rows(self._main.rows, older=self.revision)
            self._main = reflowed(engine, old, self.revision, settled=False)
            self._torn = False
        else:
            self._main.look(engine, self.revision)

    def _switch(self) -> None:
        self._begin_anew(self.revision)
        self.switched = self.revision

    def _begin_anew(self, revision: int) -> None:
        self.layout += 1
        self._begin = revision

    def _measure(self, engine: Engine) -> None:
        """Find out how far back lines can be read."""
        page = self._page
        if self._alternate is not None:
            self.first = page.base
        else:
            self.first = max(page.base - engine.history_len, 0)

    def hold(self, engine: Engine, cols: int) -> Stream | None:
        """What must be known after a resize to ``cols``: to be asked for right after a sync."""
        if self._alternate is not None or cols == engine.cols:
            self._torn = self._torn or cols != engine.cols
            return None
        return Stream.of_page(self._main, engine)

    def resized(self, engine: Engine, revision: int, held: Stream | None) -> None:
        """Take in a resize; nothing else happened since the sync before it."""
        if engine is not self._engine:
            self.sync(engine, revision)
            return
        self.revision = revision
        engine.take_dirty()
        if self._alternate is not None:
            self._begin_anew(revision)
            self._alternate.base = engine.scrolled
            self._alternate.look(engine, revision)
        elif held is not None:
            self._begin_anew(revision)
            self._main = reflowed(engine, held, revision, settled=True)
        else:
            self._main.resized(engine, revision)
        self._measure(engine)

    def changes(self, since: int) -> Changes:
        """The lines newer than ``since``.

        An anchor of another program, or from before numbers began anew, gives the whole screen too.
        """
        page = self._page
        full = since > self.revision or since < self._begin
        readable: list[int] = []
        missed = 0
        for lines in self._newer_past(since):  # a flood can be a thousand times the history
            gone = min(max(self.first - lines.start, 0), len(lines))
            missed += gone
            readable += lines[gone:]
        shown = [page.base + y for y, row in enumerate(page.rows) if full or row.stamp > since]
        return Changes(full, (*readable, *shown), missed)

    def _newer_past(self, since: int) -> Iterable[range]:
        """The newer lines above the screen, by stretches, also those that cannot be read now."""
        if since > self.revision or self._alternate is not None:
            return ()
        return self._main.past.newer(since)

    def fresh(self, line: int, after: int) -> Sequence[tuple[int, int]]:
        """The spans (start, end) of the characters of ``line`` that are newer than ``after``.

        The last one may end behind the end of the text. None: nothing of it is newer, or the line
        cannot be read.
        """
        page = self._page
        if page.base <= line < page.end:
            return spans(page.rows[line - page.base].marks, after)
        if self.first <= line < page.base:
            # Below the past: an emulator gave a line back that was out of history.
            marks = page.past.marks(line) if line in page.past else whole(self._begin)
            return spans(marks, after)
        return ()
