"""Records on the sockets of the pane shell (`termnode.sideprocess.records`), of bounded size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from termnode.sideprocess import records
from termnode.sideprocess.records import Record, RecordError

__all__ = ["MAX_RECORD", "Record", "RecordError", "decode", "encode"]

MAX_RECORD: Final = 16 * 1024
"""Bytes of one encoded record (specs/pane-shell.md)."""


def encode(record: Mapping[str, Any]) -> bytes:
    """Encode one record; raises RecordError over MAX_RECORD bytes."""
    return records.encode(record, MAX_RECORD)


def decode(data: bytes) -> Record:
    """Decode one record; raises RecordError unless it is a map with a text ``type``."""
    return records.decode(data, MAX_RECORD)
