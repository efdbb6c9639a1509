"""The server's side of ZMTP 3.1 with the NULL mechanism, for DEALER peers. No I/O in it.

For the shared endpoint, whose sockets are not libzmq's (see ``brokerd.io.shared``). Any split of
the bytes gives the same events, and any bytes give events or end in one ``ZmtpError``. What is kept
is at most one message and what was fed last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from brokerd.io.zmtp_frames import (
    COMMAND,
    LENGTH,
    LONG,
    MECHANISM,
    MORE,
    ZmtpError,
    named,
    properties,
)
from brokerd.limits import MAX_HEADER_BYTES, MAX_MESSAGE_BYTES

MAX_PARTS: Final = 2
"""Parts of a message that are kept; a longer one comes as none at all."""

MAX_BYTES: Final = MAX_MESSAGE_BYTES + MAX_HEADER_BYTES
"""Of a message's parts together, those that are not kept included."""

MAX_FRAMES: Final = 64
"""Of one message: who sends more is not merely mistaken."""

MAX_COMMAND_BYTES: Final = 1_024

_GREETING_SIZE: Final = 64
_VERSION_MAJOR: Final = 3
_MAX_PING_CONTEXT: Final = 16


@dataclass(frozen=True, slots=True)
class Opened:
    """The peer has said all of its handshake; it waits for READY."""


@dataclass(frozen=True, slots=True)
class Message:
    """A whole message; no parts when it had more than ``MAX_PARTS``."""

    parts: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Ping:
    """The peer asks for a PONG with the same context."""

    context: bytes


@dataclass(frozen=True, slots=True)
class Pong:
    """The peer is there; nothing to do."""


Event: TypeAlias = Opened | Message | Ping | Pong


class Decoder:
    """Bytes in, events out: ``feed``, then ``next`` until it is None."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._at = 0
        self._greeted = self._opened = self._starved = False
        self._parts: list[bytes] = []
        self._count = self._size = 0

    def feed(self, data: bytes) -> None:
        """Take what was read."""
        if self._at:
            del self._buffer[: self._at]
            self._at = 0
        self._buffer += data
        self._starved = False

    @property
    def held(self) -> int:
        """Bytes that wait for more of them, those of parts that are dropped included."""
        return len(self._buffer) - self._at + self._size

    @property
    def more(self) -> bool:
        """Whether ``next`` may give something without another ``feed``."""
        return not self._starved and self._at < len(self._buffer)

    def next(self) -> Event | None:
        """The next event; None when more bytes are needed. Raises ZmtpError."""
        if not self._greeted and not self._greeting():
            self._starved = True
            return None
        while (frame := self._frame()) is not None:
            event = self._act(*frame)
            if event is not None:
                return event
        self._starved = True
        return None

    def _greeting(self) -> bool:
        """Whether the greeting is complete. Looked at as it comes, so that noise is soon known."""
        seen = self._buffer
        wrong = (
            (len(seen) > 0 and seen[0] != 0xFF)
            or (len(seen) > 9 and not seen[9] & 1)
            or (len(seen) > 10 and seen[10] < _VERSION_MAJOR)
            or (len(seen) > 31 and seen[12:32] != MECHANISM)
        )
        if wrong:
            raise ZmtpError("not a greeting of ZMTP 3 with the NULL mechanism")
        if len(seen) < _GREETING_SIZE:
            return False
        self._at = _GREETING_SIZE
        self._greeted = True
        return True

    def _frame(self) -> tuple[int, bytes] | None:
        """The next whole frame as (flags, payload)."""
        buffer, at = self._buffer, self._at
        have = len(buffer) - at
        if have < 1:
            return None
        flags = buffer[at]
        self._check_flags(flags)
        head = 9 if flags & LONG else 2
        if have < head:
            return None
        size: int = LENGTH.unpack_from(buffer, at + 1)[0] if flags & LONG else buffer[at + 1]
        self._check_size(flags, size)
        if have < head + size:
            return None
        self._at = at + head + size
        return flags, bytes(memoryview(buffer)[at + head : self._at])

    def _check_flags(self, flags: int) -> None:
        command = flags & COMMAND
        if flags > (MORE | LONG | COMMAND) or (command and flags & MORE):
            raise ZmtpError("reserved flags")
        if not command and not self._opened:
            raise ZmtpError("a message before the handshake was over")

    def _check_size(self, flags: int, size: int) -> None:
        most = MAX_COMMAND_BYTES if flags & COMMAND else MAX_BYTES - self._size
        if size > most:
            raise ZmtpError("a message or command over its bound")

    def _act(self, flags: int, payload: bytes) -> Event | None:
        if flags & COMMAND:
            return self._command(payload) if self._opened else self._ready(payload)
        self._count += 1
        self._size += len(payload)
        if self._count > MAX_FRAMES:
            raise ZmtpError("a message of too many parts")
        if self._count <= MAX_PARTS:
            self._parts.append(payload)
        return None if flags & MORE else self._message()

    def _message(self) -> Message:
        parts = tuple(self._parts) if self._count <= MAX_PARTS else ()
        self._parts.clear()
        self._count = self._size = 0
        return Message(parts)

    def _command(self, payload: bytes) -> Event:
        name, data = named(payload)
        if name == b"PING" and 2 <= len(data) <= 2 + _MAX_PING_CONTEXT:
            return Ping(data[2:])  # after the time to live
        if name == b"PONG":
            return Pong()
        raise ZmtpError("a command that is not for here")

    def _ready(self, payload: bytes) -> Opened:
        name, data = named(payload)
        if name != b"READY" or properties(data).get(b"socket-type") != b"DEALER":
            raise ZmtpError("not the handshake of a DEALER")
        self._opened = True
        return Opened()
