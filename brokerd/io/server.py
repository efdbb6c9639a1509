"""The server: builds the parts in the right order, runs the loop, takes them down again."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import zmq

from brokerd import rundir
from brokerd.core import BrokerCore
from brokerd.core.broker import random_id
from brokerd.io.endpoint import Endpoint
from brokerd.io.peers import Peers
from brokerd.io.processes import Processes
from brokerd.io.pump import Pump
from brokerd.io.resources import prepare
from brokerd.io.router import Router
from brokerd.io.signals import Signals
from brokerd.io.zap import ZapHandler
from brokerd.limits import DEFAULTS, Limits
from brokerd.rundir import RuntimeDirError

_LONGEST_WAIT_MS = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """How to run. ``memory_mb`` 0 is no cap."""

    runtime_dir: Path | None
    node: str
    ephemeral: bool = False
    memory_mb: int = 512
    limits: Limits = DEFAULTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """What is known once the broker accepts connections."""

    runtime_dir: str
    socket: str
    pid: int
    uid: int
    node: str
    broker_epoch: str
    ephemeral: bool


def serve(config: Config, announce: Callable[[Ready], None]) -> None:
    """Run a broker until a signal ends it. ``announce`` is called once it can be reached.

    Raises RuntimeDirError (cannot start; says why and what to do).
    """
    prepare(config.memory_mb)
    with ExitStack() as stack:
        signals = stack.enter_context(Signals())
        endpoint = Endpoint(rundir.resolve(config.runtime_dir))
        stack.callback(endpoint.close)
        _Server(config, endpoint, stack).run(signals, announce)


def now_ms() -> int:
    """The broker's clock."""
    return time.monotonic_ns() // 1_000_000


def _bind(router: Router, endpoint: Endpoint) -> None:
    try:
        router.bind(endpoint.path)
        endpoint.bound()
    except (zmq.ZMQError, OSError) as error:
        reason = error.strerror or "unknown error"
        raise RuntimeDirError(f"{endpoint.path} cannot be bound ({reason}); start again") from None


class _Server:
    """The parts of one running broker; ``stack`` closes them in reverse order."""

    def __init__(self, config: Config, endpoint: Endpoint, stack: ExitStack) -> None:
        self._config = config
        self._endpoint = endpoint
        self._epoch = random_id()
        context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        stack.callback(context.term)
        self._processes = Processes()
        stack.callback(self._processes.close)
        self._router = Router(context, config.limits)
        stack.callback(self._router.close)
        self._pump = Pump(
            self._core(), self._router, Peers(config.limits.probe_ms), self._processes
        )
        # Before bind: from the first connection on, somebody answers for it.
        self._zap = ZapHandler(context, self._epoch, lambda peer: self._pump.admit(peer, now_ms()))
        stack.callback(self._zap.close)
        _bind(self._router, endpoint)

    def run(self, signals: Signals, announce: Callable[[Ready], None]) -> None:
        poller = zmq.Poller()
        for pollable in (self._router.socket, self._zap.socket, self._processes, signals):
            poller.register(pollable, zmq.POLLIN)
        announce(self._ready())
        gc.freeze()  # what exists now lives as long as the process
        while not signals.ended:
            self._turn(poller.poll(self._wait_ms()))

    def _turn(self, events: Sequence[tuple[object, int]]) -> None:
        """One bounded turn: what came in and what it leads to, who came and went, what is due."""
        now, only_messages = now_ms(), True
        for source, _ in events:
            if source is self._router.socket:
                self._pump.receive(now)
            else:
                only_messages = False
                if source is self._zap.socket:
                    self._zap.step()
        if not only_messages or self._due_ms <= now:
            self._pump.housekeep(now)

    def _wait_ms(self) -> int:
        now, due = now_ms(), self._pump.next_deadline()
        self._due_ms = now + _LONGEST_WAIT_MS if due is None else due
        return min(max(self._due_ms - now, 0), _LONGEST_WAIT_MS)

    def _core(self) -> BrokerCore:
        config = self._config
        return BrokerCore(
            epoch=self._epoch,
            node=config.node,
            uid=os.geteuid(),
            pid=os.getpid(),
            limits=config.limits,
            now_ms=now_ms(),
            ephemeral=config.ephemeral,
        )

    def _ready(self) -> Ready:
        return Ready(
            runtime_dir=str(self._endpoint.directory),
            socket=str(self._endpoint.path),
            pid=os.getpid(),
            uid=os.geteuid(),
            node=self._config.node,
            broker_epoch=self._epoch,
            ephemeral=self._config.ephemeral,
        )
