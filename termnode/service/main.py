"""Puts one Term service together, runs it until it is told to end, and takes it down in order."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import trio

from brokerd.client import Bus, connect
from termnode.control import posture
from termnode.control.audit import Audit
from termnode.control.native.decisions import Go
from termnode.control.retry import RetryTable
from termnode.lanes.calls import Reply, Sealed, Ticket
from termnode.lanes.global_lane import GlobalLane
from termnode.lanes.native_lane import native_summary
from termnode.service.config import Config
from termnode.service.dispatch import Dispatcher
from termnode.service.events.hub import Events
from termnode.service.events.notices import Notices
from termnode.service.events.pane_watch import PaneWatch
from termnode.service.events.pump import EventPump
from termnode.service.events.telling import EXPIRED, LEFT, Telling
from termnode.service.identity.actor import IdentityActor
from termnode.service.keeping.broker_keeper import BrokerKeeper
from termnode.service.keeping.broker_retire import retire_if_unused
from termnode.service.keeping.host_keeper import HostKeeper
from termnode.service.keeping.instance import InstanceFiles
from termnode.service.keeping.stopping import stop_on_signal, stop_when_closed
from termnode.service.lasting import with_caller
from termnode.service.live_pane import LivePane
from termnode.service.mutations import tab_new
from termnode.service.native.lane import NativeService
from termnode.service.native.layout_watch import LayoutWatch
from termnode.service.native.world import LiveWorld
from termnode.service.opening import apply
from termnode.service.panes import Panes
from termnode.service.state import State
from termnode.service.viewing.access import Access
from termnode.service.viewing.socket import serve_views
from termnode.service.viewing.views import Views
from termnode.terminal import engines
from termnode.terminal.commands import Signal
from termnode.version import VERSION
from termnode.workspace.model import Workspace

STOP_TIMEOUT_S: Final = 5.0
CONNECT_TIMEOUT_S: Final = 20.0
FIRST_REMAIN_S: Final = 600
"""How long the first pane stays readable after its shell ended (the verbs' own default)."""

Ready = dict[str, object]


async def serve(config: Config, when_ready: Callable[[Ready], None]) -> None:
    """Be the service until SIGTERM, SIGINT or SIGHUP (unless ignored); then leave nothing behind.

    ``when_ready`` is called once, when verbs are answered and the first program runs. Raises
    AlreadyRunning, BrokerFailed, HostLost, NameTaken, or Refusal when the shell cannot be started.
    """
    with _instance(InstanceFiles(config.directory, config.name), config) as files:
        service = _Service(config, files)
        try:
            async with trio.open_nursery() as nursery:
                stop = trio.Event()
                await nursery.start(stop_on_signal, stop)
                if config.while_fd is not None:
                    nursery.start_soon(stop_when_closed, config.while_fd, stop)
                await _run(service, stop, when_ready)
                nursery.cancel_scope.cancel()
        finally:
            with trio.CancelScope(shield=True), trio.move_on_after(STOP_TIMEOUT_S):
                await service.broker.end_if_lost()
                await retire_if_unused(config.directory)


@contextmanager
def _instance(files: InstanceFiles, config: Config) -> Iterator[InstanceFiles]:
    """Hold the instance lock; leave no file behind."""
    lock = files.acquire()
    try:
        if config.detached:
            files.take_over_output()
        posture.write(files.posture, posture.start_value(config.environment))
        yield files
    finally:
        files.clean()
        lock.release()


class _Service:
    """The parts of one service, wired to each other."""

    def __init__(self, config: Config, files: InstanceFiles) -> None:
        self.config = config
        self._files = files
        self._posture: posture.Posture | None = None
        self.broker = BrokerKeeper(config.directory)
        self.host = HostKeeper()
        self.notices = Notices(config)
        self.events = Events(wall_ms=_wall_ms, is_open=self._is_open, begin=_wall_ms())
        self.pump = EventPump(self.events)
        self.identity = IdentityActor(config, self._next_pane, on_change=self._identity_changed)
        self.panes = Panes(
            config,
            self.host,
            engines.make(),
            engines.fallback(),
            on_end=self._ended,
            on_expired=self._expired,
            on_signal=self._heard,
            on_start=self._started,
            on_gone=self.identity.panes.pane_gone,
            beside=self._beside,
        )
        self.state = State(
            config=config,
            workspace=Workspace(config.cols, config.rows),
            panes=self.panes,
            audit=Audit(),
            emulator=engines.chosen(),
            started=time.monotonic(),
            is_open=self._is_open,
            events=self.events,
            access=Access(self._is_open, time.monotonic),
            identity=self.identity,
        )
        self.views = Views(self.state)
        self.telling = Telling(self.events, self.state.workspace, self.panes.get, time.monotonic)
        self.state.people.on_typed = self._typed
        self.state.people.on_done = self.telling.arranged
        self.telling.on_moved = self.state.people.moved
        self.lane = GlobalLane(
            read_posture=self._read_posture,
            retries=RetryTable(),
            audit=self.state.audit,
            info=self._info,
            wall_ms=_wall_ms,
        )
        self.dispatcher = Dispatcher(self.lane, self.state, time.monotonic, self._settled)
        workspace = self.state.workspace
        workspace.on_change = LayoutWatch(workspace, self.panes.get).look
        self.native = NativeService(
            self.state,
            LiveWorld(self.identity, workspace, self.panes.get, self._read_posture),
            add=self.dispatcher.add,
            on_settled=self._native_settled,
            recheck=self._recheck,
            clock=time.monotonic,
            wall_ms=_wall_ms,
        )
        self.identity.lane = self.native

    def _is_open(self) -> bool:
        return posture.read(self._files.posture) is posture.Posture.OPEN

    def _read_posture(self) -> posture.Posture:
        """The posture now. When it is seen to be strict, input that waits is discarded at once.

        Nobody is told of events any more then.
        """
        now = posture.read(self._files.posture)
        if now is not self._posture:
            self._posture = now
            self._recheck()
            self.views.news.ring()
        return now

    def _recheck(self) -> None:
        """Somebody's right may have ended: what waits under it is discarded at once."""
        self.panes.recheck_permits()
        self.events.recheck()
        self.native.events.recheck()

    @property
    def view_socket(self) -> Path:
        """Where it is to be."""
        return self._files.view

    def _info(self) -> dict[str, object]:
        """What INFO says besides posture and verbs."""
        identity = self.identity.state.body()
        return {"service": self.config.name, "version": VERSION, "identity": identity}

    def _next_pane(self) -> int:
        return self.state.workspace.last_pane_id + 1

    def _identity_changed(self) -> None:
        self.native.identity_changed()
        self.views.news.ring()

    def _typed(self, live: LivePane, who: str, count: int, taken: bool) -> None:
        self.identity.active()
        self.telling.typed(live, who, count, taken)

    def _settled(self, ticket: Ticket, reply: Reply | None, sealed: Sealed) -> None:
        self.identity.active()
        self.telling.settled(ticket, reply, sealed)
        self.views.news.ring()

    def _native_settled(self, go: Go, sealed: Sealed) -> None:
        self.identity.active()
        self.telling.acted(go.spec, go.target.pane_id, native_summary(go.principal), sealed)
        self.views.news.ring()

    def _heard(self, live: LivePane, signal: Signal) -> None:
        self.telling.heard(live, signal)
        self.views.heard(live, signal)

    async def _beside(self, live: LivePane) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.views.feed.run, live)
            nursery.start_soon(self.identity.panes.watch, live)
            nursery.start_soon(with_caller, live, self._caller_ended)
            await PaneWatch(self.telling, self.pump.until_wanted, time.monotonic).run(live)

    def _started(self, live: LivePane) -> None:
        self.native.output.listen(live)
        self.identity.panes.pane_started(live)

    def _ended(self, live: LivePane) -> None:
        self.identity.panes.program_ended(live)
        self.telling.ended(live)
        self.views.news.ring()
        self.notices.ended(live, self.state.pane_title(live.id))

    def _expired(self, live: LivePane) -> None:
        """The pane of an ended program goes, unless a verb was faster."""
        self._close(live, EXPIRED)

    def _caller_ended(self, live: LivePane) -> None:
        """The pane of a process that has ended goes with it."""
        self._close(live, LEFT)

    def _close(self, live: LivePane, why: str) -> None:
        if self.panes.get(live.id) is live:
            apply(self.state, self.state.workspace.close_pane(live.id))
            self.telling.went(live.id, why)
            self.views.news.ring()


