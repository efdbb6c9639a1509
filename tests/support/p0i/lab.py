"""What the fixtures of verified sessions stand on: a broker, its peers, and the one denial."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Final, Protocol

import msgpack

from tests.support.broken_broker import LoggedBroker
from tests.support.raw_bus import Delivery, socket_of
from tests.support.session_peer import ALL, Answer, Fields, Holder, Key, SessionPeer, holder

DENIED: Final = {"error_code": "FORBIDDEN", "message": "forbidden", "details": {}}
HOUR: Final = 3_600_000
NEVER: Final = (
    "--set",
    f"sessions.lease_ms={HOUR}",
    "--set",
    f"probe_ms={HOUR}",
)
"""Neither a lease that runs out nor a probe can be what ends something."""


class Start(Protocol):
    """Starts a broker with these arguments."""

    def __call__(self, *arguments: str) -> AbstractContextManager[LoggedBroker]: ...


Fixture = Callable[[Start], None]


class Bus:
    """Peers of one broker, closed on leaving."""

    def __init__(self, broker: LoggedBroker, stack: ExitStack) -> None:
        self.broker = broker
        self.path = socket_of(broker)
        self._stack = stack

    def peer(self, path: Path | None = None) -> SessionPeer:
        peer = self._stack.enter_context(SessionPeer.open(path or self.path))
        peer.hello()
        return peer

    def service(self, name: str) -> SessionPeer:
        peer = self.peer()
        peer.serve(name)
        return peer

    def holder(self, key: Key) -> Holder:
        return self._stack.enter_context(holder(self.path, key))

    def child(
        self,
        parent: SessionPeer,
        record: Fields,
        pane: tuple[int, int] = (1, 1),
        capabilities: tuple[str, ...] = ALL,
    ) -> tuple[SessionPeer, Fields, Key]:
        """A pane shell of that Term, attached on a connection of its own."""
        key, peer = Key(), self.peer()
        parent.grant(record, key, pane, capabilities)
        return peer, peer.attach(key), key


@contextmanager
def bus(start: Start, *arguments: str) -> Iterator[Bus]:
    with start(*arguments) as broker, ExitStack() as stack:
        yield Bus(broker, stack)


def denied(answer: Answer) -> None:
    """The one denial, which is the same whatever it is for."""
    assert answer.rc == 10
    assert answer.body == DENIED


def asked(service: SessionPeer) -> Delivery:
    return service.next_of(lambda header: header.type == "request")


def stamp_at(service: SessionPeer, peer: SessionPeer) -> Fields:
    """What the service is told of who asks, when the peer asks it."""
    peer.last_id += 1  # not asked under the same id again while the service has not answered
    peer.ask("target", id=f"who-{peer.last_id}")
    fields: Fields = msgpack.unpackb(asked(service)[2])
    return fields


def answered(peer: SessionPeer, request_id: str) -> tuple[int | None, Fields]:
    """Return code and body of the answer to that request."""
    header, body, _ = peer.next_of(
        lambda header: (header.type, header.id) == ("response", request_id)
    )
    return header.rc, json.loads(body)


def answered_by_nobody(peer: SessionPeer, name: str) -> bool:
    peer.ask(name, id="there?")
    rc, body = answered(peer, "there?")
    return (rc, body["error_code"]) == (20, "UNAVAILABLE")


def invalid(answer: Answer) -> None:
    assert answer.rc == 10
    assert answer.why[0] == "INVALID_ARGUMENT", answer.body
