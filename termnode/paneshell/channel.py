"""The private channel between Term and one sidecar: what each tells the other.

A SOCK_SEQPACKET pair, one record per packet. Nothing waits for the other side: a state that the
socket does not take now is replaced by the next one, other records wait in a bounded queue. Its
closing, by either, is the end of the sidecar (specs/pane-shell.md).
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

import trio

from termnode.paneshell.outbox import Outbox
from termnode.paneshell.packets import Packets
from termnode.paneshell.records import MAX_CHANNEL_RECORD, Record, RecordError, decode, encode

STARTING: Final = "starting"
ENROLLING: Final = "enrolling"
ATTACHED: Final = "attached"
WAITING: Final = "waiting"
UNBOUND: Final = "unbound"
PHASES: Final = frozenset({STARTING, ENROLLING, ATTACHED, WAITING, UNBOUND})

MAX_REASON: Final = 256
"""Characters of the words that go with a state."""


@dataclass(frozen=True, slots=True)
class SidecarState:
    """Where a sidecar stands: ``state`` is one of PHASES, ``reason`` words for people.

    ``record_id`` (32 hex digits) and ``binding_generation`` are those of the record that it holds
    or last held; None and 0 before the first.
    """

    state: str = STARTING
    reason: str = ""
    record_id: str | None = None
    binding_generation: int = 0

    def to_record(self) -> dict[str, Any]:
        """The record that says this."""
        return {"type": "state", **asdict(self), "reason": self.reason[:MAX_REASON]}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self | None:
        """The state in a record; None when it is none."""
        fields = {field: record.get(field) for field in _CHECKS}
        if record.get("type") != "state":
            return None
        if not all(check(fields[field]) for field, check in _CHECKS.items()):
            return None
        return cls(**fields)  # type: ignore[arg-type]  # each was checked above


_CHECKS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "state": lambda value: isinstance(value, str) and value in PHASES,
    "reason": lambda value: isinstance(value, str) and len(value) <= MAX_REASON,
    "record_id": lambda value: value is None or (isinstance(value, str) and len(value) == 32),
    "binding_generation": lambda value: type(value) is int and 0 <= value < 2**64,
}


def channel_pair() -> tuple[socket.socket, socket.socket]:
    """Term's end and the sidecar's, both close-on-exec and non-blocking."""
    ours, theirs = socket.socketpair(
        socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC
    )
    return ours, theirs


OnRecord = Callable[[Record], object]
"""What is called with each record that is neither a state nor an end; malformed ones are not."""


class TermEnd:
    """Term's end of one channel, which it owns. ``run`` reads it; everything else is immediate."""

    def __init__(
        self,
        sock: socket.socket,
        on_state: Callable[[SidecarState], None] | None = None,
        on_record: OnRecord | None = None,
    ) -> None:
        self.state = SidecarState()
        """The latest state that the sidecar told."""
        self.closed = False
        """Whether the sidecar has closed its end, or this one was closed."""
        self._on_state = on_state
        self._on_record = on_record
        self._packets = Packets(sock, MAX_CHANNEL_RECORD)
        self._outbox = Outbox(self._packets)

    async def run(self) -> None:
        """Take what the sidecar tells and send what waits, until it is gone or ``close``."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._outbox.run)
            while not self.closed:
                data, _ = await self._packets.receive()
                if data:
                    self._take(data)
                else:
                    self.close()
            nursery.cancel_scope.cancel()

    def post(self, record: Mapping[str, Any], *, best_effort: bool = False) -> bool:
        """Tell the sidecar; never waits. False when it will not be told (see Outbox.post)."""
        return not self.closed and self._outbox.post(record, best_effort=best_effort)

    def end(self) -> None:
        """Ask the sidecar to end; never waits. Closing the channel asks the same."""
        if not self.closed:
            with suppress(OSError):  # it has ended already
                self._packets.offer(encode({"type": "end"}))

    def close(self) -> None:
        """Let go of the channel; the sidecar ends by that."""
        self.closed = True
        self._packets.close()

    def _take(self, data: bytes) -> None:
        with suppress(RecordError):
            record = decode(data, MAX_CHANNEL_RECORD)
            state = SidecarState.from_record(record)
            if state is not None:
                self._note(state)
            elif record["type"] != "state" and self._on_record is not None:
                self._on_record(record)

    def _note(self, state: SidecarState) -> None:
        self.state = state
        if self._on_state is not None:
            self._on_state(state)


class SidecarEnd:
    """The sidecar's end of its channel, which it owns.

    ``on_record`` may be set to what is to be called with each record of Term but ``end``.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.state = SidecarState()
        self.on_record: OnRecord | None = None
        self._packets = Packets(sock, MAX_CHANNEL_RECORD)
        self._outbox = Outbox(self._packets)
        self._outbox.show(self.state.to_record())  # Term is told the first state too

    def tell(self, state: SidecarState) -> None:
        """Make this the state that Term sees next; never waits."""
        if state != self.state:
            self.state = state
            self._outbox.show(state.to_record())

    def post(self, record: Mapping[str, Any]) -> bool:
        """Tell Term; never waits. False when it will not be told (see Outbox.post)."""
        return self._outbox.post(record)

    async def send(self) -> None:
        """Send each newest state and what else waits, for as long as Term is there."""
        await self._outbox.run()

    async def wait_end(self) -> None:
        """Take what Term tells until it says that it is the end, or is gone."""
        while True:
            data, _ = await self._packets.receive()
            if not data or self._is_end(data):
                return

    def _is_end(self, data: bytes) -> bool:
        """Whether this is the end; any other record is passed on."""
        with suppress(RecordError):
            record = decode(data, MAX_CHANNEL_RECORD)
            if record["type"] == "end":
                return True
            if self.on_record is not None:
                self.on_record(record)
        return False
