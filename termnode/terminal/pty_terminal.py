"""A terminal: one program on a pseudo-terminal, its screen, and what waits to be typed to it.

``Terminal`` is the one owner of a master (specs/pane-host.md). All it decides is synchronous and
happens on the service's one thread; two small tasks wait for the kernel.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum, auto
from typing import Final

import trio

from termnode.terminal import processes
from termnode.terminal.engine import Engine, EngineFactory, check_size
from termnode.terminal.exit_report import ExitReport, WaitStatus
from termnode.terminal.master import END, Master
from termnode.terminal.pacing import MAX_SLICE, FloodShare, Pacer
from termnode.terminal.processes import Foreground, LineDiscipline
from termnode.terminal.pty_writer import PtyWriter, Ticket
from termnode.terminal.write_queue import Gone, Outcome, QueueFull

__all__ = ["ExitReport", "Gone", "Outcome", "QueueFull", "Terminal", "Ticket"]

WRITE_WITHIN: Final = 2.0
"""Seconds in which a piece of input must reach the PTY (source: control rules, "Input")."""

MAX_DRAIN: Final = 256 * 1024
"""Bytes read after the program's end at most: the kernel holds less than that of what the program
itself wrote; whatever comes then is from others that hold the slave."""

END_GRACE: Final = 0.02
"""Seconds after the drain in which processes that die with the program may let go of the slave."""


class _Read(Enum):
    DRY = auto()
    MORE = auto()
    END = auto()


class Terminal:
    """Owns ``master_fd`` from the start, and closes it when ``run`` ends.

    ``fallback`` makes another engine when the given one reports that it is dead. All terminals of
    a service share one ``share``.
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
    ) -> None:
        self.pid: Final = pid
        self.engine = engine
        self.engine_replaced = False
        self.revision = 0
        self.bytes_out = 0
        """Bytes read from the program."""
        self.last_output: float | None = None
        """When the program last wrote, by ``clock``."""
        self.exit: ExitReport | None = None
        self._master = Master(master_fd)
        self._writer = PtyWriter(self._master, clock)
        self._clock = clock
        self._fallback = fallback
        self._pacer = Pacer(share or FloodShare())
        self._turn_used = 0.0
        self._closing = False
        self._ended = trio.Event()
        self._closed = trio.Event()
        self._scope: trio.CancelScope | None = None
        self._change: trio.Event | None = None

    @property
    def bytes_in(self) -> int:
        """Bytes written to the program."""
        return self._writer.written

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
        """Whether the last holder has let go of the terminal, or it was closed."""
        return self._ended.is_set()

    @property
    def final(self) -> bool:
        """Whether nothing about this terminal will change any more."""
        return self._closing or (self.ended and self.exit is not None)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Read and write until the end of file or ``close``; then the master is closed."""
        try:
            async with trio.open_nursery() as nursery:
                self._scope = nursery.cancel_scope
                nursery.start_soon(self._writer.run)
                task_status.started()
                await self._read_loop()
                nursery.cancel_scope.cancel()
        finally:
            self._shut()

    def write(
        self,
        data: bytes,
        *,
        within: float = WRITE_WITHIN,
        permit: Callable[[], bool] | None = None,
    ) -> Ticket:
        """Admit input whole, and write at once what the PTY takes. Raises QueueFull or Gone.

        ``permit`` is asked again in the same synchronous step as each write; once it says no, the
        rest is dropped. ``within`` is in seconds.
        """
        return self._writer.write(data, within, permit)

    def recheck_permits(self) -> None:
        """Drop all input whose permit no longer holds, at once."""
        self._writer.recheck_permits()

    def resize(self, cols: int, rows: int) -> None:
        """Set the size of the screen and of the PTY (ValueError outside the engine's limits)."""
        check_size(cols, rows)
        if (cols, rows) == (self.cols, self.rows):
            return
        self.engine.resize(cols, rows)
        self._replace_dead_engine(cols, rows)
        if not self._master.closed:
            processes.set_window_size(self._master.fd, cols, rows)
        self._bump()

    async def changed(self, since: int) -> int:
        """Wait until ``revision`` is above ``since`` or the terminal is final; return it."""
        await trio.lowlevel.checkpoint()
        while self.revision <= since and not self.final:
            if self._change is None:
                self._change = trio.Event()
            await self._change.wait()
        return self.revision

    def foreground(self) -> Foreground | None:
        """The process group that reads the keys; None when there is none."""
        return None if self.ended else processes.foreground(self._master.fd, self.pid)

    def cwd(self) -> str | None:
        """Directory of the foreground program, or else of the pane's own; None when unknown."""
        if self.ended or self.exit is not None:
            return None  # the process ids may be others' by now
        front = self.foreground()
        path = processes.working_directory(front.pgid) if front is not None else None
        return path or processes.working_directory(self.pid)

    def line_discipline(self) -> LineDiscipline | None:
        """Whether input is taken by lines and echoed; None when the terminal has ended."""
        return None if self.ended else processes.line_discipline(self._master.fd)

    def holders(self) -> list[int]:
        """Processes that have the terminal open. Takes milliseconds."""
        return [] if self.ended else processes.holders(self._master.fd)

    async def report_exit(self, status: WaitStatus) -> None:
        """Take in what the program wrote before it ended; then set ``exit``. Once only."""
        await self._drain()
        holding: list[int] = []
        slave = None if self.ended else processes.slave_of(self._master.fd)
        if slave is not None:
            holding = await trio.to_thread.run_sync(processes.holders_of, slave)
        if self.exit is None:
            self.exit = ExitReport(status.code, status.signal, status.core, tuple(holding))
            self._bump()

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
            self.engine.close()

    async def _read_loop(self) -> None:
        while not self.ended:
            match self._read_turn():
                case _Read.DRY:
                    await self._master.wait_readable()
                case _Read.MORE:
                    # Two checkpoints at least. What became ready during the turn is woken after
                    # the first, in one batch with this task and in any order: were the next turn
                    # in that batch, it would come before half of them.
                    await trio.lowlevel.checkpoint()
                    await trio.sleep(self._pacer.rest(self._turn_used))
                case _Read.END:
                    break

    def _read_turn(self) -> _Read:
        """Feed what there is, for one turn at most. Readiness is never trusted."""
        self._turn_used = 0.0
        start = time.perf_counter()
        taken = 0
        result = _Read.MORE
        while taken < MAX_SLICE and not self._pacer.turn_over(self._turn_used):
            data = self._master.read(self._pacer.slice)
            if data is None:
                result = _Read.DRY
                break
            if data == END:
                self._end()
                return _Read.END
            taken += len(data)
            self._feed(data)
            # By the wall clock: whoever waits for this turn to end waits for the reads as well.
            self._turn_used = time.perf_counter() - start
        self._pacer.flooding(result is _Read.MORE)
        return result

    def _feed(self, data: bytes) -> float:
        """Feed the engine; return the processor seconds it took."""
        start = time.thread_time()
        self.engine.feed(data)
        answers = self.engine.take_replies()
        took = time.thread_time() - start
        self._pacer.fed(len(data), took)
        self.bytes_out += len(data)
        self.last_output = self._clock()
        self._replace_dead_engine(self.cols, self.rows)
        if answers:
            self._writer.answer(answers)
        self._bump()
        return took

    def _replace_dead_engine(self, cols: int, rows: int) -> None:
        """Go on with an empty screen: better than a pane that shows nothing new for ever."""
        if self._fallback is not None and getattr(self.engine, "dead", False):
            self.engine.close()
            self.engine = self._fallback(cols, rows)
            self.engine_replaced = True

    async def _drain(self) -> None:
        """Read what the program left: to the end, or until nothing is there, or MAX_DRAIN."""
        limit = self.bytes_out + MAX_DRAIN
        while not self.ended and self.bytes_out < limit and self._read_turn() is _Read.MORE:
            await trio.lowlevel.checkpoint()
        with trio.move_on_after(END_GRACE):
            await self._ended.wait()

    def _end(self) -> None:
        """End of file: nothing comes any more and nothing can be written."""
        if not self.ended:
            self._ended.set()
            self._writer.drop_all()
            self._bump()

    def _shut(self) -> None:
        """Close the master, once."""
        self._end()
        self._pacer.flooding(False)
        if not self._master.closed:
            self._master.close()
            self._closed.set()
        self._wake()

    def _bump(self) -> None:
        """Count a change and wake everybody who waits for one."""
        self.revision += 1
        self._wake()

    def _wake(self) -> None:
        if self._change is not None:
            self._change.set()
            self._change = None
