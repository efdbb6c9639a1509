"""Rows as text and as styled runs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from termnode.terminal.engine import Run
from termnode.terminal.pyte_engine.cells import BLANK, Cell, Row


def row_text(row: Row, columns: int) -> str:
    """The row's text without trailing blanks; a wide character counts once."""
    text = "".join([cell[0] for cell in row])
    if row.fill[0] != " ":
        text += row.fill[0] * (columns - len(row))
    return text.rstrip(" ")


def row_runs(row: Row, columns: int) -> Sequence[Run]:
    """Neighboring cells of one style together; trailing plain blanks are left out."""
    cells: list[Cell] = row
    if row.fill is not BLANK:
        cells = row + [row.fill] * (columns - len(row))
    end = len(cells)
    while end and cells[end - 1] == BLANK:
        end -= 1
    return [
        ("".join([cell[0] for cell in run]), style)
        for style, run in groupby(cells[:end], key=lambda cell: cell[1])
    ]