async def _run(service: _Service, stop: trio.Event, when_ready: Callable[[Ready], None]) -> None:
    """The broker outside, programs inside it, admission innermost: they end in that order."""
    directory = service.config.directory
    async with trio.open_nursery() as outer:
        await outer.start(service.broker.run)
        async with (
            connect(directory, wait=True, timeout=CONNECT_TIMEOUT_S) as bus,
            trio.open_nursery() as programs,
        ):
            await programs.start(service.host.run)
            await programs.start(service.panes.run)
            programs.start_soon(service.notices.run, bus)
            programs.start_soon(service.pump.run, bus)
            await programs.start(service.identity.run)
            await programs.start(serve_views, service.views, service.view_socket)
            await _admit(service, bus, stop, when_ready)
            await service.identity.stop()
            programs.cancel_scope.cancel()
        outer.cancel_scope.cancel()


async def _admit(
    service: _Service, bus: Bus, stop: trio.Event, when_ready: Callable[[Ready], None]
) -> None:
    """Open the first tab, answer verbs, and come back when it is time to stop."""
    first = await tab_new(service.state, {"remain": FIRST_REMAIN_S})
    service.telling.look()
    async with trio.open_nursery() as admission:
        await admission.start(service.dispatcher.run, bus, service.config.name)
        when_ready(_ready(service, bus, first))
        await stop.wait()
        admission.cancel_scope.cancel()


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


def _ready(service: _Service, bus: Bus, first: Ready) -> Ready:
    """What ``termnode up`` prints."""
    return {
        "ready": True,
        "name": service.config.name,
        "pid": os.getpid(),
        "runtime_dir": str(service.config.directory),
        "broker_epoch": bus.broker_epoch,
        "posture": str(posture.start_value(service.config.environment)),
        "emulator": service.state.emulator,
        "shell": service.config.shell,
        "view_ticket": service.state.access.first_ticket,
        "tab": first["id"],
        "pane": first["pane"],
    }
