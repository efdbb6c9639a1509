"""Records on the sockets of the pane shell (`termnode.sideprocess.records`), of bounded size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from termnode.sideprocess import records
from termnode.sideprocess.records import Record, RecordError

__all__ = ["MAX_RECORD", "Record", "RecordError", "decode", "encode"]

MAX_RECORD: Final = 16 * 1024
"""Bytes of one encoded record between Term and the zygote (specs/pane-shell.md)."""

MAX_CHANNEL_RECORD: Final = 160 * 1024
"""Bytes of one encoded record on a sidecar's channel, where output travels."""


def encode(record: Mapping[str, Any], limit: int = MAX_RECORD) -> bytes:
    """Encode one record; raises RecordError over ``limit`` bytes."""
    return records.encode(record, limit)


def decode(data: bytes, limit: int = MAX_RECORD) -> Record:
    """Decode one record; raises RecordError unless it is a map with a text ``type``."""
    return records.decode(data, limit)
