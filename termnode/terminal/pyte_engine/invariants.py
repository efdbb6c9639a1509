"""What must hold of a screen between two feeds. Tests call this; the product never does."""

from __future__ import annotations

from termnode.terminal.pyte_engine.cells import BLANK, Cell, Row
from termnode.terminal.pyte_engine.outbox import CONTROLS
from termnode.terminal.pyte_engine.screen import PyteScreen
from termnode.terminal.pyte_engine.storing import KITTY_DEPTH
from termnode.terminal.pyte_engine.widths import MAX_CLUSTER, is_wide


def check(screen: PyteScreen) -> None:
    """Raise AssertionError, saying what is wrong, unless ``screen`` is consistent."""
    _require(len(screen.grid) == screen.lines, "the screen has another number of rows")
    _require(0 <= screen.cursor.x <= screen.columns, "the cursor is outside the columns")
    _require(0 <= screen.cursor.y < screen.lines, "the cursor is outside the rows")
    _require(screen.cursor.x < screen.columns or screen.has_mode(7), "a wrap without autowrap")
    _require(all(1 <= len(stack) <= KITTY_DEPTH for stack in screen.kitty_stacks), "kitty stack")
    _require(len({id(row) for row in screen.grid}) == screen.lines, "a row appears twice")
    top, bottom = screen.bounds()
    _require(0 <= top <= bottom < screen.lines, "the margins are outside the rows")
    for row in (*screen.history.rows, *screen.grid):
        check_row(row, screen.columns)


def check_row(row: Row, columns: int) -> None:
    """Raise AssertionError unless the row fits and holds whole characters alone."""
    _require(len(row) <= columns, "a row is wider than the screen")
    _require(row.fill[0] in (" ", "E"), "a fill of something else than blank or alignment")
    before: Cell = BLANK
    for cell in row:
        _require(_follows(before, cell, columns), "half a wide character")
        _require(len(cell[0]) <= MAX_CLUSTER, "too many marks in a cell")
        _require(not CONTROLS.search(cell[0]), "a control character in a cell")
        before = cell
    _require(columns == 1 or not is_wide(before[0]), "half a wide character at the edge")


def _follows(before: Cell, cell: Cell, columns: int) -> bool:
    """A right half comes after a left half, and after nothing else."""
    return (cell[0] == "") == (columns > 1 and is_wide(before[0]))


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise AssertionError(what)
