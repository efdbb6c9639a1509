"""Forks a task's own process: a session, a working directory, few descriptors, and the program.

In a process of one thread only: what runs between fork and exec is Python, and the signal of the
parent's death is about the thread that forked.
"""

from __future__ import annotations

import errno
import os
import resource
import signal
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NoReturn

from termnode.paneshell.tasks.environment import Surroundings
from termnode.paneshell.tasks.limits import RESULT_FD
from termnode.paneshell.tasks.native import die_with_parent

PARENT_GONE: Final = 125
"""Exit code of a task whose keeper ended before it could begin."""

CWD: Final = "cwd"
PROGRAM: Final = "program"
FORK: Final = "fork"

NOT_THERE: Final = frozenset(
    {
        errno.ENOENT,
        errno.ENOTDIR,
        errno.EACCES,
        errno.ENOEXEC,
        errno.ELOOP,
        errno.ENAMETOOLONG,
        errno.EISDIR,
    }
)
"""Errors of an exec or a change of directory that no later try mends by itself."""

_FIRST_SPARE: Final = 10
"""Pipes are moved to here and above in the child, so that 0 to 3 can be put in place."""


@dataclass(frozen=True, slots=True)
class Program:
    """What to run, where and with what; ``result`` gives it descriptor 3."""

    argv: tuple[bytes, ...]
    surroundings: Surroundings
    cwd: bytes
    result: bool


@dataclass(frozen=True, slots=True)
class Child:
    """A forked task. Its descriptors are the receiver's: each is non-blocking, for reading.

    ``failure`` ends without data once the program runs, or says `stage errno` when it never will.
    ``result`` is None without a result descriptor.
    """

    pid: int
    failure: int
    stdout: int
    stderr: int
    result: int | None


def launch(program: Program) -> Child:
    """Fork the task. Raises OSError when there is no process or descriptor left."""
    pipes: list[tuple[int, int]] = []
    try:
        for _ in range(4 if program.result else 3):
            pipes.append(os.pipe2(os.O_CLOEXEC))  # noqa: PERF401  # those made are closed on error
        parent = os.getpid()
        pid = os.fork()
    except OSError:
        for descriptor in (end for pipe in pipes for end in pipe):
            os.close(descriptor)
        raise
    if pid == 0:
        _become(program, parent, [writing for _, writing in pipes])
    for reading, writing in pipes:
        os.close(writing)
        os.set_blocking(reading, False)
    ends = [reading for reading, _ in pipes]
    return Child(pid, ends[0], ends[1], ends[2], ends[3] if program.result else None)


def read_failure(data: bytes) -> tuple[str, int]:
    """Stage and errno, as the child wrote them."""
    stage, _, number = data.decode("ascii").partition(" ")
    return stage, int(number)


def _become(program: Program, parent: int, writing: list[int]) -> NoReturn:
    """Be the task; never returns."""
    stage, failure = FORK, writing[0]
    with suppress(BaseException):  # nothing of the parent's stack may run in the child
        try:
            _isolate(parent, program.surroundings)
            failure = _place(writing)
            stage = CWD
            os.chdir(program.cwd)
            stage = PROGRAM
            os.execvpe(program.argv[0], program.argv, program.surroundings.environment)
        except OSError as error:
            os.write(failure, f"{stage} {error.errno}".encode())
    os._exit(127)


def _isolate(parent: int, surroundings: Surroundings) -> None:
    """Own session and group, death with the keeper, and signals as any program expects them."""
    signal.set_wakeup_fd(-1)
    os.setsid()
    die_with_parent(signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(PARENT_GONE)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.umask(surroundings.umask)
    with suppress(OSError, ValueError):  # no more than this process may have itself
        resource.setrlimit(resource.RLIMIT_NOFILE, surroundings.nofile)


def _place(writing: list[int]) -> int:
    """Put /dev/null and the pipes in place, close all else; where failures are told now.

    What must go on exec is: the failure pipe, and nothing else that is open.
    """
    spare = _FIRST_SPARE + max(writing)
    high = [os.dup2(end, spare + place, False) for place, end in enumerate(writing)]
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    for target, end in zip((1, 2, RESULT_FD), high[1:], strict=False):
        os.dup2(end, target)
    first = RESULT_FD + 1 if len(writing) > RESULT_FD else RESULT_FD
    os.closerange(first, high[0])
    os.closerange(high[0] + 1, os.sysconf("SC_OPEN_MAX"))
    return high[0]
