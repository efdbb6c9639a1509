"""Rows of runs, cut to columns and put together. A width is asked only inside text that is cut."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from termnode.terminal.engine import Style
from termnode.terminal.render.cells import Cell, Width
from termnode.terminal.render.cells import cells as cells_of
from termnode.view.messages import Row, Run3

EMPTY: Final[Row] = ()

_STEADY: Final = re.compile(
    "[\\x20-\\x7e\\xa0-\\xac\\xae-\\u02ff\\u0370-\\u0482\\u048a-\\u04ff\\u2010-\\u2027\\u2500-\\u25a0"
    "\\u3041-\\u3096\\u30a1-\\u30fa\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7a3\\uff01-\\uff60]*"
)
"""Characters that terminals agree about: Latin, Greek, Cyrillic, lines and blocks are one column,
the main scripts of East Asia two. Of others a terminal may think otherwise than the emulator."""

Runs = Sequence[Run3]


def steady(text: str) -> bool:
    """Whether any terminal will take as many columns for the text as the emulator does."""
    return text.isascii() or _STEADY.fullmatch(text) is not None


def all_steady(row: Runs) -> bool:
    """Whether all of its text is."""
    return all(steady(text) for text, _, _ in row)


def columns(row: Runs) -> int:
    """How many columns the row takes."""
    return sum(run[1] for run in row)


def blanks(count: int, style: Style | None = None) -> Run3:
    """So many blank cells."""
    return " " * count, count, style


def cells(run: Run3, width: Width) -> list[Cell]:
    """The cells of a run, as many columns as it says it has, whatever the width rule says."""
    text, count, _ = run
    found = [cell for cell in cells_of(text, width) if cell[1]]
    at = 0
    for index, (_, wide) in enumerate(found):
        if at + wide > count:
            # A program had characters joined that the rule counts one by one.
            joined = "".join(part for part, _ in found[index:])
            return _with_rest(found[:index], joined, count - at)
        at += wide
    return found + [(" ", 1)] * (count - at)


def _with_rest(fitting: list[Cell], rest: str, room: int) -> list[Cell]:
    if room:
        return [*fitting, (rest, room)]
    if not fitting:
        return []
    last, wide = fitting[-1]
    return [*fitting[:-1], (last + rest, wide)]


def cut(row: Runs, start: int, end: int, width: Width) -> list[Run3]:
    """Exactly the columns from ``start`` to before ``end``: blank beyond the row's end.

    Where a wide character is cut in two, what is left of it is blank.
    """
    kept: list[Run3] = []
    at = 0
    for run in row:
        if at >= end:
            break
        after = at + run[1]
        if after > start:
            inside = at >= start and after <= end
            kept += [run] if inside else _part(run, max(start - at, 0), end - at, width)
        at = after
    if (missing := end - max(at, start)) > 0:
        kept.append(blanks(missing))
    return kept


def _part(run: Run3, start: int, end: int, width: Width) -> list[Run3]:
    """The columns of one run from ``start`` to before ``end``, or to its own end."""
    text, count, style = run
    end = min(end, count)
    if len(text) == count and text.isascii():
        return [(text[start:end], end - start, style)]
    at, parts = 0, []
    for cell, wide in cells(run, width):
        shown = min(at + wide, end) - max(at, start)
        if shown > 0:
            parts.append(cell if shown == wide else " " * shown)
        at += wide
    return [("".join(parts), end - start, style)] if parts else []


def joined(runs: Iterable[Run3], width: Width) -> Row:
    """The runs, equal neighbours made one, without trailing blanks of the default style.

    Cells that are not `steady` become runs of their own. Rows that show the same are then mostly
    equal too.
    """
    kept: list[Run3] = []
    for run in runs:
        text, count, style = run
        if text.isascii():
            _append(kept, run if len(text) == count else (text[:count].ljust(count), count, style))
        elif steady(text):
            _append(kept, run)
        else:
            for cell, wide in cells(run, width):
                _append(kept, (cell, wide, style))
    return _trimmed(kept)


def _append(kept: list[Run3], run: Run3) -> None:
    if not run[1]:
        return
    if kept and kept[-1][2] == run[2] and steady(kept[-1][0]) and steady(run[0]):
        text, count, style = kept[-1]
        kept[-1] = (text + run[0], count + run[1], style)
    else:
        kept.append(run)


def _trimmed(kept: list[Run3]) -> Row:
    if kept and kept[-1][2] is None:
        text, count, _ = kept[-1]
        bare = text.rstrip(" ")
        left = count - (len(text) - len(bare))
        kept[-1:] = [(bare, left, None)] if left else []
    return tuple(kept)


def over(row: Runs, x: int, box: Runs, width: Width, cols: int) -> Row:
    """``row`` of a screen of ``cols`` columns with ``box`` on it from column ``x``."""
    end = x + columns(box)
    before, after = cut(row, 0, x, width), cut(row, end, cols, width) if end < cols else []
    return joined([*before, *box, *after], width)


def restyled(row: Runs, start: int, end: int, style: Style, width: Width) -> list[Run3]:
    """``row`` with the cells that are in the columns from ``start`` to before ``end`` in a style.

    A wide character that is in them by one half is in them; so are blanks beyond the row's end.
    """
    start, end = _edge(row, max(start, 0), width)[0], _edge(row, end, width)[1]
    if start >= end:
        return list(row)
    middle = [(text, count, style) for text, count, _ in cut(row, start, end, width)]
    return [*cut(row, 0, start, width), *middle, *cut(row, end, max(columns(row), end), width)]


def _edge(row: Runs, column: int, width: Width) -> tuple[int, int]:
    """Where the cell that ``column`` cuts in two begins and ends; twice the column if none."""
    at = 0
    for run in row:
        if at < column < at + run[1] and not run[0].isascii():
            for _, wide in cells(run, width):
                if at < column < at + wide:
                    return at, at + wide
                at += wide
        else:
            at += run[1]
    return column, column
