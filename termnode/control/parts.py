"""Cutting a long text into parts that fit into request bodies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from brokerd.client import MAX_REQUEST_BODY

ROOM: Final = MAX_REQUEST_BODY - 512
"""Bytes for the text, as JSON, in a body that names a pane, an operation and a request id."""


def parts(text: str, room: int = ROOM) -> Iterator[str]:
    """``text`` in parts of at most ``room`` bytes of JSON each; one empty part when it is empty.

    Raises ValueError when ``room`` is too small for a single character.
    """
    start = 0
    while True:
        end = _end(text, start, room)
        yield text[start:end]
        if end >= len(text):
            return
        start = end


def _end(text: str, start: int, room: int) -> int:
    """Where the longest part from ``start`` ends that is easily found and fits."""
    length = min(room, len(text) - start)
    while length and (size := _size(text[start : start + length])) > room:
        length = min(length - 1, length * room // size)
    if not length and start < len(text):
        raise ValueError("there is no room for a single character")
    return start + length


def _size(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode())
