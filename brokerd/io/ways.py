"""The ways in besides the broker's own socket: the shared endpoint, and that of other machines."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

import zmq

from brokerd.io.config import Config
from brokerd.io.nodes import DOMAIN, NodeLane
from brokerd.io.pump import Pump
from brokerd.io.shared import SharedLane
from brokerd.io.shared_endpoint import SharedEndpoint
from brokerd.io.zap import Judge


class Ways:
    """Made as the configuration says, closed by ``stack``. Raises RuntimeDirError."""

    def __init__(
        self,
        config: Config,
        context: zmq.Context[zmq.Socket[bytes]],
        pump: Pump,
        stack: ExitStack,
    ) -> None:
        self._pump = pump
        self.shared_path: str | None = None
        self._shared: SharedLane | None = None
        if config.shared is not None:
            endpoint = SharedEndpoint(config.shared)
            stack.callback(endpoint.close)
            self.shared_path = str(endpoint.path)
            self._shared = SharedLane(endpoint.listener, pump, config.limits)
            stack.callback(self._shared.close)
        self.nodes: NodeLane | None = None
        if config.tcp is not None:
            self.nodes = NodeLane(context, config.tcp, pump, config.limits)
            stack.callback(self.nodes.close)
        self._timed = [each for each in (self._shared, self.nodes) if each is not None]

    def judges(self, now_ms: Callable[[], int]) -> dict[bytes, Judge]:
        """Who decides about whom, for the ZAP step."""
        nodes = self.nodes
        return {} if nodes is None else {DOMAIN: lambda caller: nodes.judge(caller, now_ms())}

    def bind(self) -> None:
        """Listen, now that somebody decides. Raises RuntimeDirError."""
        if self.nodes is not None:
            self.nodes.bind()

    def pollables(self) -> list[object]:
        """What to poll for reading."""
        found: list[object] = [] if self._shared is None else [self._shared]
        return found if self.nodes is None else [*found, self.nodes.router.socket]

    def receive(self, source: object, now_ms: int) -> bool:
        """Take a message when ``source`` is a socket for them; whether it is."""
        if self.nodes is None or source is not self.nodes.router.socket:
            return False
        self._pump.receive(self.nodes.router, now_ms)
        return True

    def step(self, now_ms: int) -> None:
        """All that is due, and what came in at the shared endpoint."""
        if self._shared is not None:
            self._shared.step(now_ms)
        if self.nodes is not None:
            self.nodes.look(now_ms)

    def next_deadline(self) -> int | None:
        """When to ``step`` without any event."""
        due = [each.next_deadline() for each in self._timed]
        return min((at for at in due if at is not None), default=None)
