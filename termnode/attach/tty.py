"""A person's own terminal: borrowed, and given back exactly as it was found.

It is given back by `Tty.leave`, at the end of the process, after an exception, and on the signals
that end or stop it; after a stop it is taken again. Only SIGKILL of this process leaves it as is.
"""

from __future__ import annotations

import atexit
import os
import time
from base64 import b64encode
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

import trio

from termnode.attach import tty_depth
from termnode.attach.tty_device import CHUNK, Device, NoTerminal, open_terminal
from termnode.attach.tty_loan import Loan
from termnode.attach.tty_protocols import asks_well
from termnode.attach.tty_signals import Signals

__all__ = ["MAX_COPY", "MAX_WAITING", "NoTerminal", "Tty"]

MAX_WAITING: Final = 16 << 20
"""Bytes that wait for the terminal to take them."""

MAX_COPY: Final = 1 << 20
"""Bytes of a text, in UTF-8, that is put into the clipboard."""


class Tty:
    """One terminal. As a context manager it enters, leaves and closes.

    All methods are for the main thread: they set signal handlers. What is written is written in
    order and whole, as far as the terminal takes it, by the task that calls `drained`; it is
    dropped when the terminal is given back, or is gone (then `read` tells).
    """

    def __init__(self, fd: int | None = None, environ: Mapping[str, str] | None = None) -> None:
        """``fd`` is non-blocking, and ours from now on; without it, the terminal that standard
        input and output are is opened. Raises NoTerminal.
        """
        self._environ = os.environ if environ is None else environ
        self._device = Device(open_terminal(0, 1) if fd is None else fd)
        asks = asks_well(self._environ.get("TERM", ""))
        self._loan = Loan(self._device, asks=asks, clock=time.monotonic)
        self._signals = Signals(self._loan.give_back, self._resumed, self._note)
        self._erase = self._device.erase()
        self._process = 0
        self._waiting = bytearray()
        self._stuck = trio.Event()
        self._changed = trio.Event()
        self._token: trio.lowlevel.TrioToken | None = None
        self._missed = False

    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        return self._device.size()

    def depth(self) -> int:
        """How many colours it has: 16, 256 or 1 << 24."""
        return tty_depth.depth(self._environ)

    @property
    def erase(self) -> int:
        """What its Backspace sends, for `InputParser`."""
        return self._erase

    @property
    def synchronized(self) -> bool:
        """Whether it has answered that it draws a frame at once (mode 2026)."""
        return self._loan.borrowed.synchronized

    @property
    def kitty(self) -> bool:
        """Whether it has answered that it knows the kitty keyboard protocol; then it is in use."""
        return self._loan.borrowed.kitty

    def enter(self) -> None:
        """Borrow it, once. Raises NoTerminal when it is gone."""
        with self._signals.undisturbed():
            self._process = os.getpid()
            self._signals.install()
            atexit.register(self.leave)
            try:
                self._signals.insist(self._loan.take)
            except NoTerminal:
                self.leave()
                raise

    def leave(self) -> None:
        """Give it back. It takes about a second and a half at most. May be called at any time."""
        if os.getpid() != self._process:
            return  # never entered, or a fork of the process that has
        with self._signals.undisturbed():
            self._loan.give_back()
            self._signals.remove()
            atexit.unregister(self.leave)

    def close(self) -> None:
        """Leave and close it, after all tasks that use it."""
        self.leave()
        os.close(self._device.fd)

    def __enter__(self) -> Self:
        self.enter()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()

    async def read(self) -> bytes:
        """What was typed, 1 to CHUNK bytes, for `InputParser`; empty when the terminal is gone."""
        while True:
            await trio.lowlevel.wait_readable(self._device.fd)
            try:
                return os.read(self._device.fd, CHUNK)
            except BlockingIOError:
                continue
            except OSError:
                return b""

    @property
    def busy(self) -> bool:
        """Whether the terminal has not taken all that was written."""
        return bool(self._waiting)

    def write_frame(self, data: bytes) -> None:
        """Write it, now or after what waits. ValueError when more than MAX_WAITING would wait.

        Nothing is written to a terminal that is not borrowed.
        """
        if len(self._waiting) + len(data) > MAX_WAITING:
            raise ValueError("more bytes than MAX_WAITING would wait")
        if self._loan.ours:
            self._waiting += data
            self._push()

    async def drained(self) -> None:
        """Wait for something that was not taken at once, and then until it is. For one task."""
        while not self._waiting:
            self._stuck = trio.Event()
            await self._stuck.wait()
        while self._waiting:
            await trio.lowlevel.wait_writable(self._device.fd)
            self._push()

    def hear(self, reply: bytes) -> None:
        """Take a `ReplyEvent`: the answer of the terminal to something it was asked."""
        self.write_frame(self._loan.hear(reply))

    def all_motion(self, *, on: bool) -> None:
        """Whether to be told of the mouse's way with no button held (for programs that ask)."""
        self.write_frame(self._loan.borrowed.set_motion(on=on))

    def copy(self, text: str) -> bool:
        """Put ``text`` into the person's clipboard (OSC 52).

        False when it has more bytes than MAX_COPY, or the terminal takes nothing.
        """
        data = text.encode("utf-8", "replace")
        if len(data) > MAX_COPY or len(self._waiting) > MAX_COPY:
            return False
        self.write_frame(b"\x1b]52;c;" + b64encode(data) + b"\x1b\\")
        return True

    def ring(self) -> None:
        """Ring the person's bell; not while the terminal takes nothing."""
        if not self.busy:
            self.write_frame(b"\a")

    async def sizes(self) -> AsyncIterator[tuple[int, int]]:
        """Columns and rows after each change; several may be told as one. For one task.

        All is to be painted anew after each, also when it is the same size: then others have used
        the terminal meanwhile, and nothing of ours is on it.
        """
        self._token = trio.lowlevel.current_trio_token()
        if self._missed:
            self._changed.set()
        while True:
            await self._changed.wait()
            self._changed = trio.Event()
            yield self.size()

    def _push(self) -> None:
        """Write what the terminal takes now. What was for an earlier turn is dropped."""
        with suppress(OSError):
            while self._waiting:
                turn, self._loan.cut = self._loan.turn, True
                taken = self._device.write_some(self._waiting)
                if turn != self._loan.turn:
                    break  # a signal came in between
                del self._waiting[:taken]
                if not taken:
                    return self._stuck.set()
        self._waiting.clear()
        self._loan.cut = False
        return None

    def _resumed(self) -> bool:
        """Called from signal handlers, like all below."""
        done = self._loan.take_again()
        self._waiting.clear()
        self._note()
        return done

    def _note(self) -> None:
        if self._token is None:
            self._missed = True
        else:
            with suppress(trio.RunFinishedError):
                self._token.run_sync_soon(self._tell, idempotent=True)

    def _tell(self) -> None:
        self._changed.set()
