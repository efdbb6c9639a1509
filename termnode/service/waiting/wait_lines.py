"""What a wait searches: rows that changed, and the lines that are wrapped over several of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from wcwidth import wcswidth

MAX_LINES: Final = 500
MAX_CELLS: Final = 65_536
"""Rows, and cells of them, that one look reads; the rest is read at the next ones."""

MAX_JOINED_CELLS: Final = 16_384
"""A line that is wrapped over more is searched in pieces of so many cells."""

Span = tuple[int, int]
"""From the first character to the one after the last."""


class Freshness(Protocol):
    """What a screen log tells of lines."""

    first: int

    @property
    def base(self) -> int:
        """The line in the first row of the screen."""

    def fresh(self, line: int, after: int) -> Sequence[Span]:
        """The parts of a line's text that are newer; the last may end behind the text."""


class Screen(Protocol):
    """What is read of an engine."""

    cols: int
    rows: int

    def text(self, top: int = 0, count: int | None = None) -> list[str]:
        """Rows without trailing blanks; row 0 is the first of the screen."""

    def wrapped(self, top: int = 0, count: int | None = None) -> list[bool]:
        """For the same rows: whether the text goes on in the next one."""


@dataclass(frozen=True, slots=True)
class Target:
    """A text to search: a row, or several that are one line.

    ``parts`` has (number of the row's line, where its text begins) of each.
    """

    line: int
    text: str
    parts: tuple[tuple[int, int], ...]

    def fresh(self, log: Freshness, after: int) -> list[Span]:
        """The parts of the text that are newer than the revision ``after``; none is empty."""
        ends = [*(begin for _, begin in self.parts[1:]), len(self.text)]
        return [
            (begin + start, min(begin + end, limit))
            for (line, begin), limit in zip(self.parts, ends, strict=True)
            for start, end in log.fresh(line, after)
            if begin + start < limit
        ]


def share(cols: int, searches: int) -> int:
    """Rows that each of so many searches may read at one look."""
    return max(8, min(MAX_LINES, MAX_CELLS // max(cols, 1)) // max(searches, 1))


def targets(
    engine: Screen, log: Freshness, lines: Sequence[int], cursor: tuple[int, int]
) -> list[Target]:
    """The texts of these lines (ascending): each row, then each line of several rows it ends.

    Rows come without trailing blanks. The cursor's row is searched as far as the cursor too: the
    blank of a prompt that waits for input is part of it. ``cursor`` is its line and column.
    """
    wanted = frozenset(lines)
    found: list[Target] = []
    for block in _blocks(engine, log, lines):
        found.extend(_of_block(block, wanted, engine.cols, cursor))
    return found


@dataclass(frozen=True, slots=True)
class _Block:
    """Neighbouring rows, whole lines of them."""

    first: int
    texts: list[str]
    wraps: list[bool]


def _blocks(engine: Screen, log: Freshness, lines: Iterable[int]) -> Iterator[_Block]:
    reach = max(1, MAX_JOINED_CELLS // engine.cols)
    end = log.base + engine.rows
    read_to = log.first
    for first, last in _runs(lines):
        if last < read_to:
            continue
        start = max(first, read_to)
        while start > max(read_to, first - reach) and _goes_on(engine, log, start - 1):
            start -= 1
        stop = last + 1
        while stop < min(end, last + 1 + reach) and _goes_on(engine, log, stop - 1):
            stop += 1
        texts = engine.text(start - log.base, stop - start)
        yield _Block(start, texts, engine.wrapped(start - log.base, stop - start))
        read_to = stop


def _goes_on(engine: Screen, log: Freshness, line: int) -> bool:
    return any(engine.wrapped(line - log.base, 1))


def _runs(lines: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Neighbouring numbers of an ascending sequence, as (first, last)."""
    first = last = None
    for line in lines:
        if first is None or last is None:
            first = last = line
        elif line == last + 1:
            last = line
        else:
            yield first, last
            first = last = line
    if first is not None and last is not None:
        yield first, last


def _of_block(
    block: _Block, wanted: frozenset[int], cols: int, cursor: tuple[int, int]
) -> Iterator[Target]:
    begun = 0
    reach = max(1, MAX_JOINED_CELLS // cols)
    for index, (text, goes_on) in enumerate(zip(block.texts, block.wraps, strict=True)):
        line = block.first + index
        if line in wanted:
            yield from _of_row(line, text, cursor)
        if goes_on and index + 1 < len(block.texts) and index + 1 - begun < reach:
            continue
        rows = range(block.first + begun, line + 1)
        if len(rows) > 1 and not wanted.isdisjoint(rows):
            yield joined(rows.start, block.texts[begun : index + 1], cols)
        begun = index + 1


def _of_row(line: int, text: str, cursor: tuple[int, int]) -> Iterator[Target]:
    yield Target(line, text, ((line, 0),))
    if line == cursor[0] and (waiting := padded(text, cursor[1])) != text:
        yield Target(line, waiting, ((line, 0),))


def padded(text: str, cells: int) -> str:
    """``text`` with blanks behind it up to ``cells`` columns."""
    width = len(text) if text.isascii() else wcswidth(text)
    return text + " " * max(0, cells - width)


def joined(first: int, rows: Sequence[str], cols: int) -> Target:
    """The line that these rows are. Blanks at the end of a row that goes on are part of it."""
    parts: list[tuple[int, int]] = []
    text = ""
    for number, row in enumerate(rows):
        parts.append((first + number, len(text)))
        text += row if number + 1 == len(rows) else _full(row, rows[number + 1], cols)
    return Target(first, text, tuple(parts))


def _full(row: str, following: str, cols: int) -> str:
    """A row up to the edge; a wide character that did not fit leaves one cell that is no blank."""
    full = padded(row, cols)
    gap = len(full) - len(row)
    return row if gap == 1 and following and wcswidth(following[0]) == 2 else full
