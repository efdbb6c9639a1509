"""The small words of ZMTP 3.1: frames and commands made, names and metadata taken apart."""

from __future__ import annotations

import struct
from typing import Final

MORE, LONG, COMMAND = 1, 2, 4
"""Flags of a frame."""

MECHANISM: Final = b"NULL".ljust(20, b"\0")
GREETING: Final = b"\xff" + bytes(8) + b"\x7f\x03\x01" + MECHANISM + bytes(32)
"""What the server says first."""

LENGTH: Final = struct.Struct("!Q")
"""Of a long frame."""

_SIZE: Final = struct.Struct("!I")
"""Of a property's value."""


class ZmtpError(Exception):
    """The peer does not speak this protocol, or goes over a bound; nothing more is read of it."""


def ready() -> bytes:
    """The end of the server's handshake."""
    kind, value = b"Socket-Type", b"ROUTER"
    return _command(b"READY", bytes((len(kind),)) + kind + _SIZE.pack(len(value)) + value)


def pong(context: bytes) -> bytes:
    """The answer to a PING with that context."""
    return _command(b"PONG", context)


def encode(parts: tuple[bytes, ...]) -> bytes:
    """The frames of a message of at least one part."""
    last = len(parts) - 1
    frames: list[bytes] = []
    for number, part in enumerate(parts):
        frames += (_head(MORE if number < last else 0, len(part)), part)
    return b"".join(frames)


def _head(flags: int, size: int) -> bytes:
    if size > 255:
        return bytes((flags | LONG,)) + LENGTH.pack(size)
    return bytes((flags, size))


def _command(name: bytes, data: bytes) -> bytes:
    payload = bytes((len(name),)) + name + data
    return _head(COMMAND, len(payload)) + payload


def named(payload: bytes) -> tuple[bytes, bytes]:
    """A command's name and data."""
    size = payload[0] if payload else 0
    if not 0 < size < len(payload):
        raise ZmtpError("a command without a name")
    return payload[1 : 1 + size], payload[1 + size :]


def properties(data: bytes) -> dict[bytes, bytes]:
    """Metadata by name in small letters, the first of a name counts."""
    found: dict[bytes, bytes] = {}
    at = 0
    while at < len(data):
        name_end = at + 1 + data[at]
        value_at = name_end + _SIZE.size
        if data[at] == 0 or value_at > len(data):
            raise ZmtpError("metadata that is cut off")
        end = value_at + _SIZE.unpack_from(data, name_end)[0]
        if end > len(data):
            raise ZmtpError("metadata that is cut off")
        found.setdefault(data[at + 1 : name_end].lower(), data[value_at:end])
        at = end
    return found
