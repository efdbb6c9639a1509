"""Right after the zygote's fork: what a sidecar keeps of its parent, which is nearly nothing."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, NoReturn

KEPT: Final = frozenset({0, 1, 2})
"""Input and output are /dev/null in the zygote already; errors go where the zygote's go."""


def fork(keep: Iterable[int], name: str, work: Callable[[], None]) -> int:
    """The pid of a fresh child that runs ``work`` with the descriptors of ``keep``. Raises OSError.

    No signal handler of this process runs in the child.
    """
    with _signals_blocked():
        pid = os.fork()
        if pid == 0:
            _become(keep, name, work)
    return pid


def pidfd_of(pid: int) -> int:
    """A pidfd for a child that just started; a child that nobody could watch is ended."""
    try:
        return os.pidfd_open(pid)
    except OSError:
        os.kill(pid, signal.SIGKILL)
        raise


def _become(keep: Iterable[int], name: str, work: Callable[[], None]) -> NoReturn:
    """Be the child; never returns.

    The exit code is 0, or 1 when ``work`` raised: it has said why itself.
    """
    code = 1
    with suppress(BaseException):  # nothing of the parent's stack may run in the child
        _isolate(frozenset(keep), name)
        work()
        code = 0
    os._exit(code)


def _isolate(keep: frozenset[int], name: str) -> None:
    """A session of its own, default signals, no descriptor of the zygote's."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    with suppress(OSError):
        os.setsid()
    _close_others(keep | KEPT)
    _show_name(name)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _close_others(keep: frozenset[int]) -> None:
    for number in map(int, os.listdir("/proc/self/fd")):
        if number not in keep:
            with suppress(OSError):  # the listing's own descriptor is closed by now
                os.close(number)


def _show_name(name: str) -> None:
    """What `ps` shows as the command; 15 bytes of it."""
    with suppress(OSError), open("/proc/self/comm", "w") as file:
        file.write(name[:15])


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """No handler of the zygote's runs in a child."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
