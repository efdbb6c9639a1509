"""A terminal's screen: the engine, what it said, and since when it shows what it shows. Sans-IO."""

from __future__ import annotations

from collections.abc import Callable

import trio

from termnode.terminal.commands import Commands, Signal
from termnode.terminal.engine import Engine, EngineFactory, EventKind
from termnode.terminal.screen_log import ScreenLog


class Screen:
    """Owns an engine until ``close``; another takes its place when it reports that it is dead.

    ``revision`` begins at that given and rises with every change. ``on_signal`` is called in the
    step of the feed that said something; it must be quick and must not raise. ``front`` gives the
    process group that reads the keys.
    """

    def __init__(
        self,
        engine: Engine,
        fallback: EngineFactory | None,
        revision: int,
        on_signal: Callable[[Signal], None] | None,
        front: Callable[[], int | None] = lambda: None,
    ) -> None:
        self.engine = engine
        self.engine_replaced = False
        self.revision = revision
        self.commands = Commands()
        self._fallback = fallback
        self._on_signal = on_signal
        self._front = front
        self._log = ScreenLog(revision)
        self._log.sync(engine, revision)
        self._news: trio.Event | None = None

    @property
    def log(self) -> ScreenLog:
        """What changed when, up to the present revision."""
        self._log.sync(self.engine, self.revision)
        return self._log

    def feed(self, data: bytes) -> bytes:
        """Take output; returns the answers to device queries in it."""
        self.engine.feed(data)
        return self.engine.take_replies()

    def fed(self, now: float) -> None:
        """Count what was fed as a change, and tell what was in it. ``now`` is in seconds."""
        self._replace_dead_engine(self.engine.cols, self.engine.rows)
        self.bump()
        for event in self.engine.take_events():
            if event.kind is not EventKind.PROMPT_MARK:
                self._tell(event)
                continue
            about = event.text, event.line, event.column
            for told in self.commands.mark(*about, self.revision, now, group=self._front()):
                self._tell(told)

    def _tell(self, signal: Signal) -> None:
        if self._on_signal is not None:
            self._on_signal(signal)

    def resize(self, cols: int, rows: int) -> None:
        """Change the size, within the engine's limits."""
        log = self.log
        held = log.hold(self.engine, cols)
        if cols != self.engine.cols:
            self.commands.renumbered()
        self.engine.resize(cols, rows)
        self._replace_dead_engine(cols, rows)
        self.bump()
        log.resized(self.engine, self.revision, held)

    def _replace_dead_engine(self, cols: int, rows: int) -> None:
        """Go on with an empty screen: better than a pane that shows nothing new for ever."""
        if self._fallback is not None and getattr(self.engine, "dead", False):
            self.engine.close()
            self.engine = self._fallback(cols, rows)
            self.engine_replaced = True
            self.commands.renumbered()

    def bump(self) -> None:
        """Count a change and wake everybody who waits for one."""
        self.revision += 1
        self.wake()

    def wake(self) -> None:
        """End every ``news``."""
        if self._news is not None:
            self._news.set()
            self._news = None

    async def news(self) -> None:
        """Wait for the next change."""
        if self._news is None:
            self._news = trio.Event()
        await self._news.wait()
