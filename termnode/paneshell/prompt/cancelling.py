"""Cancels a command: waits until a signal would reach it, sends it, and says what was done."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from termnode.paneshell.prompt.executions import Execution
from termnode.paneshell.prompt.interrupting import Sent, interrupt
from termnode.paneshell.prompt.watching import Watch
from termnode.paneshell.shell_process import ShellProcess
from termnode.paneshell.status import FOREGROUND_CHILD

BEGIN_MS: Final = 250
"""For a command that is to be cancelled to have begun."""

FRONT_MS: Final = 100
"""After it began, for a program to have the terminal; then the shell, or a copy, runs it itself."""

LOOK_MS: Final = 10
"""Between two looks at who has the terminal."""


async def cancel(
    watch: Watch, shell: ShellProcess, execution: Execution, clock_ms: Callable[[], int]
) -> Sent:
    """Interrupt a command that runs, and say what was done; BEGIN_MS and FRONT_MS later at most.

    Between the last look at what the shell has told and the signal nothing is awaited: a command
    that has ended leaves the terminal to a line of the person, whom a signal would cost it.
    """
    watch.drain()
    if execution.result is None:
        execution.cancel_requested = True
    await _wait_for_a_target(watch, shell, execution, clock_ms)
    watch.drain()
    if execution.ended:
        return None, "nothing was sent: it has ended"
    if not (execution.admitted or execution.running):
        return None, "nothing was sent: it is not known to have begun"
    sent = interrupt(shell, itself=execution.running)
    execution.signalled |= sent[0] is not None
    return sent


def has_child(shell: ShellProcess) -> bool:
    """Whether another process group than the shell's own has its terminal."""
    return shell.observe().phase == FOREGROUND_CHILD


async def _wait_for_a_target(
    watch: Watch, shell: ShellProcess, execution: Execution, clock_ms: Callable[[], int]
) -> None:
    """A shell, or a copy of it that is not a program yet, may drop a signal and go on."""
    end, begun = clock_ms() + BEGIN_MS, False
    while not (execution.ended or _is_program(shell)):
        if not begun and (execution.running or has_child(shell)):
            end, begun = clock_ms() + FRONT_MS, True
        left = end - clock_ms()
        if left <= 0:
            return
        await watch.bell.wait(min(left, LOOK_MS) / 1_000)
        watch.drain()


def _is_program(shell: ShellProcess) -> bool:
    """Whether what has the terminal is neither the shell nor runs the very same program."""
    groups = shell.groups()
    if groups is None or groups[0] == groups[1]:
        return groups is None
    return _program(groups[1]) != _program(shell.pid)


def _program(pid: int) -> str | None:
    with suppress(OSError):
        return os.readlink(f"/proc/{pid}/exe")
    return None
