"""A peer of the bus over hand-made ZMTP: what adversaries are, and what witnesses use.

Nothing of the client library is in it, so that nothing can hide what the broker did.
"""

from __future__ import annotations

import json
import select
import socket
import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from brokerd.wire import BROKER, RESPONSE, Header, decode_header, encode_header
from tests.support.broker_process import BrokerProcess
from tests.support.zmtp import PATIENCE, ZmtpPeer

Delivery: TypeAlias = "tuple[Header, bytes, bytes]"
"""A delivered message: its header, body and stamp."""


def socket_of(broker: BrokerProcess) -> Path:
    """Where that broker listens."""
    return broker.directory / "bus.sock"


class RawPeer(ZmtpPeer):
    """A connection that speaks in headers and bodies; ``hello`` tells who it is."""

    connection_id = ""
    epoch = ""

    def __init__(self, connected: socket.socket) -> None:
        super().__init__(connected)
        self.passed: deque[Delivery] = deque()
        """Deliveries that came while a verb was being answered, for ``receive``."""

    def send(self, fields: Mapping[str, object], body: bytes = b"{}") -> None:
        """Send a header of these fields (``v`` is added) and a body."""
        self.send_message(encode_header({"v": 1, **fields}), body)

    def ask(self, to: str, body: bytes = b"{}", *, id: str = "r", command: str = "x.y") -> None:  # noqa: A002
        """Send a request."""
        self.send({"type": "request", "id": id, "to": to, "command": command}, body)

    def answer(self, to: str | None, id: str | None, body: bytes = b"{}") -> None:  # noqa: A002
        """Send a response."""
        self.send({"type": "response", "id": id, "to": to, "rc": 0}, body)

    def tell(self, recipient: str, body: bytes = b"{}") -> None:
        """Send a directed event."""
        self.send({"type": "event", "command": "x.event", "recipient_connection": recipient}, body)

    def receive(self) -> Delivery:
        """The next delivery. The broker's probes are passed over."""
        return self.passed.popleft() if self.passed else self._next()

    def verb(self, command: str, body: bytes = b"{}") -> dict[str, object]:
        """Ask the broker and return what it answers; other deliveries stay for ``receive``."""
        self.ask(BROKER, body, id="verb", command=command)
        while True:
            header, raw, stamp = self._next()
            if (header.type, header.id, header.from_) == (RESPONSE, "verb", BROKER):
                found: dict[str, object] = json.loads(raw)
                return found
            self.passed.append((header, raw, stamp))

    def hello(self) -> str:
        """Say hello; the connection id."""
        said = self.verb("session.hello")
        self.connection_id, self.epoch = str(said["connection_id"]), str(said["broker_epoch"])
        return self.connection_id

    def serve(self, name: str) -> None:
        """Register a service name, which must succeed."""
        assert self.verb("broker.register", json.dumps({"name": name}).encode()) == {"name": name}

    def counts(self) -> dict[str, int]:
        """The broker's counters, and how many connections it holds."""
        info = self.verb("broker.info")
        counters, connections = info["counters"], info["connections"]
        assert isinstance(counters, dict)
        assert isinstance(connections, int)
        return {**counters, "connections": connections}

    def until(self, holds: Callable[[dict[str, int]], bool]) -> None:
        """Look at the counts until they are as wanted; fails when they never are."""
        pause = select.poll()
        counts = {}
        for _ in range(int(PATIENCE * 100)):
            counts = self.counts()
            if holds(counts):
                return
            pause.poll(10)
        raise AssertionError(f"the broker's counts never got there: {counts}")

    def _next(self) -> Delivery:
        parts, deadline = [b""], time.monotonic() + PATIENCE
        while len(parts) == 1:  # a probe: these come for ever, so they must not renew the patience
            assert time.monotonic() < deadline, "nothing but probes"
            parts = self.read_message()
        header, body, stamp = parts
        return decode_header(header, from_broker=True), body, stamp


def error_of(delivery: Delivery) -> tuple[int | None, str, object]:
    """Return code, error code and reason of a refusal."""
    header, body, _ = delivery
    answer = json.loads(body)
    return header.rc, answer["error_code"], answer["details"].get("reason")
