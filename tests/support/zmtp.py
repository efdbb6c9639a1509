"""ZMTP 3.1 by hand over a Unix socket, to say what no ZeroMQ library would.

Everything is bytes that the caller can bend: greeting, READY properties, flags, lengths, and how
much of it goes out in one write. Reading is strict and waits no longer than ``PATIENCE``.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, Self, TypeAlias

PATIENCE: Final = 20.0
"""Seconds for anything that should happen."""

MORE: Final = 1
LONG: Final = 2
COMMAND: Final = 4

Properties: TypeAlias = "Sequence[tuple[bytes, bytes]]"
"""READY's metadata: names and values, in order, with duplicates if wanted."""

DEALER: Final[Properties] = ((b"Socket-Type", b"DEALER"),)


class Dropped(Exception):
    """The other side closed the connection."""


def greeting(
    mechanism: bytes = b"NULL",
    version: tuple[int, int] = (3, 1),
    signature: bytes = b"\xff" + bytes(8) + b"\x7f",
) -> bytes:
    """The 64 bytes that open a connection."""
    return signature + bytes(version) + mechanism.ljust(20, b"\0") + bytes(32)


def frame(payload: bytes, flags: int = 0) -> bytes:
    """One frame; its length is long when it must be, or when ``flags`` says LONG."""
    if len(payload) > 255 or flags & LONG:
        return struct.pack("!BQ", flags | LONG, len(payload)) + payload
    return bytes((flags, len(payload))) + payload


def message(*parts: bytes) -> bytes:
    """The frames of a multi-part message."""
    return b"".join(frame(part, MORE) for part in parts[:-1]) + frame(parts[-1])


def command(name: bytes, data: bytes = b"") -> bytes:
    """A command frame."""
    return frame(bytes((len(name),)) + name + data, COMMAND)


def ready(properties: Properties = DEALER) -> bytes:
    """READY with any properties."""
    return command(b"READY", b"".join(_property(*each) for each in properties))


def _property(name: bytes, value: bytes) -> bytes:
    return bytes((len(name),)) + name + struct.pack("!I", len(value)) + value


class ZmtpPeer:
    """One connection. Nothing is sent but what is asked for."""

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        self.socket.settimeout(PATIENCE)
        self._buffer = bytearray()

    @classmethod
    def connect(cls, path: Path | str) -> Self:
        """Connect, and say nothing yet. Raises OSError."""
        connected = socket.socket(socket.AF_UNIX)
        try:
            connected.settimeout(PATIENCE)
            connected.connect(os.fspath(path))
        except OSError:
            connected.close()
            raise
        return cls(connected)

    @classmethod
    def open(cls, path: Path | str, properties: Properties = DEALER) -> Self:
        """Connect and finish the handshake. Raises OSError, Dropped."""
        peer = cls.connect(path)
        try:
            peer.handshake(properties)
        except BaseException:
            peer.close()
            raise
        return peer

    def handshake(self, properties: Properties = DEALER) -> None:
        """Greet, say READY with these properties, and wait for the other side's. Raises Dropped."""
        self.greet()
        self.write(ready(properties))
        self.finish()

    def greet(self) -> None:
        """Send the greeting and take the other side's."""
        self.write(greeting())
        self._take(64)

    def finish(self) -> None:
        """Wait for the other side's READY."""
        flags, payload = self.read_frame()
        assert flags & COMMAND, "a message before the handshake was over"
        if not payload.startswith(b"\x05READY"):
            raise Dropped("the handshake was refused")

    def wait_ready(self) -> bool:
        """Take the other side's greeting and READY, whatever was said for it. Raises Dropped."""
        self._take(64)
        self.finish()
        return True

    def write(self, data: bytes) -> None:
        """Send bytes as they are. Raises Dropped."""
        try:
            self.socket.sendall(data)
        except ConnectionError as error:
            raise Dropped from error

    def write_split(self, data: bytes, sizes: Iterable[int]) -> None:
        """Send ``data`` in writes of these sizes; what is left over in a last one."""
        at = 0
        for size in sizes:
            self.write(data[at : at + size])
            at += size
        self.write(data[at:])

    def send_message(self, *parts: bytes) -> None:
        """Send a well-framed message. Raises Dropped."""
        self.write(message(*parts))

    def read_frame(self) -> tuple[int, bytes]:
        """The next frame's flags and payload. Raises Dropped, TimeoutError."""
        flags = self._take(1)[0]
        size = int.from_bytes(self._take(8 if flags & LONG else 1), "big")
        return flags, self._take(size)

    def read_message(self) -> list[bytes]:
        """The parts of the next message; commands are passed over. Raises Dropped, TimeoutError."""
        parts = []
        while True:
            flags, payload = self.read_frame()
            if flags & COMMAND:
                continue
            parts.append(payload)
            if not flags & MORE:
                return parts

    def wait_dropped(self) -> bytes:
        """Wait until the other side closes; what it said before. Raises TimeoutError if never."""
        while self._fill():
            pass
        return bytes(self._buffer)

    def close(self) -> None:
        """Close; no word to the other side."""
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take(self, size: int) -> bytes:
        while len(self._buffer) < size:
            if not self._fill():
                raise Dropped
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken

    def _fill(self) -> bool:
        data = b""
        with contextlib.suppress(ConnectionError):
            data = self.socket.recv(65_536)
        self._buffer += data
        return bool(data)
