"""Records between the sidecar, the task supervisor and the tasks' keepers: msgpack maps.

On SOCK_SEQPACKET pairs, one record a packet. A settled task comes in several, so that none of them
has more than MAX_RECORD bytes.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import Any, Final

import msgpack

from termnode.sideprocess.descriptors import close_all, received_descriptors

MAX_RECORD: Final = 80 * 1_024
"""Bytes of one record: one kept stream and what goes with it."""

START: Final = "start"
"""Sidecar to supervisor, with the task's own socket: `argv`, `added` ([name, value] pairs), `cwd`,
`timeout` (seconds), `result` (whether descriptor 3 is one)."""

SHELL_EXITED: Final = "shell_exited"
"""Supervisor to sidecar: all tasks are being killed, and no other starts."""

CANCEL: Final = "cancel"
"""Sidecar to keeper."""

STARTED: Final = "started"
FAILED: Final = "failed"
"""Keeper to sidecar: nothing ran; `stage` (cwd, program, fork), `errno`."""

SIGNALLED: Final = "signalled"
"""Keeper to sidecar, the answer to a cancel: `settled` (it came too late), `delivery` words."""

STREAM: Final = "stream"
"""Keeper to sidecar: `name` (stdout, stderr, result), `kept`, `bytes`, `open`."""

SETTLED: Final = "settled"
"""Keeper to sidecar, the last: `outcome`, `duration_ms`, `survivors`, `survivors_left`."""

Record = dict[str, Any]


def encode(kind: str, **fields: object) -> bytes:
    """One record."""
    data: bytes = msgpack.packb({"type": kind, **fields})
    assert len(data) <= MAX_RECORD, "every field is bounded"
    return data


def decode(data: bytes) -> Record:
    """One record of a trusted process of our own; no bytes are the end of it."""
    if not data:
        return {"type": "end"}
    record: Record = msgpack.unpackb(data)
    return record


def receive(sock: socket.socket) -> tuple[Record, list[int]]:
    """A record that is there and its descriptors, close-on-exec, which the caller closes.

    Raises BlockingIOError when there is none; a broken connection is its end.
    """
    try:
        data, control, _, _ = sock.recvmsg(
            MAX_RECORD, socket.CMSG_SPACE(4), socket.MSG_CMSG_CLOEXEC | socket.MSG_DONTWAIT
        )
    except BlockingIOError:
        raise
    except OSError:
        return decode(b""), []
    return decode(data), received_descriptors(control)


def receive_alone(sock: socket.socket) -> Record:
    """As `receive`, where no descriptor is due."""
    record, descriptors = receive(sock)
    close_all(descriptors)
    return record


def fields_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record without its type."""
    return {name: value for name, value in record.items() if name != "type"}
