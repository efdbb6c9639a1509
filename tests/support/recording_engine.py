"""The smallest engine: keeps the bytes it was fed, and answers nothing unless told to."""

from __future__ import annotations

from collections.abc import Sequence

from termnode.terminal.engine import (
    DEFAULT_SCROLLBACK,
    PLAIN,
    Cursor,
    Event,
    Modes,
    Run,
    check_size,
)


class RecordingEngine:
    """An ``Engine`` whose screen is the end of all output, taken as UTF-8 lines."""

    name = "recording"

    def __init__(self, cols: int, rows: int, scrollback: int = DEFAULT_SCROLLBACK) -> None:
        check_size(cols, rows)
        self.cols = cols
        self.rows = rows
        self.data = bytearray()
        self.sizes: list[tuple[int, int]] = []
        self.replies = b""
        self.dead = False
        self.closed = False
        self.dies_on: bytes | None = None
        self.answers: dict[bytes, bytes] = {}

    def feed(self, data: bytes) -> None:
        self.data += data
        for query, answer in self.answers.items():
            self.replies += answer * data.count(query)
        if self.dies_on is not None and self.dies_on in self.data:
            self.dead = True

    def take_replies(self) -> bytes:
        replies, self.replies = self.replies, b""
        return replies

    def take_events(self) -> list[Event]:
        return []

    def resize(self, cols: int, rows: int) -> None:
        check_size(cols, rows)
        self.cols, self.rows = cols, rows
        self.sizes.append((cols, rows))

    @property
    def cursor(self) -> Cursor:
        return Cursor(0, 0)

    @property
    def modes(self) -> Modes:
        return Modes()

    @property
    def title(self) -> str:
        return ""

    @property
    def history_len(self) -> int:
        return 0

    @property
    def scrolled(self) -> int:
        return max(self.data.count(b"\n") + 1 - self.rows, 0)

    @property
    def erasures(self) -> int:
        return self.data.count(b"\x1b[2J")

    @property
    def main_erasures(self) -> int:
        return self.erasures

    def text(self, top: int = 0, count: int | None = None) -> list[str]:
        lines = self.data.decode("utf-8", "replace").replace("\r", "").split("\n")
        return lines[-self.rows :][top : None if count is None else top + count]

    def wrapped(self, top: int = 0, count: int | None = None) -> list[bool]:
        return [False for _ in self.text(top, count)]

    def runs(self, top: int = 0, count: int | None = None) -> list[Sequence[Run]]:
        return [[(line, PLAIN)] for line in self.text(top, count)]

    def looks(self, top: int = 0, count: int | None = None) -> Sequence[object]:
        return self.text(top, count)

    def take_dirty(self) -> frozenset[int]:
        return frozenset(range(self.rows))

    def close(self) -> None:
        self.closed = True
