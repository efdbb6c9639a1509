"""What the last command of a shell wrote, by the marks that the shell puts around it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from brokerd.client import ErrorCode, Refusal
from termnode.service.looking.snapshot_part import Part
from termnode.service.state import Result
from termnode.terminal.commands import Command, Place
from termnode.terminal.engine import PLAIN, Engine, Run
from termnode.terminal.prompting import at_prompt, marker_gone
from termnode.terminal.pty_terminal import Terminal
from termnode.terminal.render.cells import columns, width_of

_SIGNS: Final = frozenset("%#⏎")
"""What zsh and fish put behind output without a newline at its end."""


def last_command(terminal: Terminal) -> tuple[Part, Result]:
    """The lines of its output, and the reply's ``command``.

    Raises Refusal NOT_FOUND: ``no_marks`` where the shell marks nothing, ``no_command`` when none
    has run, ``output_gone`` when nothing of its output can be read or found any more.
    """
    last = terminal.commands.last
    if last is None or _left_behind(last, terminal):
        raise _none_ran(marked=last is None and terminal.commands.marked)
    if terminal.engine.modes.alternate:
        raise _gone("a full-screen program covers the output: ask again when it has ended")
    running = last.ended_revision is None
    end = _so_far(terminal) if running else last.end
    if last.start is None or end is None:
        raise _gone("it is not known where the output stands (the width changed): read the screen")
    part = _part(last.start, _before_sign(end, last.start, terminal), terminal)
    about: Result = {"running": running, "output_line": last.start[0]}
    return part, about if last.status is None else {**about, "status": last.status}


def _left_behind(last: Command, terminal: Terminal) -> bool:
    """Whether it is of a shell that has ended, and the pane is back in one that marks nothing.

    A command that seems to run ended that shell, if the pane's own one waits for the next.
    """
    if not marker_gone(terminal):
        return False
    return last.ended_revision is not None or at_prompt(terminal, time.monotonic())


def _part(start: Place, end: Place, terminal: Terminal) -> Part:
    log, rows = terminal.log, terminal.rows
    # A line that the end is at the beginning of has nothing of it.
    stop = end[0] + 1 if end[1] else end[0]
    first = max(start[0], log.first)
    below = min(stop, log.base + rows)
    if start[0] < stop and first >= below:
        raise _gone("the output is out of history: read it sooner, or write it to a file")
    return Part(
        range(first, max(first, below)),
        missed=max(0, first - start[0]) if start[0] < stop else 0,
        start_column=start[1] if first == start[0] else 0,
        end_column=end[1] if end[1] and below == stop else None,
    )


def _so_far(terminal: Terminal) -> Place:
    """Of a command that runs: below the last row with text, or with the cursor in its midst."""
    rows = terminal.engine.text(0)
    cursor = terminal.engine.cursor
    used = cursor.y + (1 if cursor.x else 0)
    used = max([used, *(y + 1 for y, row in enumerate(rows) if row)])
    return terminal.log.base + used, 0


def _before_sign(end: Place, start: Place, terminal: Terminal) -> Place:
    """Where the output really ended, when the shell had to finish its last line.

    zsh (and fish, where the mark is part of its prompt) then writes a sign in a look of its own and
    blanks until the line wraps: the mark comes at the beginning of a row that another goes on in.
    """
    line, column = end
    log, engine = terminal.log, terminal.engine
    if column or not max(log.first, start[0]) < line <= log.base + terminal.rows:
        return end
    above = line - 1 - log.base
    if engine.wrapped(above, 1) != [True]:
        return end
    (runs,) = engine.runs(above, 1)
    at = _sign_column(runs, engine)
    return end if at is None else (line - 1, at)


def _sign_column(runs: Sequence[Run], engine: Engine) -> int | None:
    """The column of the sign that ends the row; None when none does."""
    shown = [at for at, (text, _) in enumerate(runs) if text.strip(" ")]
    if not shown:
        return None
    text, style = runs[shown[-1]]
    if style == PLAIN or text.strip(" ") not in _SIGNS:
        return None
    width = width_of(engine.name)
    before = sum(columns(part, width) for part, _ in runs[: shown[-1]])
    return before + len(text) - len(text.lstrip(" "))


def _none_ran(*, marked: bool) -> Refusal:
    if marked:
        return Refusal(
            ErrorCode.NOT_FOUND,
            "no command has run in this shell yet: run one, then ask again",
            reason="no_command",
        )
    return Refusal(
        ErrorCode.NOT_FOUND,
        "the shell does not mark its prompts (OSC 133), so its commands cannot be told apart: "
        "have it mark them, or read the screen, or what is newer with since",
        reason="no_marks",
    )


def _gone(message: str) -> Refusal:
    return Refusal(ErrorCode.NOT_FOUND, message, reason="output_gone")
