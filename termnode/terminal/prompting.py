"""Whether a shell that marks no prompts waits for a command: what the kernel tells of its terminal.

Such a shell may be left with the marks of one that ran in it: these count as long as that one is
there.

No program announces this, so whoever wants to know looks again and again (`POLL_S`).
"""

from __future__ import annotations

import os
from typing import Final, Protocol

from termnode.terminal.commands import Commands
from termnode.terminal.engine import Engine
from termnode.terminal.processes import Foreground, LineDiscipline, exists

POLL_S: Final = 0.05
"""How often to look: a change of a terminal's settings wakes nobody."""

SETTLED_S: Final = 0.15
"""Without output for so long: a shell sets its terminal first and writes its prompt then. And
without input: it takes a moment to see that it was given a command."""

_WITHOUT_EDITOR: Final = frozenset({"dash", "posh"})
"""Shells that read line by line, with the kernel's own editing and echo."""


class Seen(Protocol):
    """What is looked at: a `Terminal`, or what stands for one."""

    last_output: float | None

    @property
    def last_input(self) -> float | None:
        """When something was last written to it."""

    @property
    def commands(self) -> Commands:
        """What prompt marks say."""

    @property
    def engine(self) -> Engine:
        """Its emulator."""

    @property
    def pid(self) -> int:
        """The pane's own process, which leads its session."""

    def foreground(self) -> Foreground | None:
        """The process group that reads the keys."""

    def line_discipline(self) -> LineDiscipline | None:
        """How the kernel treats input."""


def marks_itself(terminal: Seen) -> bool:
    """Whether the pane's own process marks its prompts: nothing else has to be looked at then."""
    commands = terminal.commands
    return commands.marked and (commands.group is None or commands.group == terminal.pid)


def marker_gone(terminal: Seen) -> bool:
    """Whether what marked the last prompt was a shell in the pane's own one, and has ended.

    Also true of a shell that does go on marking, when the command after its prompt was in front
    before the marks were read; until its next prompt.
    """
    group = terminal.commands.group
    return group is not None and group != terminal.pid and not exists(group)


def at_prompt(terminal: Seen, now: float) -> bool:
    """Whether the pane's own process group waits for a command, as far as can be known.

    ``now`` is by the terminal's clock. Never true while a secret is asked for, on the alternate
    screen, or while the shell is busy. A few system calls.
    """
    last = terminal.last_output
    if last is None or now - last < SETTLED_S or just_written(terminal, now):
        return False
    if terminal.engine.modes.alternate:
        return False
    front, discipline = terminal.foreground(), terminal.line_discipline()
    if front is None or not front.is_leader or discipline is None:
        return False
    return _reads_commands(discipline, terminal.pid) and _sleeps(terminal.pid)


def just_written(terminal: Seen, now: float) -> bool:
    """Whether so little time has passed since the last input that it may not have been read."""
    return terminal.last_input is not None and now - terminal.last_input < SETTLED_S


def _reads_commands(discipline: LineDiscipline, pid: int) -> bool:
    """An editor of its own, or lines in a shell without one; canonical without echo is a secret."""
    if discipline.canonical:
        return discipline.echo and _program(pid) in _WITHOUT_EDITOR
    return not discipline.echo


def _program(pid: int) -> str | None:
    """File name of a process's program: it is `dash` where it was started as `sh`."""
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return None


def _sleeps(pid: int) -> bool:
    """Whether a process waits for something; one that computes is not at its prompt."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] == b"S"
    except (OSError, IndexError):
        return False
