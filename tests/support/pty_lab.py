"""A real pane host with real programs on real pseudo-terminals, for tests."""

from __future__ import annotations

import os
import selectors
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress

import trio

from termnode.panehost.client import PaneHost, UserSettings
from termnode.terminal.engine import Engine, EngineFactory
from termnode.terminal.exit_report import ExitReport
from termnode.terminal.processes import Foreground
from termnode.terminal.pty_terminal import Terminal
from tests.support.recording_engine import RecordingEngine

WITHIN = 40.0
"""Seconds after which a test counts as stuck, on a loaded machine too."""

ENV = {"PATH": os.environ.get("PATH", os.defpath), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}


class Lab:
    """Programs of one test."""

    def __init__(self, host: PaneHost, nursery: trio.Nursery) -> None:
        self.host = host
        self._nursery = nursery

    async def start(
        self,
        *argv: str,
        cwd: str = "/",
        env: Mapping[str, str] | None = None,
        engine: Engine | None = None,
        fallback: EngineFactory | None = None,
    ) -> Terminal:
        """A program on a terminal of 80 by 24."""
        spawned = await self.host.spawn(argv, cwd, {**ENV, **(env or {})}, 80, 24)
        terminal = Terminal(
            spawned.master_fd,
            spawned.pid,
            engine or RecordingEngine(80, 24),
            fallback=fallback,
        )
        await self._nursery.start(terminal.run)
        return terminal

    async def shell(self, script: str) -> Terminal:
        """A script under sh."""
        return await self.start("sh", "-c", script)

    async def output(self, script: str) -> str:
        """All that a script prints, without carriage returns."""
        terminal = await self.shell(script)
        await self.exit(terminal)
        return recorded(terminal).decode().replace("\r", "")

    async def exit(self, terminal: Terminal) -> ExitReport:
        """Wait for the end of a program, as the service does."""
        await terminal.report_exit(await self.host.wait_exit(terminal.pid))
        assert terminal.exit is not None
        return terminal.exit


def recorded(terminal: Terminal) -> bytes:
    """What a recording engine was fed."""
    assert isinstance(terminal.engine, RecordingEngine)
    return bytes(terminal.engine.data)


async def until(terminal: Terminal, check: Callable[[], bool]) -> None:
    """Wait for changes of a terminal until ``check`` holds."""
    revision = terminal.revision
    while not check():
        assert not terminal.final, "the terminal ended first"
        revision = await terminal.changed(revision)


async def in_front(terminal: Terminal, command: str) -> Foreground:
    """Wait until the foreground program is ``command``. Nothing announces it, so look often."""
    while (front := terminal.foreground()) is None or front.command != command:
        with trio.move_on_after(0.005):
            await terminal.changed(terminal.revision)
    return front


async def shows(terminal: Terminal, text: bytes) -> None:
    """Wait until a program has printed ``text``."""
    await until(terminal, lambda: text in recorded(terminal))


@asynccontextmanager
async def lab(user: UserSettings | None = None) -> AsyncIterator[Lab]:
    """A host of its own; all programs end with it."""
    async with PaneHost.start(user) as host, trio.open_nursery() as nursery:
        yield Lab(host, nursery)
        nursery.cancel_scope.cancel()


def run(test: Callable[[], Awaitable[None]]) -> None:
    """Run an async test, bounded in time."""

    async def bounded() -> None:
        with trio.fail_after(WITHIN):
            await test()

    trio.run(bounded)


def in_lab(test: Callable[[Lab], Awaitable[None]]) -> None:
    """Run an async test with a lab of its own."""

    async def with_lab() -> None:
        async with lab() as made:
            await test(made)

    run(with_lab)


def children_of(pid: int) -> list[int]:
    """Processes whose parent is ``pid``."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                if int(file.read().rpartition(b")")[2].split()[1]) == pid:
                    found.append(int(name))
    return found


class Watched:
    """A process that may not be our child: wait for its end, or end it, without mistaking it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._pidfd = os.pidfd_open(pid)

    def ended(self, within: float = WITHIN) -> bool:
        """Whether it has ended, after waiting for at most ``within`` seconds."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._pidfd, selectors.EVENT_READ)
            return bool(selector.select(within))

    def kill(self) -> None:
        """End it and let go of it."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        os.close(self._pidfd)
