"""A pane's output as it is, for one connection that watches: bounded, with keyframes over gaps.

Sans-IO: the terminal's tap puts in, the connection's writer takes out, both on the one thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

from termnode.terminal.engine import Engine
from termnode.terminal.exit_report import ExitReport
from termnode.terminal.render.keyframe import keyframe
from termnode.terminal.taps import Taps
from termnode.view.messages import Ended, Keyframe, Output, Resized
from termnode.view.shapes import MAX_DATA

MAX_QUEUED: Final = 1024 * 1024
"""Bytes that wait for a connection at most; with more, all go and a keyframe takes their place."""

_RESIZE_COST: Final = 64
"""What a change of size counts, in bytes."""

Told = Output | Resized | Keyframe | Ended


class Watchable(Protocol):
    """What of a terminal is needed."""

    taps: Taps
    exit: ExitReport | None

    @property
    def engine(self) -> Engine:
        """What keeps the screen."""

    @property
    def final(self) -> bool:
        """Whether nothing will change any more."""

    @property
    def closed(self) -> bool:
        """Whether the screen can no longer be read."""


class WatchedOutput:
    """The output of one pane from ``begin`` to ``end`` or the end of its program.

    ``now`` gives milliseconds; ``wake`` is called when there is something to take, and must be
    quick and not raise. The first message is a keyframe. Another one follows where what was told
    does not lead to the true screen: after a gap, another size (each terminal lays rows out anew in
    its own way), a new engine, and when the program leaves an alternate screen that was up in the
    last keyframe, for the main one beneath it was not told then.
    """

    def __init__(
        self,
        pane: int,
        terminal: Watchable,
        now: Callable[[], int],
        wake: Callable[[], None],
        limit: int = MAX_QUEUED,
    ) -> None:
        self._pane = pane
        self._terminal = terminal
        self._now = now
        self._wake = wake
        self._limit = limit
        self._queue: deque[Output | Resized] = deque()
        self._queued = 0
        self._missed = 0
        self._stale = True
        self._hidden = False
        """Whether the main screen was not told, for the alternate one was up."""
        self._engine = terminal.engine
        self._size = terminal.engine.cols, terminal.engine.rows
        self._begun = False
        """Whether the first keyframe was taken."""
        self._told_end = False

    def begin(self) -> None:
        """Listen from now on."""
        self._terminal.taps.add(self._tap)
        self._wake()

    def end(self) -> None:
        """Listen no more; may be called again."""
        self._terminal.taps.discard(self._tap)

    @property
    def over(self) -> bool:
        """Whether all was taken and nothing will follow."""
        return self._told_end

    def take(self) -> list[Told]:
        """All that waits, at most about ``limit`` bytes of output and one keyframe."""
        told: list[Told] = list(self._queue)
        self._forget()
        if self._stale and not self._terminal.closed:
            told += self._keyframe()
        if self._terminal.final and not self._told_end:
            self._told_end = True
            self.end()
            told.append(self._ended())
        return told

    def _tap(self, data: bytes) -> None:
        if self._begun:
            self._look()
            if data:
                self._put(data)
        self._wake()

    def _look(self) -> None:
        """Note what makes a keyframe due."""
        engine = self._terminal.engine
        size = engine.cols, engine.rows
        if size != self._size:
            self._size = size
            self._add(Resized(self._pane, *size, self._now()), _RESIZE_COST)
            self._stale = True
        if engine is not self._engine or (self._hidden and not engine.modes.alternate):
            self._engine = engine
            self._hidden = False
            self._stale = True

    def _put(self, data: bytes) -> None:
        self._add(Output(self._pane, data, self._now()), len(data))

    def _add(self, item: Output | Resized, cost: int) -> None:
        """Queue it, or count it as missed: once something is, what follows up to the keyframe is
        in that too."""
        self._queued += cost
        if self._missed or self._queued > self._limit:
            self._missed = self._queued
            self._queue.clear()
            self._stale = True
        else:
            self._queue.append(item)

    def _forget(self) -> None:
        self._queue.clear()
        self._queued = 0

    def _keyframe(self) -> list[Told]:
        """Of the screen as it is; what is too long for one message goes on as output."""
        engine = self._terminal.engine
        missed, self._missed = self._missed, 0
        self._stale, self._begun = False, True
        self._engine, self._size = engine, (engine.cols, engine.rows)
        self._hidden = engine.modes.alternate
        ansi, now = keyframe(engine, self._terminal.taps.recent), self._now()
        first = Keyframe(self._pane, *self._size, ansi[:MAX_DATA], engine.title, now, missed)
        rest = range(MAX_DATA, len(ansi), MAX_DATA)
        return [first, *(Output(self._pane, ansi[at : at + MAX_DATA], now) for at in rest)]

    def _ended(self) -> Ended:
        return Ended(self._pane, _state(self._terminal.exit), self._now())


def _state(report: ExitReport | None) -> str:
    """How the program ended, as `PaneState` says it."""
    if report is None:
        return "exited"
    return f"exited {report.code}" if report.signal is None else f"signal {report.signal}"
