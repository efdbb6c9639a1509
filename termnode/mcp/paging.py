"""A text that is too long for one result, in parts. No I/O."""

from __future__ import annotations

from typing import Final, NamedTuple

from termnode.mcp.limits import RESULT_BYTES

HEAD_LINES: Final = 2
"""A screen's header and the warning below it stand at the top of every part."""

ROOM_BYTES: Final = 512
"""Of a result that is left for notes."""


class Part(NamedTuple):
    """A part of a text; ``next_line`` is where the next one begins, None when this is the last."""

    text: str
    next_line: int | None


def part(text: str, from_line: int = 1, limit: int = RESULT_BYTES - ROOM_BYTES) -> Part:
    """The part that begins with ``from_line`` (from 1) of what is below the head.

    A line that is too long by itself is cut. Of text that ends before there is only the head.
    """
    lines = text.split("\n")
    head, body = lines[:HEAD_LINES], lines[HEAD_LINES:]
    size = sum(len(line.encode()) + 1 for line in head)
    taken: list[str] = []
    for number, line in enumerate(body[from_line - 1 :], from_line):
        size += len(line.encode()) + 1
        if size > limit and taken:
            return Part("\n".join([*head, *taken]), number)
        taken.append(_cut(line, limit - (size - len(line.encode()) - 1)))
    return Part("\n".join([*head, *taken]), None)


def _cut(line: str, room: int) -> str:
    raw = line.encode()
    return line if len(raw) <= room else raw[: max(0, room)].decode(errors="ignore")
