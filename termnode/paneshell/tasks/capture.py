"""What is kept of a task's streams, and how a report shows it. No I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from termnode.paneshell.tasks.limits import MAX_STREAM

_SHORT: Final = b'"\\\n\r\t'
_LONG: Final = bytes(byte for byte in range(0x20) if byte not in _SHORT)


class Capture:
    """The beginning of a stream and the count of all of it."""

    def __init__(self, room: int = MAX_STREAM) -> None:
        self.bytes = 0
        """Bytes that came, kept or not."""
        self.open = True
        """Whether somebody may still write."""
        self._room = room
        self._kept = bytearray()

    @property
    def kept(self) -> bytes:
        """The first bytes, as they came."""
        return bytes(self._kept)

    def take(self, data: bytes) -> None:
        """More of it; no data is its end."""
        self.open = self.open and bool(data)
        self.bytes += len(data)
        self._kept += data[: self._room - len(self._kept)]


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream at settlement: its first bytes, the count of all, and whether it was still open.

    ``lost``: nobody knows what came, since the keeper that read it was killed.
    """

    kept: bytes
    bytes: int
    writer_survived: bool
    lost: bool = False

    def report(self) -> dict[str, Any]:
        """As a report shows it; what is no UTF-8 becomes replacement characters."""
        text = self.kept.decode("utf-8", "replace")
        shown = cut(text, MAX_STREAM)
        return {
            "bytes": str(self.bytes),
            "truncated": self.lost or self.bytes > len(self.kept) or len(shown) < len(text),
            "writer_survived": self.writer_survived,
            "text": shown,
        }


def cut(text: str, budget: int) -> str:
    """The longest beginning of ``text`` whose JSON, both quotes included, has ``budget`` bytes."""
    if encoded_size(text) <= budget:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if encoded_size(text[:middle]) <= budget:
            low = middle
        else:
            high = middle - 1
    return text[:low]


def encoded_size(text: str) -> int:
    """Bytes of ``text`` as a JSON string of UTF-8: escapes cost 2, other C0 controls 6.

    At most: an encoder may spell two of those controls shorter.
    """
    data = text.encode()
    return 2 + len(data) + _count(data, _SHORT) + 5 * _count(data, _LONG)


def _count(data: bytes, of: bytes) -> int:
    return len(data) - len(data.translate(None, of))
