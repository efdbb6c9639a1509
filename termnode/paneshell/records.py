"""Records on the sockets of the pane shell: one msgpack map with a text ``type`` each.

Text is UTF-8 with surrogate escapes, so that a path of any bytes passes through unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgpack

MAX_RECORD: Final = 16 * 1024
"""Bytes of one encoded record (specs/pane-shell.md)."""

Record = dict[str, Any]


class RecordError(Exception):
    """What the other side sent, or was to be sent, is no record; says nothing of its content."""


def encode(record: Mapping[str, Any]) -> bytes:
    """Encode one record; raises RecordError over MAX_RECORD bytes."""
    data: bytes = msgpack.packb(record, unicode_errors="surrogateescape")
    if len(data) > MAX_RECORD:
        raise RecordError(f"a record has at most {MAX_RECORD} bytes")
    return data


def decode(data: bytes) -> Record:
    """Decode one record; raises RecordError unless it is a map with a text ``type``."""
    if len(data) > MAX_RECORD:
        raise RecordError(f"a record has at most {MAX_RECORD} bytes")
    try:
        record = msgpack.unpackb(data, unicode_errors="surrogateescape")
    except (ValueError, msgpack.UnpackException) as error:
        raise RecordError("a record is one msgpack map") from error
    if not isinstance(record, dict) or not isinstance(record.get("type"), str):
        raise RecordError("a record is a map with a type")
    return record
