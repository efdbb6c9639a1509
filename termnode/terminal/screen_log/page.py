"""The rows of one of the two screens, followed from look to look by their line numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from termnode.terminal.engine import Engine
from termnode.terminal.screen_log.past import Past
from termnode.terminal.screen_log.rows import Row, new_row, read

FEW: Final = 4
"""Rows that are read one by one; more, and the whole screen is read at once."""


class Page:
    """The rows on a screen, line ``base`` first, and when the lines above them changed."""

    def __init__(self, base: int, rows: list[Row], past: Past | None = None) -> None:
        self.base = base
        self.rows = rows
        self.past = past or Past(base)

    @classmethod
    def blank(cls, base: int, count: int, stamp: int) -> Page:
        """A screen on which nothing was written yet."""
        return cls(base, [new_row("", (), stamp) for _ in range(count)])

    @classmethod
    def read(cls, engine: Engine, now: int) -> Page:
        """The screen as it is, all of it new."""
        return cls(engine.scrolled, _new_rows(engine, now))

    @property
    def end(self) -> int:
        """The line after the last row."""
        return self.base + len(self.rows)

    def look(self, engine: Engine, now: int, dirty: Iterable[int] | None = None) -> None:
        """Take in what the screen shows. ``dirty``: the rows that may differ, None for any."""
        base = engine.scrolled
        if base != self.base or engine.rows != len(self.rows):
            self._move(engine, base, now)
        else:
            self._compare(engine, now, range(len(self.rows)) if dirty is None else sorted(dirty))

    def wiped(self, engine: Engine, now: int) -> None:
        """As ``look``, but nothing is left of what was there."""
        base = engine.scrolled
        self._reach(base, now)
        self.base, self.rows = base, _new_rows(engine, now)

    def resized(self, engine: Engine, now: int) -> None:
        """Take in another number of rows, when nothing else has changed since the last look.

        Rows that came back from history are as new as they were there.
        """
        base, old_base = engine.scrolled, self.base
        back = [
            Row("", (), self.past.stamp(line), self.past.marks(line))
            for line in range(max(base, self.past.begin), old_base)
        ]
        shown = read(engine, 0, len(back))
        for row, (text, look) in zip(back, shown, strict=False):
            row.text, row.look = text, look
        if back:
            self.base -= len(back)
            self.rows[:0] = back
            self._reach(self.base, now)
        self._move(engine, base, now)

    def _compare(self, engine: Engine, now: int, dirty: Iterable[int]) -> None:
        numbers = [y for y in dirty if y < len(self.rows)]
        shown = read(engine, 0, len(self.rows)) if len(numbers) > FEW else None
        for y in numbers:
            text, look = shown[y] if shown is not None else read(engine, y, 1)[0]
            self.rows[y].see(text, look, now)

    def _move(self, engine: Engine, base: int, now: int) -> None:
        """Rows went up into history, or came or went for another reason."""
        known = {self.base + y: row for y, row in enumerate(self.rows)}
        self._leave(engine, base, now)
        shown = read(engine, 0, engine.rows)
        self.rows = [
            _seen(known.get(base + y), text, look, now) for y, (text, look) in enumerate(shown)
        ]
        self.base = base

    def _leave(self, engine: Engine, base: int, now: int) -> None:
        """Note the rows that went into history, and the lines that went by unseen."""
        leaving = self.rows[: max(base - self.base, 0)]
        top = self.base - base
        lost = max(0, -engine.history_len - top)  # as they were: nobody can look any more
        for row, (text, look) in zip(
            leaving[lost:], read(engine, top + lost, len(leaving) - lost), strict=False
        ):
            row.see(text, look, now)
        for row in leaving:
            self.past.add(row.stamp, row.marks)
        self._reach(base, now)

    def _reach(self, base: int, now: int) -> None:
        """Make the past end at line ``base``; what it does not have is new."""
        if base < self.past.begin:
            self.past = Past(base)
        self.past.cut(base)
        self.past.extend(base - self.past.end, now)


def _seen(row: Row | None, text: str, look: object, now: int) -> Row:
    if row is None:
        return new_row(text, look, now)
    row.see(text, look, now)
    return row


def _new_rows(engine: Engine, now: int) -> list[Row]:
    return [new_row(text, look, now) for text, look in read(engine, 0, engine.rows)]
