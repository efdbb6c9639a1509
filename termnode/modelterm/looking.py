"""A terminal's screen, asked of the service."""

from __future__ import annotations

from collections.abc import Sequence

from termnode.client import Exit, Line, Pane, Screen
from termnode.modelterm.record import Terminal
from termnode.modelterm.refusals import ended_as
from termnode.modelterm.screen import Look, Row
from termnode.modelterm.styles import row_of


async def look(terminal: Terminal, pane: Pane, offset: int = 0) -> Look:
    """The screen, or the page ``offset`` rows back in the history. Raises TermnodeError.

    A screen too large for one reply comes in several; what changes between them is shown as
    changed the next time, since the revision is that of the first.
    """
    first = await pane.screen(format="styled", scrollback=offset or None, lines=_rows(terminal))
    rows, top = first.rows or 0, first.first_line or 0
    lines = [*first.lines]
    more = first
    while more.next_line is not None and more.next_line < top + rows:
        line = more.next_line
        more = await pane.screen(format="styled", line=line, lines=top + rows - line)
        if not more.lines:
            break
        lines += more.lines
    return _look(terminal, first, lines, offset)


def _rows(terminal: Terminal) -> int | None:
    """The rows of a page: no more than the screen has, as far as that is known."""
    return None if terminal.last is None else max(terminal.last.rows, 1)


def _look(terminal: Terminal, screen: Screen, lines: Sequence[Line], offset: int) -> Look:
    rows, history = screen.rows or 0, screen.history or 0
    cursor = screen.cursor
    return Look(
        id=terminal.id,
        name=terminal.name,
        state=ended_as(_exit(screen)),
        cols=screen.cols or 0,
        lines=_placed(lines, screen.first_line or 0, rows),
        cursor=(1, 1) if cursor is None else (cursor.y + 1, cursor.x + 1),
        full_screen=screen.alternate or False,
        revision=screen.revision,
        history=history,
        back=min(offset, history) if offset else None,
        person_typed=terminal.person_typed(screen.person_inputs),
        person_inputs=screen.person_inputs,
    )


def _exit(screen: Screen) -> Exit | None:
    return (screen.exit or Exit()) if screen.state == "exited" else None


def _placed(lines: Sequence[Line], top: int, rows: int) -> tuple[Row, ...]:
    """As many rows as the screen has, each where it belongs."""
    placed: list[Row] = [()] * rows
    for line in lines:
        if 0 <= line.line - top < rows:
            placed[line.line - top] = row_of(line.runs)
    return tuple(placed)
