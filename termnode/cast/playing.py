"""Plays a recording into the person's terminal, and leaves that as it was found."""

from __future__ import annotations

import math
import os
import signal
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import trio

from termnode.cast.drawing import ENTER, LEAVE, Drawing
from termnode.cast.pacing import Pace
from termnode.cast.reading import CastReader, Printed, Sized

FRAME_S: Final = 1 / 60
"""Seconds between two frames at least."""

_ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LEAVE_WITHIN_S: Final = 1.0
"""A terminal that takes nothing is given up."""


@contextmanager
def own_terminal(path: str) -> Iterator[int]:
    """The terminal at ``path``, raw, through a descriptor of our own: that it does not block is
    nobody else's business. Its modes are set back at the end. Raises OSError, termios.error."""
    fd = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = termios.tcgetattr(fd)
        try:
            tty.setraw(fd, termios.TCSADRAIN)
            yield fd
        finally:
            with suppress(termios.error):  # it is gone
                termios.tcsetattr(fd, termios.TCSADRAIN, found)
    finally:
        os.close(fd)


def size_of(fd: int) -> tuple[int, int]:
    """Columns and rows of a terminal; 80 by 24 when it does not know."""
    cols, rows = os.get_terminal_size(fd)
    return (cols, rows) if cols > 0 and rows > 0 else (80, 24)


class Playback:
    """One playback; ``stopped`` is the signal that ended it, if one did."""

    def __init__(self, fd: int, reader: CastReader, drawing: Drawing, pace: Pace) -> None:
        self.stopped: int | None = None
        self._fd = fd
        self._reader = reader
        self._drawing = drawing
        self._pace = pace
        self._began = 0.0
        self._drawn = -math.inf
        self._paused_at: float | None = None
        self._news = trio.Event()
        self._scope = trio.CancelScope()

    async def run(self) -> None:
        """Play to the end, or until q, Ctrl-C or a signal. Raises NotACast, OSError."""
        try:
            with self._scope:
                await self._write(ENTER)
                async with trio.open_nursery() as nursery:
                    await nursery.start(self._signals)
                    nursery.start_soon(self._keys)
                    await self._play()
                    nursery.cancel_scope.cancel()
        finally:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + _LEAVE_WITHIN_S):
                await self._write(LEAVE + self._drawing.last_screen().encode("utf-8", "replace"))

    async def _play(self) -> None:
        self._began = trio.current_time()
        for event in self._reader.events():
            await self._until(self._pace.due(event.at))
            if isinstance(event, Printed):
                self._drawing.feed(event.text)
            elif isinstance(event, Sized):
                self._drawing.resize(event.cols, event.rows)
        await self._draw()

    async def _until(self, due: float) -> None:
        """Wait until ``due`` seconds of playback have gone by, and draw when it is time to."""
        at = max(self._began + due, trio.current_time())
        if at - self._drawn > FRAME_S or self._paused_at is not None:
            await self._draw()
        await trio.lowlevel.checkpoint()
        while self._paused_at is not None or trio.current_time() < self._began + due:
            deadline = math.inf if self._paused_at is not None else self._began + due
            self._news = trio.Event()
            with trio.move_on_at(deadline):
                await self._news.wait()
                await self._draw()

    async def _draw(self) -> None:
        self._drawn = trio.current_time()
        await self._write(self._drawing.frame())

    async def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self._fd, rest) :]
            except BlockingIOError:
                await trio.lowlevel.wait_writable(self._fd)

    async def _keys(self) -> None:
        """q and Ctrl-C end it, Space halts it and lets it go on; other keys do nothing."""
        while True:
            await trio.lowlevel.wait_readable(self._fd)
            try:
                typed = os.read(self._fd, 1024)
            except BlockingIOError:
                continue
            if not typed or b"q" in typed or b"\x03" in typed:
                self._scope.cancel()
            elif b" " in typed:
                self._pause()

    def _pause(self) -> None:
        now = trio.current_time()
        if self._paused_at is None:
            self._paused_at = now
        else:
            self._began += now - self._paused_at
            self._paused_at = None
        self._news.set()

    async def _signals(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        with trio.open_signal_receiver(*_ENDING, signal.SIGWINCH) as signals:
            task_status.started()
            async for number in signals:
                if number == signal.SIGWINCH:
                    self._drawing.fit(*size_of(self._fd))
                    self._news.set()
                else:
                    self.stopped = number
                    self._scope.cancel()
