"""One pane's program: what is known of it, and how it is hung up."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import trio

from termnode.panehost.client import HostBusy, HostLost, PaneHost
from termnode.service.events.throttle import Hearing
from termnode.service.input.authors import Outstanding, Typed
from termnode.service.native.foreground import Foreground
from termnode.service.native.writers import Writer
from termnode.service.program import Program
from termnode.terminal.exit_report import WaitStatus
from termnode.terminal.pty_terminal import Terminal

if TYPE_CHECKING:
    from termnode.service.shells.link import ShellLink

HANG_UP: Final = (signal.SIGHUP, signal.SIGCONT)
"""A stopped program must run to see that it was hung up."""

KILL_WAIT_S: Final = 5.0
"""After SIGKILL: a process in an uninterruptible system call is left to the host."""


@dataclass(slots=True, eq=False)
class LivePane:
    """A pane's program. Times are in monotonic seconds; ``ended`` is None while it runs."""

    id: int
    program: Program
    pid: int
    terminal: Terminal
    host: PaneHost
    started: float
    pidfd: int | None = None
    """Names the program's process even when its host has ended; None when none could be had."""
    ended: float | None = None
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    gone: trio.Event = field(default_factory=trio.Event)
    """Set when the pane was closed, or its program was started anew."""
    over: trio.Event = field(default_factory=trio.Event)
    """Set when nothing is left of it: the program was hung up, and the terminal closed."""
    hung_up: WaitStatus | None = None
    """How the program ended when it was hung up; None when nobody knows."""
    hearing: Hearing = field(default_factory=Hearing)
    held: trio.Event = field(default_factory=trio.Event)
    """Set when something waits in ``hearing``; replaced by who sees to it."""
    shown: tuple[Mapping[str, object], int] | None = None
    """The frame that the last look at the screen told, and the revision of the look that first saw
    it."""
    line_begun: int = 0
    """Bytes typed in canonical mode since the last line end."""
    told_title: str = ""
    """The title in the last event about one."""
    person_at: int = 0
    """What `People.inputs` was when a person last typed here."""
    person_inputs: int = 0
    """How often a person typed here, in every program of the pane: never goes back."""
    foreground_generation: int = 0
    """Rises with each input of a person; what an agent was permitted before counts no more then."""
    typed_last: Typed | None = None
    """Who typed last, agent or person."""
    outstanding: list[Outstanding] = field(default_factory=list)
    """Agents' input that is not all written (`People`)."""
    writer: Writer = field(default_factory=Writer)
    """Who may write here through the native lane."""
    shell: ShellLink | None = None
    """Of a shell that was started with its integration."""
    foreground: Foreground = field(init=False)
    """What input of the native lane must have seen; it rises with more than a person's input."""

    def __post_init__(self) -> None:
        """A program begins in front of its terminal."""
        self.foreground = Foreground(self.pid)
        self.foreground.on_rise = self.writer.end
        self.foreground.on_raise = self._give_way

    def observe_foreground(self) -> int | None:
        """The foreground generation as of now; None while no process group is known in front."""
        before = self.foreground.generation
        generation = self.foreground.observe(self.terminal.foreground_group())
        if self.foreground.generation != before:
            self._give_way()
        return generation

    def recheck_permits(self) -> None:
        """End every right to write that is no more, and what waits under it, at once."""
        self.discard()
        self.writer.recheck()

    def discard(self) -> list[Outstanding]:
        """End waiting input whose permit no longer holds; what ended, oldest first.

        What was noted of it, as if all had been written, is put right: of the first one last, since
        that says what was there before all of them.
        """
        left = [each for each in self.outstanding if each.left()]
        self.terminal.recheck_permits()
        ended = [each for each in left if not each.left()]
        for each in reversed(ended):
            each.undo()
        self.outstanding = [each for each in left if each.left()]
        return ended

    def _give_way(self) -> None:
        """Nobody of the native lane may write any more; others' input is not looked through."""
        if self.writer.waiting:
            self.discard()

    def close_shell(self) -> None:
        """Remove what its shell was given, once that has ended; may be called again."""
        if self.shell is not None:
            self.shell.close()

    def close_pidfd(self) -> None:
        """Let go of the process; may be called again."""
        if self.pidfd is not None:
            os.close(self.pidfd)
            self.pidfd = None

    @property
    def duration_ms(self) -> int:
        """How long the program has run, or ran."""
        end = time.monotonic() if self.ended is None else self.ended
        return round((end - self.started) * 1000)

    def exit_body(self) -> Mapping[str, object] | None:
        """How it ended, as replies say it: ``code`` or ``signal``; None while it runs."""
        if self.ended is None:
            return None
        report = self.terminal.exit or self.hung_up
        if report is None:
            return {"unknown": True}
        if report.signal is not None:
            return {"signal": report.signal, "core": report.core}
        return {"code": report.code}


async def hang_up(live: LivePane, grace_s: float) -> None:
    """SIGHUP to the program's group, SIGKILL if it is still there after the grace."""
    if live.ended is not None:
        return
    ended = False
    with suppress(HostLost, HostBusy):
        ended = await _through_host(live, grace_s)
    if not ended:
        await _through_pidfd(live, grace_s)


async def _through_host(live: LivePane, grace_s: float) -> bool:
    """Whether the host has said that it ended; a stuck host says nothing. Raises as `signal`."""
    for number in HANG_UP:
        live.host.signal(live.pid, number)
    with trio.move_on_after(grace_s):
        await live.host.wait_exit(live.pid)
    if live.host.exit_status(live.pid) is None:
        live.host.signal(live.pid, signal.SIGKILL)
        with trio.move_on_after(KILL_WAIT_S):
            await live.host.wait_exit(live.pid)
    live.hung_up = live.host.exit_status(live.pid)
    live.host.forget(live.pid)
    if live.hung_up is None:
        return False
    live.ended = time.monotonic()
    return True


async def _through_pidfd(live: LivePane, grace_s: float) -> None:
    """As `_through_host`, without it (it has ended, or is stuck): the leader alone can be reached.

    Closing the master, which comes next, hangs up the rest of the session.
    """
    if live.pidfd is None:
        return
    with suppress(ProcessLookupError):
        for number in HANG_UP:
            signal.pidfd_send_signal(live.pidfd, number)
        with trio.move_on_after(grace_s):
            await trio.lowlevel.wait_readable(live.pidfd)
            return
        signal.pidfd_send_signal(live.pidfd, signal.SIGKILL)
