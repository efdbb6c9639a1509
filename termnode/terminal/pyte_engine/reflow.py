"""Laying rows out again for another width, and finding where positions went.

Rows joined by soft wraps are one line of text; each line is cut anew at the new width. A wide
character never lies across an edge. Positions stay on their character. Works from the newest row
up and stops at a limit, so a narrow screen cannot turn a long history into unbounded work.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from termnode.terminal.pyte_engine.cells import BLANK, Cell, Row
from termnode.terminal.pyte_engine.editing import refill, trim, write_out
from termnode.terminal.pyte_engine.widths import is_wide

Position = tuple[int, int]
"""Row number and column."""


def reflow(
    rows: Sequence[Row], old: int, new: int, positions: Sequence[Position], limit: int
) -> tuple[list[Row], list[Position]]:
    """The newest rows (at least ``limit`` if there are) of ``rows`` at width ``new``.

    ``positions`` come back in their order; one on a row that was dropped comes back as row 0.
    """
    pieces: list[list[Row]] = []
    found: dict[Position, Position] = {}  # old position -> rows below it at its new place, column
    below = 0
    for first, last in reversed(list(_lines(rows))):
        group = rows[first:last]
        inside = [position for position in positions if first <= position[0] < last]
        offsets = [_offset(group, old, y - first) + x for y, x in inside]
        laid, places = _lay_out(group, old, new, offsets, limit)
        for position, (at, x) in zip(inside, places, strict=True):
            found[position] = (below + len(laid) - at, x)
        pieces.append(laid)
        below += len(laid)
        if below >= limit and all(position in found for position in positions):
            break
    out = [row for piece in reversed(pieces) for row in piece]
    distances = [found.get(position, (len(out), 0)) for position in positions]
    return out, [(len(out) - distance, x) for distance, x in distances]


def _lines(rows: Sequence[Row]) -> Iterator[tuple[int, int]]:
    """First row and end of each line of text."""
    first = 0
    for at, row in enumerate(rows):
        if not row.wrapped:
            yield first, at + 1
            first = at + 1
    if first < len(rows):
        yield first, len(rows)


def _lay_out(
    rows: Sequence[Row], old: int, new: int, offsets: list[int], limit: int
) -> tuple[list[Row], list[Position]]:
    """One line of text at the new width, and where its cells at ``offsets`` are.

    Trailing blanks make no rows of their own, but for those before one of ``offsets``, a cursor.
    A line of more than ``limit`` rows keeps its last ones.
    """
    if len(rows) == 1 and len(rows[0]) <= new and 1 not in (old, new):
        rows[0].wrapped = False
        return [rows[0]], [_locate(offset, [0], len(rows[0]), new) for offset in offsets]
    line = _join(rows, old)
    if 1 in (old, new):
        offsets = [len(_whole(line[:offset], old, new)) for offset in offsets]
        line = _whole(line, old, new)
    keep = max([new, *offsets])
    while len(line) > keep and line[-1] == BLANK:
        line.pop()
    starts = _cuts(line, new)[-limit:]
    laid = [Row(line[start:end]) for start, end in pairwise([*starts, len(line)])]
    for row in laid[:-1]:
        row.wrapped = True
    refill(laid[-1], rows[-1].fill)
    return laid, [_locate(offset, starts, len(line), new) for offset in offsets]


def _whole(line: list[Cell], old: int, new: int) -> list[Cell]:
    """The cells with the right halves that one column had no room for, or without them."""
    if old == 1:
        line = [part for cell in line for part in _with_tail(cell)]
    return [cell for cell in line if cell[0]] if new == 1 else line


def _join(rows: Sequence[Row], old: int) -> list[Cell]:
    """The cells of a line; rows that wrapped are full, but for a column before a wide character."""
    line: list[Cell] = []
    for at, row in enumerate(rows):
        line += row
        line += [row.fill] * (_width(rows, old, at) - len(row))
    return line


def _width(rows: Sequence[Row], old: int, at: int) -> int:
    """How many columns of row ``at`` are part of the line."""
    row = rows[at]
    if at == len(rows) - 1:
        return len(row)
    after = rows[at + 1]
    gap = len(row) == old - 1 and len(after) > 1 and not after[1][0]
    return len(row) if gap else old


def _offset(rows: Sequence[Row], old: int, at: int) -> int:
    """Cells of the line before row ``at``."""
    return sum(_width(rows, old, before) for before in range(at))


def _cuts(line: list[Cell], new: int) -> list[int]:
    """Where rows start when the line is cut at ``new`` columns."""
    starts = [0]
    while len(line) - starts[-1] > new:
        cut = starts[-1] + new
        starts.append(cut if line[cut][0] else cut - 1)
    return starts


def _locate(offset: int, starts: Sequence[int], length: int, new: int) -> Position:
    """Row and column of cell ``offset``; past the text, a column of the last row."""
    at = max(bisect_right(starts, offset) - 1, 0)
    x = max(offset - starts[at], 0)
    return at, x if offset <= length and x <= new else min(x, new - 1)


def _with_tail(cell: Cell) -> tuple[Cell, ...]:
    """The cell, and the right half that a screen of one column had no room for."""
    return (cell, ("", cell[1])) if is_wide(cell[0]) else (cell,)


def fit(rows: list[Row], old: int, columns: int, lines: int) -> list[Row]:
    """The alternate screen at another size: cut or extended, never laid out again."""
    for row in rows:
        write_out(row, old)
        if old == 1 < columns:
            row[:] = _whole(row, old, columns)
        trim(row, columns)
        row.wrapped = False
    return rows[:lines] + [Row() for _ in range(lines - len(rows))]


def blank(row: Row) -> bool:
    """Whether nothing but plain blanks is in the row."""
    return row.fill is BLANK and row.count(BLANK) == len(row)
