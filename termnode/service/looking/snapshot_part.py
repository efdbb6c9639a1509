"""Which lines a snapshot is of: the screen, what is new, a page of history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from typing import Final

from brokerd.client import ErrorCode, Refusal
from termnode.service.state import Args
from termnode.terminal.engine import PLAIN, Engine, Run
from termnode.terminal.render.cells import clip, width_of
from termnode.terminal.screen_log import ScreenLog

_AT_ONCE: Final = 256
_STYLED_AT_ONCE: Final = 16
"""Rows read from the emulator at a time: a reply may end long before the lines do, and a row of a
thousand looks takes 10 ms."""

Lines = Sequence[int]
"""Line numbers, ascending."""


@dataclass(frozen=True, slots=True)
class Part:
    """The lines to give. Columns clip the first and the last of them; None is the row's end."""

    lines: Lines
    missed: int = 0
    """Lines that belong to it and can no longer be read."""
    full: bool = False
    start_column: int = 0
    end_column: int | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One row as read. ``y`` is its place on the screen, negative in history."""

    line: int
    y: int
    runs: Sequence[Run]
    wrapped: bool
    cut: bool = False

    @property
    def text(self) -> str:
        """The text of the runs."""
        return "".join(text for text, _ in self.runs)

    def shortened(self) -> Row:
        """The first half of its characters, and a sign that there was more."""
        room = sum(len(text) for text, _ in self.runs) // 2
        kept: list[Run] = []
        for text, style in self.runs:
            if room > 0:
                kept.append((text[:room], style))
            room -= len(text)
        return Row(self.line, self.y, [*kept, ("…", PLAIN)], self.wrapped, cut=True)


def choose(log: ScreenLog, rows: int, args: Args) -> Part:
    """The part that a request without ``command`` is of, on a screen of so many rows.

    Raises Refusal NOT_FOUND (``no_line``) for a line below the screen.
    """
    if (since := args.get("since")) is not None:
        return _newer(log, rows, since)
    end = log.base + rows
    if (line := args.get("line")) is not None:
        if line >= end:
            raise _no_line()
        return Part(range(max(line, log.first), end), missed=max(0, log.first - line))
    return Part(range(max(log.base - args.get("offset", 0), log.first), end))


def _newer(log: ScreenLog, rows: int, since: int) -> Part:
    """A revision that is not reached yet is another pane's, or an earlier service's: all is new."""
    if since > log.revision:
        return Part(range(log.base, log.base + rows), full=True)
    changes = log.changes(since)
    return Part(changes.lines, changes.missed, changes.full)


def _no_line() -> Refusal:
    return Refusal(
        ErrorCode.NOT_FOUND,
        "line is below the screen: screen_line and rows of a snapshot say which lines there are; "
        "another width or a new program numbers them anew",
        reason="no_line",
    )


def read(engine: Engine, log: ScreenLog, part: Part, *, styled: bool) -> Iterator[Row]:
    """The part's rows, read as they are taken: the engine must not be fed meanwhile."""
    for lines in _stretches(part.lines, _STYLED_AT_ONCE if styled else _AT_ONCE):
        top, count = lines[0] - log.base, len(lines)
        rows = _runs(engine, top, count, styled=styled)
        wrapped = engine.wrapped(top, count)
        # An emulator that fails meanwhile has fewer rows to give than it had: the rest are blank.
        for line, runs, wraps in zip_longest(lines, rows[:count], wrapped[:count]):
            yield _clipped(Row(line, line - log.base, runs or (), bool(wraps)), part, engine)


def _runs(engine: Engine, top: int, count: int, *, styled: bool) -> Sequence[Sequence[Run]]:
    if styled:
        return engine.runs(top, count)
    return [[(text, PLAIN)] for text in engine.text(top, count)]


def _stretches(lines: Lines, most: int) -> Iterator[Lines]:
    """Neighbouring lines together, at most so many."""
    if isinstance(lines, range):
        yield from (lines[at : at + most] for at in range(0, len(lines), most))
        return
    for _, group in groupby(enumerate(lines), key=lambda item: item[1] - item[0]):
        together = [line for _, line in group]
        yield from (together[at : at + most] for at in range(0, len(together), most))


def _clipped(row: Row, part: Part, engine: Engine) -> Row:
    start = part.start_column if row.line == part.lines[0] else 0
    end = part.end_column if row.line == part.lines[-1] else None
    if start == 0 and end is None:
        return row
    runs = clip(row.runs, start, end, width_of(engine.name))
    return Row(row.line, row.y, runs, row.wrapped and end is None)
