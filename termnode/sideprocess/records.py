"""Records: one msgpack map with a text ``type`` per SOCK_SEQPACKET packet.

Text is UTF-8 with surrogate escapes, so that a path or an environment value of any bytes passes
through unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgpack

Record = dict[str, Any]


class RecordError(Exception):
    """What the other side sent, or was to be sent, is no record; says nothing of its content."""


class RecordTooLarge(RecordError):
    """An encoded record has more bytes than it may."""


def encode(record: Mapping[str, Any], most: int) -> bytes:
    """Encode one record; raises RecordTooLarge over ``most`` bytes."""
    data: bytes = msgpack.packb(record, unicode_errors="surrogateescape")
    _check_size(data, most)
    return data


def decode(data: bytes, most: int) -> Record:
    """Decode one record of at most ``most`` bytes; raises RecordError unless it is one."""
    _check_size(data, most)
    try:
        record = msgpack.unpackb(data, unicode_errors="surrogateescape")
    except (ValueError, msgpack.UnpackException) as error:
        raise RecordError("a record is one msgpack map") from error
    if not isinstance(record, dict) or not isinstance(record.get("type"), str):
        raise RecordError("a record is a map with a type")
    return record


def _check_size(data: bytes, most: int) -> None:
    if len(data) > most:
        raise RecordTooLarge(f"a record has at most {most} bytes")
