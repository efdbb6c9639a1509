"""The output of a command as a reply tells it: text within the bounds of a reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from brokerd.client import encode

MAX_KEPT: Final = 65_536
"""Bytes of an output that are kept; more is no output that Term tells."""

MAX_ENCODED: Final = 196_608
"""Bytes of an output's text in a reply, as JSON: a reply has at most 262,144."""


@dataclass(frozen=True, slots=True)
class Output:
    """What lay between the marks of one operation: both ends of it, and how much it was.

    ``status`` is the shell's, None when the mark that tells it did not come.
    """

    op: str
    head: bytes
    tail: bytes
    count: int
    status: int | None

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self | None:
        """The output in a record of Term; None when it is none."""
        op, head, tail = record.get("op"), record.get("head"), record.get("tail")
        count, status = record.get("bytes"), record.get("status")
        if not (isinstance(op, str) and isinstance(head, bytes) and isinstance(tail, bytes)):
            return None
        if type(count) is not int or count < len(head) + len(tail):
            return None
        if len(head) + len(tail) > MAX_KEPT or not (status is None or type(status) is int):
            return None
        return cls(op, head, tail, count, status)

    def body(self) -> dict[str, object]:
        """``text``, ``bytes`` of the whole, ``truncated``, ``omitted`` bytes, and ``gap``.

        ``gap`` is the place in the text (characters) where the omitted bytes would be, or None.
        """
        head, tail = self._texts()
        omitted = self.count - len(self.head) - len(self.tail)
        room = MAX_ENCODED // 2
        cut_head, cut_tail = _first(head, room), _last(tail, room)
        omitted += _bytes(head) - _bytes(cut_head) + _bytes(tail) - _bytes(cut_tail)
        return {
            "text": cut_head + cut_tail,
            "bytes": self.count,
            "truncated": omitted > 0,
            "omitted": omitted,
            "gap": len(cut_head) if omitted else None,
        }

    def _texts(self) -> tuple[str, str]:
        if self.count == len(self.head) + len(self.tail):  # nothing is between them
            whole = (self.head + self.tail).decode("utf-8", "replace")
            middle = len(whole) // 2
            return whole[:middle], whole[middle:]
        return self.head.decode("utf-8", "replace"), self.tail.decode("utf-8", "replace")


def _bytes(text: str) -> int:
    return len(text.encode())


def _first(text: str, room: int) -> str:
    """As much of the beginning as has room, as JSON."""
    low, high = 0, len(text)
    if len(encode(text)) <= room:
        return text
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(encode(text[:middle])) <= room else (low, middle - 1)
    return text[:low]


def _last(text: str, room: int) -> str:
    """As much of the end as has room, as JSON."""
    return _first(text[::-1], room)[::-1]
