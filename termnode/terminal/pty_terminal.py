"""A terminal: one program on a pseudo-terminal, its screen, and what waits to be typed to it.

``Terminal`` is the one owner of a master (specs/pane-host.md). All it decides is synchronous and
happens on the service's one thread; two small tasks wait for the kernel.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import trio

from termnode.terminal import processes
from termnode.terminal.commands import Commands, Signal
from termnode.terminal.engine import Engine, EngineFactory, check_size
from termnode.terminal.exit_report import ExitReport, WaitStatus
from termnode.terminal.master import Master
from termnode.terminal.pacing import FloodShare, Pacer
from termnode.terminal.programs import Programs
from termnode.terminal.pty_reader import PtyReader
from termnode.terminal.pty_writer import PtyWriter, Ticket
from termnode.terminal.screen import Screen
from termnode.terminal.screen_log import ScreenLog
from termnode.terminal.taps import Taps
from termnode.terminal.write_queue import Gone, Outcome, QueueFull

__all__ = ["ExitReport", "Gone", "Outcome", "QueueFull", "Signal", "Terminal", "Ticket"]

WRITE_WITHIN: Final = 2.0
"""Seconds in which a piece of input must reach the PTY (source: control rules, "Input")."""

MAX_DRAIN: Final = 256 * 1024
"""Bytes read after the program's end at most: the kernel holds less than that of what the program
itself wrote; whatever comes then is from others that hold the slave."""

END_GRACE: Final = 0.02
"""Seconds after the drain in which processes that die with the program may let go of the slave."""


class Terminal(Programs):
    """Owns ``master_fd`` from the start, and closes it when ``run`` ends.

    ``fallback`` makes another engine when the given one reports that it is dead. All terminals of
    a service share one ``share``. ``revision``: where counting begins; beyond all revisions of the
    terminal whose place this one takes. ``on_signal`` is called, in the step that reads it, with
    each thing the program said besides drawing: it must be quick and must not raise.
    """

    def __init__(
        self,
        master_fd: int,
        pid: int,
        engine: Engine,
        *,
        clock: Callable[[], float] = trio.current_time,
        fallback: EngineFactory | None = None,
        share: FloodShare | None = None,
        revision: int = 0,
        on_signal: Callable[[Signal], None] | None = None,
    ) -> None:
        self.last_output: float | None = None
        """When the program last wrote, by ``clock``."""
        self.output_revision = revision
        """The revision that its last output made."""
        self.taps = Taps()
        """Who is given the output as it is."""
        super().__init__(Master(master_fd), pid)
        self._screen = Screen(engine, fallback, revision, on_signal, self.foreground_group)
        self._writer = PtyWriter(self._master, clock)
        self._pacer = Pacer(share or FloodShare())
        self._reader = PtyReader(self._master, self._pacer, self._take, self._end)
        self._clock = clock
        self._closing = False
        self._closed = trio.Event()
        self._scope: trio.CancelScope | None = None

    @property
    def engine(self) -> Engine:
        """What keeps the screen; another one after ``engine_replaced``."""
        return self._screen.engine

    @property
    def engine_replaced(self) -> bool:
        """Whether an engine died and another took its place, with an empty screen."""
        return self._screen.engine_replaced

    @property
    def revision(self) -> int:
        """Rises with every change of the screen, and when the program ends."""
        return self._screen.revision

    @property
    def log(self) -> ScreenLog:
        """Which lines changed when, up to the present revision."""
        return self._screen.log

    @property
    def commands(self) -> Commands:
        """What the shell's prompt marks say."""
        return self._screen.commands

    @property
    def bytes_out(self) -> int:
        """Bytes read from the program."""
        return self._reader.count

    @property
    def bytes_in(self) -> int:
        """Bytes written to the program."""
        return self._writer.written

    @property
    def bytes_typed(self) -> int:
        """As ``bytes_in``, without answers to the program's own queries."""
        return self._writer.typed

    @property
    def input_idle(self) -> bool:
        """Whether nothing at all waits to be written to the program."""
        return self._writer.idle

    @property
    def last_input(self) -> float | None:
        """When something was last written to the program, by ``clock``."""
        return self._writer.last

    @property
    def cols(self) -> int:
        """Columns of the screen."""
        return self.engine.cols

    @property
    def rows(self) -> int:
        """Rows of the screen."""
        return self.engine.rows

    @property
    def ended(self) -> bool:
        """See Programs."""
        return self._reader.ended.is_set()

    @property
    def final(self) -> bool:
        """Whether nothing about this terminal will change any more."""
        return self._closing or (self.ended and self.exit is not None)

    @property
    def closed(self) -> bool:
        """Whether ``close`` was called: the screen can no longer be read."""
        return self._closing

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Read and write until the end of file or ``close``; then the master is closed."""
        try:
            async with trio.open_nursery() as nursery:
                self._scope = nursery.cancel_scope
                nursery.start_soon(self._writer.run)
                task_status.started()
                await self._reader.run()
                nursery.cancel_scope.cancel()
        finally:
            self._shut()

    def write(
        self,
        data: bytes,
        *,
        within: float = WRITE_WITHIN,
        permit: Callable[[], bool] | None = None,
        closing: bytes = b"",
        patience: bool = False,
    ) -> Ticket:
        """Admit input whole, and write at once what the PTY takes. Raises QueueFull or Gone.

        ``permit`` is asked again in the same synchronous step as each write; once it says no, the
        rest is dropped. ``within`` is in seconds; with ``patience``, since the program last took
        some of it, and the input may be as long as a paste. ``closing`` is written if it ends early
        after its first byte was.
        """
        return self._writer.write(data, within, permit, closing, patience)

    def recheck_permits(self) -> None:
        """Drop all input whose permit no longer holds, at once."""
        self._writer.recheck_permits()

    def resize(self, cols: int, rows: int) -> None:
        """Set the size of the screen and of the PTY (ValueError outside the engine's limits)."""
        check_size(cols, rows)
        if (cols, rows) == (self.cols, self.rows):
            return
        self._screen.resize(cols, rows)
        if not self._master.closed:
            processes.set_window_size(self._master.fd, cols, rows)
        self.taps.nudge()

    async def changed(self, since: int) -> int:
        """Wait until ``revision`` is above ``since`` or the terminal is final; return it."""
        await trio.lowlevel.checkpoint()
        while self.revision <= since and not self.final:
            await self._screen.news()
        return self.revision

    async def report_exit(self, status: WaitStatus) -> None:
        """Take in what the program wrote before it ended; then set ``exit``. Once only."""
        await self._drain()
        holding: list[int] = []
        slave = None if self.ended else processes.slave_of(self._master.fd)
        if slave is not None:
            holding = await trio.to_thread.run_sync(processes.holders_of, slave)
        if self.exit is None:
            self.exit = ExitReport(status.code, status.signal, status.core, tuple(holding))
            self._screen.bump()
            self.taps.nudge()

    async def close(self) -> None:
        """Stop, close the master and free the engine. Pending input ends as ``gone``."""
        first, self._closing = not self._closing, True
        if self._scope is None:
            self._shut()
        else:
            self._scope.cancel()
        with trio.CancelScope(shield=True):  # short: ``run`` waits for nothing on its way out
            await self._closed.wait()
        if first:
            self.taps.nudge()
            self.engine.close()

    def _take(self, data: bytes) -> float:
        """Feed the engine; return the processor seconds it took."""
        start = time.thread_time()
        answers = self._screen.feed(data)
        took = time.thread_time() - start
        self.last_output = self._clock()
        if answers:
            self._writer.answer(answers)
        self._screen.fed(self.last_output)
        self.output_revision = self.revision
        self.taps.tell(data)
        return took

    async def _drain(self) -> None:
        """Read what the program left, and wait a moment for the end of file."""
        await self._reader.drain(MAX_DRAIN)
        with trio.move_on_after(END_GRACE):
            await self._reader.ended.wait()

    def _end(self) -> None:
        """End of file: nothing comes any more and nothing can be written."""
        if not self.ended:
            self._reader.ended.set()
            self._writer.drop_all()
            self._screen.bump()
            self.taps.nudge()

    def _shut(self) -> None:
        """Close the master, once."""
        self._end()
        self._pacer.flooding(False)
        if not self._master.closed:
            self._master.close()
            self._closed.set()
        self._screen.wake()
