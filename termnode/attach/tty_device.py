"""The device of a person's terminal: plain system calls, each bounded in time."""

from __future__ import annotations

import errno
import os
import select
import signal
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

CHUNK: Final = 16_384
"""Bytes of one read at most."""

DEFAULT_SIZE: Final = (80, 24)
"""Of a terminal that does not know its size."""

Attributes = list[Any]
"""As `termios.tcgetattr` gives them."""


class NoTerminal(Exception):
    """There is no terminal to show anything in."""


class Interrupted(Exception):
    """We were stopped, or a signal came: try again."""


def open_terminal(*fds: int) -> int:
    """A descriptor of the terminal that all of ``fds`` are, of its own and non-blocking.

    The flags of ``fds`` are shared with the shell, so they are left alone. Raises NoTerminal.
    """
    if not all(os.isatty(fd) for fd in fds):
        raise NoTerminal("standard input and output must be a terminal")
    for path in (_name(fds[0]), "/dev/tty"):  # the name may be another user's, or not be there
        with suppress(OSError):
            return os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    raise NoTerminal("the terminal cannot be opened")


def _name(fd: int) -> str:
    try:
        return os.ttyname(fd)
    except OSError:
        return "/dev/tty"


class Device:
    """Plain system calls on one terminal. None waits for longer than it says."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._raw: Attributes | None = None

    def attributes(self) -> Attributes:
        """How it is set now."""
        return termios.tcgetattr(self.fd)

    def erase(self) -> int:
        """The character that erases the last one, as the person has set it."""
        return ord(self.attributes()[6][termios.VERASE])

    def size(self) -> tuple[int, int]:
        """Columns and rows, both at least 1."""
        with suppress(OSError):
            cols, rows = os.get_terminal_size(self.fd)
            if cols > 0 and rows > 0:
                return cols, rows
        return DEFAULT_SIZE

    def make_raw(self, found: Attributes) -> None:
        """Every byte as it is, both ways.

        In the background this stops us; once we go on it raises Interrupted, for ``found`` may not
        be what is there now. Raises termios.error when the terminal is gone.
        """
        try:
            termios.tcsetattr(self.fd, termios.TCSANOW, raw(found))
        except termios.error as error:
            if error.args[0] == errno.EINTR:
                raise Interrupted from error
            raise
        self._raw = self.attributes()

    def set_back(self, found: Attributes) -> None:
        """As it was found; but if we are in the background and others have set it since, not."""
        with suppress(OSError, termios.error):
            if not self._in_front() and self.attributes() != self._raw:
                return
            # We may do this from the background too: nobody else will.
            before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            try:
                termios.tcsetattr(self.fd, termios.TCSANOW, found)
            finally:
                signal.signal(signal.SIGTTOU, before)

    def write_some(self, data: bytes | bytearray | memoryview) -> int:
        """How much of it was taken at once: 0 when the terminal takes nothing just now.

        Raises OSError when there is no terminal any more.
        """
        try:
            return os.write(self.fd, data)
        except BlockingIOError:
            return 0

    def put(self, data: bytes, within: float) -> None:
        """Write all, or what is taken until nothing was for ``within`` seconds."""
        view = memoryview(data)
        with suppress(OSError):
            while view:
                taken = self.write_some(view)
                view = view[taken:]
                if not taken and not self._ready(select.POLLOUT, within):
                    return

    def discard(self, enough: Callable[[bytes], bool], within: float) -> None:
        """Read until ``enough`` of what was read, for at most ``within`` seconds."""
        end, seen = time.monotonic() + within, b""
        with suppress(OSError):
            while not enough(seen[-CHUNK:]) and (left := end - time.monotonic()) > 0:
                if self._ready(select.POLLIN, left):
                    got = os.read(self.fd, CHUNK)
                    if not got:
                        return
                    seen = seen[-CHUNK:] + got

    def forget_input(self) -> None:
        """Throw away what was sent and not read."""
        with suppress(OSError, termios.error):
            termios.tcflush(self.fd, termios.TCIFLUSH)

    def _ready(self, event: int, within: float) -> bool:
        poll = select.poll()
        poll.register(self.fd, event)
        return bool(poll.poll(within * 1_000))

    def _in_front(self) -> bool:
        try:
            return os.tcgetpgrp(self.fd) == os.getpgrp()
        except OSError:  # not the terminal of our session: nobody is in front in it
            return True


def raw(found: Attributes) -> Attributes:
    """``found`` with nothing translated, echoed, edited, or made a signal of."""
    iflag, oflag, cflag, lflag, ispeed, ospeed, cc = found
    cc = list(cc)
    cc[termios.VMIN], cc[termios.VTIME] = 1, 0
    return [
        iflag & ~_INPUT, oflag & ~termios.OPOST,
        cflag & ~(termios.CSIZE | termios.PARENB) | termios.CS8, lflag & ~_LOCAL,
        ispeed, ospeed, cc,
    ]  # fmt: skip


_INPUT: Final = (
    termios.IGNBRK | termios.BRKINT | termios.PARMRK | termios.INPCK | termios.ISTRIP
    | termios.INLCR | termios.IGNCR | termios.ICRNL | termios.IXON | termios.IXOFF
)  # fmt: skip
_LOCAL: Final = (
    termios.ECHO | termios.ECHONL | termios.ICANON | termios.ISIG | termios.IEXTEN
)  # fmt: skip
