"""The server: builds the parts in the right order, runs the loop, takes them down again."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack

import zmq

from brokerd import rundir
from brokerd.core import BrokerCore
from brokerd.core.bus import random_id
from brokerd.io.clock import Clock
from brokerd.io.config import Config, Ready
from brokerd.io.endpoint import Endpoint
from brokerd.io.peers import Peers
from brokerd.io.processes import Processes
from brokerd.io.pump import Pump
from brokerd.io.resources import prepare
from brokerd.io.router import Router
from brokerd.io.signals import Signals
from brokerd.io.ways import Ways
from brokerd.io.zap import DOMAIN, ZapHandler, by_kernel
from brokerd.peers import PeerCredentials
from brokerd.rundir import RuntimeDirError

_LONGEST_WAIT_MS = 60_000


__all__ = ["Config", "Ready", "serve"]


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


def _bind(router: Router, endpoint: Endpoint) -> None:
    try:
        router.bind(f"ipc://{endpoint.path}")
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
        self._clock = Clock()
        self._clock_told = False
        context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        stack.callback(context.term)
        self._processes = Processes()
        stack.callback(self._processes.close)
        self._router = Router(context, config.limits, DOMAIN)
        stack.callback(self._router.close)
        self._core = _core(config, self._epoch, self._clock)
        self._pump = Pump(self._core, Peers(config.limits.probe_ms), self._processes)
        self._ways = Ways(config, context, self._pump, stack)
        # Before bind: from the first connection on, somebody answers for it.
        judges = {DOMAIN: by_kernel(self._admit), **self._ways.judges(self._clock.now_ms)}
        self._zap = ZapHandler(context, self._epoch, judges)
        stack.callback(self._zap.close)
        _bind(self._router, endpoint)
        self._ways.bind()

    def run(self, signals: Signals, announce: Callable[[Ready], None]) -> None:
        poller = zmq.Poller()
        own = (self._router.socket, self._zap.socket, self._processes, signals)
        for pollable in (*own, *self._ways.pollables()):
            poller.register(pollable, zmq.POLLIN)
        announce(self._ready())
        gc.freeze()  # what exists now lives as long as the process
        while not signals.ended:
            self._turn(poller.poll(self._wait_ms()))

    def _admit(self, peer: PeerCredentials) -> str:
        return self._pump.admit(peer, self._router, self._clock.now_ms())

    def _turn(self, events: Sequence[tuple[object, int]]) -> None:
        """One bounded turn: what came in and what it leads to, who came and went, what is due."""
        now, only_messages = self._now_ms(), True
        for source, _ in events:
            if source is self._router.socket:
                self._pump.receive(self._router, now)
            elif not self._ways.receive(source, now):
                only_messages = False
                if source is self._zap.socket:
                    self._zap.step()
        if not only_messages or self._due_ms <= now:
            self._ways.step(now)
            self._pump.housekeep(now)

    def _now_ms(self) -> int:
        """The time; the core learns at once when it is not the one that it should be."""
        now = self._clock.now_ms()
        if self._clock.failed and not self._clock_told:
            self._clock_told = True
            self._core.fail_clock()
        return now

    def _wait_ms(self) -> int:
        now = self._now_ms()
        due = (self._pump.next_deadline(), self._ways.next_deadline())
        self._due_ms = min((at for at in due if at is not None), default=now + _LONGEST_WAIT_MS)
        return min(max(self._due_ms - now, 0), _LONGEST_WAIT_MS)

    def _ready(self) -> Ready:
        nodes = self._ways.nodes
        return Ready(
            runtime_dir=str(self._endpoint.directory),
            socket=str(self._endpoint.path),
            pid=os.getpid(),
            uid=os.geteuid(),
            node=self._config.node,
            broker_epoch=self._epoch,
            ephemeral=self._config.ephemeral,
            shared=self._ways.shared_path,
            tcp=None if nodes is None else nodes.endpoint,
            tcp_public_key=None if nodes is None else nodes.public_key,
        )


def _core(config: Config, epoch: str, clock: Clock) -> BrokerCore:
    return BrokerCore(
        epoch=epoch,
        node=config.node,
        uid=os.geteuid(),
        pid=os.getpid(),
        limits=config.limits,
        now_ms=clock.now_ms(),
        ephemeral=config.ephemeral,
        observable=config.observable,
    )
