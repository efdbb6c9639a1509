"""A pane without a program: a real emulator and screen log, fed by the test."""

from __future__ import annotations

import os
from typing import cast

import trio

from termnode.service.live_pane import LivePane
from termnode.terminal.commands import Commands
from termnode.terminal.engine import Engine
from termnode.terminal.processes import Foreground, LineDiscipline
from termnode.terminal.pyte_engine import PyteEngine
from termnode.terminal.screen_log import ScreenLog


class CountingEngine(PyteEngine):
    """Counts the rows that are read as text."""

    rows_read = 0

    def text(self, top: int = 0, count: int | None = None) -> list[str]:
        rows = super().text(top, count)
        self.rows_read += len(rows)
        return rows


class StubTerminal:
    """What waits use of a `Terminal`; the test says what the kernel would."""

    def __init__(self, cols: int = 20, rows: int = 5, scrollback: int = 100) -> None:
        self.engine: Engine = CountingEngine(cols, rows, scrollback)
        self.revision = 0
        self.ended = False
        self.final = False
        self.last_output: float | None = None
        self.last_input: float | None = None
        self.output_revision = 0
        self.commands = Commands()
        self.pid = os.getpid()
        self.front: Foreground | None = None
        self.discipline: LineDiscipline | None = None
        self.kernel_asked = 0
        self._log = ScreenLog()
        self._change = trio.Event()

    @property
    def log(self) -> ScreenLog:
        self._log.sync(self.engine, self.revision)
        return self._log

    def feed(self, data: bytes, now: float = 0.0) -> int:
        """Output of the program; the revision it makes."""
        self.engine.feed(data)
        self.last_output = now
        self.output_revision = self.revision + 1
        return self.bump()

    def bump(self) -> int:
        self.revision += 1
        self._change.set()
        self._change = trio.Event()
        return self.revision

    def resize(self, cols: int, rows: int) -> None:
        log = self.log
        held = log.hold(self.engine, cols)
        self.engine.resize(cols, rows)
        self.bump()
        log.resized(self.engine, self.revision, held)

    async def changed(self, since: int) -> int:
        await trio.lowlevel.checkpoint()
        while self.revision <= since and not self.final:
            await self._change.wait()
        return self.revision

    def foreground(self) -> Foreground | None:
        self.kernel_asked += 1
        return self.front

    def line_discipline(self) -> LineDiscipline | None:
        return self.discipline


class StubPane:
    """What waits use of a `LivePane`."""

    def __init__(self, terminal: StubTerminal) -> None:
        self.terminal = terminal
        self.ended: float | None = None
        self.gone = trio.Event()


def live(terminal: StubTerminal) -> LivePane:
    """The pane of a stub terminal, as the waits take it."""
    return cast("LivePane", StubPane(terminal))


def lines(first: int, last: int, word: str = "line") -> bytes:
    """Numbered lines, each ended."""
    return "".join(f"{word} {number}\r\n" for number in range(first, last + 1)).encode()
