"""Whether a typed text came to be seen on the screen. Reads an engine and its log, never waits.

A text counts as seen near the cursor, in one line (rows that a line is wrapped over are joined),
when some of it is newer than the typing. A shell may have shown the same characters there before,
as a suggestion: then it counts when the cursor stood before them and stands behind them now.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from wcwidth import wcwidth

from termnode.terminal.engine import Engine
from termnode.terminal.screen_log import ScreenLog

NEAR_ROWS: Final = 4
"""Rows above and below the cursor that are searched: programs draw their own input boxes, and leave
the cursor at the end of them."""

MAX_OCCURRENCES: Final = 16
"""Of the text in one line, away from the cursor; each takes time in proportion to the text."""


class Place(NamedTuple):
    """A cell: the number of its line, and how many characters stand before it there."""

    line: int
    before: int


@dataclass(frozen=True, slots=True)
class Line:
    """A line of one or more rows. ``starts`` is where each row begins in ``text``, the first at 0.

    ``first`` is the number of the first row. ``fresh`` are spans of ``text`` that are new.
    """

    first: int
    text: str
    starts: tuple[int, ...]
    fresh: tuple[tuple[int, int], ...]

    def index(self, place: Place | None) -> int | None:
        """Where a cell is in ``text``; None when it is in no row of the line."""
        row = -1 if place is None else place.line - self.first
        return self.starts[row] + place.before if place and 0 <= row < len(self.starts) else None

    def new(self, start: int, end: int) -> bool:
        """Whether some of this stretch of ``text`` is new."""
        return any(begin < end and start < stop for begin, stop in self.fresh)


class Echo:
    """One text that is about to be typed. Make it in the same step as the write."""

    def __init__(self, text: str, engine: Engine, log: ScreenLog) -> None:
        self._text = text
        self._revision = log.revision
        self._layout = log.layout
        self._from = cursor_place(engine, log.base)

    def seen(self, engine: Engine, log: ScreenLog) -> bool:
        """Whether it is there now; ``log`` is that of the engine, brought up to date."""
        cursor = cursor_place(engine, log.base)
        typed_at = self._from if log.layout == self._layout else None
        lines = lines_near(engine, log, self._revision, len(self._text))
        return any(shows(line, self._text, typed_at, cursor) for line in lines)


def shows(line: Line, text: str, typed_at: Place | None, cursor: Place) -> bool:
    """Whether the line has the text as what was typed at ``typed_at``, the cursor now behind it."""
    end = line.index(cursor)
    if end is not None and line.text.endswith(text, 0, end):
        start = end - len(text)
        if line.new(start, end) or line.index(typed_at) == start:
            return True
    return any(
        line.new(start, start + len(text)) and _stands_alone(line.text, start, start + len(text))
        for start in islice(_occurrences(line.text, text), MAX_OCCURRENCES)
    )


def _occurrences(text: str, part: str) -> Iterator[int]:
    """The last one first: what was typed stands near the cursor."""
    at = text.rfind(part)
    while at >= 0:
        yield at
        at = text.rfind(part, 0, at + len(part) - 1)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether it is no part of a longer word: one typed letter is in most output."""
    return not (
        (text[start].isalnum() and text[start - 1 : start].isalnum())
        or (text[end - 1].isalnum() and text[end : end + 1].isalnum())
    )


def cursor_place(engine: Engine, base: int) -> Place:
    """Where the cursor stands; behind the last column when the next character goes on below."""
    cursor = engine.cursor
    (row,) = engine.text(cursor.y, 1)
    return Place(base + cursor.y, _characters(row, cursor.x + cursor.pending_wrap))


def _characters(row: str, cells: int) -> int:
    """How many characters stand before a column; blanks that the row left out are counted."""
    if row.isascii():
        return cells
    width = 0
    for count, character in enumerate(row):
        if width >= cells:
            return count
        width += max(0, wcwidth(character))
    return len(row) + max(0, cells - width)


def lines_near(engine: Engine, log: ScreenLog, after: int, characters: int) -> list[Line]:
    """The lines around the cursor, as far back as a text of so many characters reaches."""
    cursor = engine.cursor
    reach = NEAR_ROWS + characters // engine.cols + 1
    top = max(log.first - log.base, cursor.y - reach)
    count = cursor.y + NEAR_ROWS + 1 - top
    rows, wrapped = engine.text(top, count), engine.wrapped(top, count)
    here = cursor.y - top
    rows[here] = rows[here].ljust(cursor_place(engine, log.base).before)
    return [
        _join(engine.cols, log, log.base + top + first, rows[first:end], after)
        for first, end in _groups(wrapped)
    ]


def _groups(wrapped: Sequence[bool]) -> Iterator[tuple[int, int]]:
    first = 0
    for number, goes_on in enumerate(wrapped):
        if not goes_on or number + 1 == len(wrapped):
            yield first, number + 1
            first = number + 1


def _join(cols: int, log: ScreenLog, number: int, rows: Sequence[str], after: int) -> Line:
    text, starts = "", list[int]()
    fresh: list[tuple[int, int]] = []
    for index, row in enumerate(rows):
        full = row if index + 1 == len(rows) else row.ljust(_characters(row, cols))
        start, size = len(text), len(full)
        starts.append(start)
        fresh += [
            (start + begin, start + min(end, size))
            for begin, end in log.fresh(number + index, after)
        ]
        text += full
    return Line(number, text, tuple(starts), tuple(fresh))
