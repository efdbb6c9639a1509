"""The programs in the panes: started, watched, shown after their end for a while, hung up.

The workspace says which panes there are and how big; this says what runs in them. Each live pane is
one task that owns the pane's terminal from its start to its removal.
"""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable, Mapping

import trio

from termnode.panehost.client import HostLost, PaneHost, Spawned
from termnode.service.config import Config
from termnode.service.keeping.host_keeper import HostKeeper
from termnode.service.live_pane import LivePane, hang_up
from termnode.service.program import Program, clean_environment, pane_environment
from termnode.service.shells.link import ShellLink
from termnode.service.shells.starting import Integration, shells_directory, sweep
from termnode.service.spawning import spawn
from termnode.terminal.commands import Signal
from termnode.terminal.engine import Engine, EngineFactory
from termnode.terminal.pacing import FloodShare
from termnode.terminal.pty_terminal import Terminal


def _ignored(_live: LivePane) -> None:
    """Nobody wants to know."""


class Panes:
    """Every live pane by id.

    ``on_end`` is called when a program ended by itself, ``on_expired`` when its pane has been
    readable for as long as it was asked to remain, ``on_signal`` when a program said something
    besides its output, ``on_start`` and ``on_gone`` when a program is there and when its pane was
    closed. ``beside`` runs as long as a pane is watched. ``fallback`` makes the engine
    of a pane whose own one died.
    """

    def __init__(
        self,
        config: Config,
        host: HostKeeper,
        make_engine: EngineFactory,
        fallback: EngineFactory | None,
        *,
        on_end: Callable[[LivePane], None],
        on_expired: Callable[[LivePane], None],
        on_signal: Callable[[LivePane, Signal], None],
        on_start: Callable[[LivePane], None] = _ignored,
        on_gone: Callable[[LivePane], None] = _ignored,
        beside: Callable[[LivePane], Awaitable[None]],
    ) -> None:
        self._config = config
        self._host = host
        self._make_engine = make_engine
        self._fallback = fallback
        self._share = FloodShare()
        self._on_end = on_end
        self._on_expired = on_expired
        self._on_signal = on_signal
        self._on_start = on_start
        self._on_gone = on_gone
        self._beside = beside
        self._live: dict[int, LivePane] = {}
        self.person_environment: Mapping[str, str] = {}
        """Of the person who attached last: how to reach their screen and keys."""
        self._nursery: trio.Nursery | None = None

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Hold the panes' tasks; ends by cancellation only."""
        sweep(shells_directory(self._config.directory, self._config.name))
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                task_status.started()
                await trio.sleep_forever()
        finally:
            await self._hang_up_orphans()

    async def _hang_up_orphans(self) -> None:
        """Programs of a host that has ended: the present host, which hangs up its own, has none."""
        with trio.CancelScope(shield=True):
            async with trio.open_nursery() as nursery:
                for live in self._live.values():
                    if live.host is not self._host.latest:
                        nursery.start_soon(hang_up, live, self._config.hangup_grace_s)

    def get(self, pane: int) -> LivePane | None:
        """The program of a pane; None for one that is just being started."""
        return self._live.get(pane)

    async def start(self, pane: int, program: Program, cols: int, rows: int) -> LivePane:
        """Start the program in the pane and watch it; it takes the place of an ended one.

        From the moment the program is there to the return nothing else runs, so that no reader
        sees it half adopted. The pane may have gone meanwhile: the caller checks. Raises Refusal:
        it was not started, and what was there is there still.
        """
        host = self._host.current()
        environment = self._environment(program, pane)
        started = await spawn(self._config, host, program, environment, (cols, rows))
        spawned, integration = started.spawned, started.integration
        terminal = Terminal(
            spawned.master_fd,
            spawned.pid,
            self._engine(host, spawned, integration, cols, rows),
            clock=time.monotonic,
            fallback=self._fallback,
            share=self._share,
            revision=self._next_revision(pane),
            on_signal=lambda signal: self._on_signal(live, signal),
        )
        before = self._live.get(pane)
        self._end(before)
        live = LivePane(
            pane, program, spawned.pid, terminal, host, time.monotonic(), _pidfd(spawned.pid)
        )
        if integration is not None:
            live.shell = ShellLink(live, integration)
        if before is not None:
            live.foreground.follow(before.foreground)
            live.person_inputs = before.person_inputs
        self._live[pane] = live
        assert self._nursery is not None, "panes are started while the service runs"
        self._nursery.start_soon(self._own, live)
        self._on_start(live)
        return live

    def _environment(self, program: Program, pane: int) -> dict[str, str]:
        if program.clean_env:
            return clean_environment(program.env)
        base = {**self._config.environment, **self.person_environment}
        name, directory = self._config.name, self._config.directory
        return pane_environment(base, program.env, name, directory, pane)

    def _next_revision(self, pane: int) -> int:
        """Where a new program's screen begins: revisions of a pane never go back."""
        before = self._live.get(pane)
        return 0 if before is None else before.terminal.revision + 1

    def _engine(
        self,
        host: PaneHost,
        spawned: Spawned,
        integration: Integration | None,
        cols: int,
        rows: int,
    ) -> Engine:
        """The engine of a new program, which is hung up when there cannot be one."""
        try:
            return self._make_engine(cols, rows, self._config.scrollback)
        except BaseException:
            os.close(spawned.master_fd)
            host.forget(spawned.pid)
            if integration is not None:
                integration.close()
            raise

    def recheck_permits(self) -> None:
        """Discard waiting input whose permit no longer holds, in every pane, at once."""
        for live in self._live.values():
            live.recheck_permits()

    def resize(self, sizes: Mapping[int, tuple[int, int]]) -> None:
        """Give programs their new sizes; panes without a program are passed over."""
        for pane, (cols, rows) in sizes.items():
            live = self._live.get(pane)
            if live is not None:
                live.terminal.resize(cols, rows)

    def end(self, pane: int) -> None:
        """Take the program out of the pane and hang it up, without waiting for it."""
        live = self._live.pop(pane, None)
        self._end(live)
        if live is not None:
            self._on_gone(live)

    def _end(self, live: LivePane | None) -> None:
        if live is not None:
            live.foreground.raise_("gone")
            live.gone.set()
            live.scope.cancel()

    async def _own(self, live: LivePane) -> None:
        try:
            await self._watch(live)
        finally:
            live.close_shell()

    async def _watch(self, live: LivePane) -> None:
        """Own one pane from its start until it is closed, started anew, or no longer kept."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._beside, live)
            await nursery.start(live.terminal.run)
            with live.scope:
                await self._until_ended(live)
                await trio.sleep(live.program.remain)
            if live.scope.cancelled_caught:
                await hang_up(live, self._config.hangup_grace_s)
            nursery.cancel_scope.cancel()
        await live.terminal.close()
        live.close_pidfd()
        live.over.set()
        if not live.gone.is_set():
            self._on_expired(live)

    async def _until_ended(self, live: LivePane) -> None:
        try:
            status = await live.host.wait_exit(live.pid)
        except HostLost:
            # Nobody can tell the status any more; the end of its output is the end of the program.
            while not live.terminal.ended:
                await live.terminal.changed(live.terminal.revision)
        else:
            await live.terminal.report_exit(status)
            live.host.forget(live.pid)
        live.ended = time.monotonic()
        live.close_shell()
        live.foreground.raise_("ended")
        if not live.gone.is_set():  # closed in the moment of its end: nobody knows the pane now
            self._on_end(live)


def _pidfd(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except OSError:  # gone already, or no descriptor is left: only an ended host would miss it
        return None
