"""Pages of a pane's history, for a view that scrolls back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from brokerd.client import Refusal
from termnode.service.live_pane import LivePane
from termnode.service.state import State
from termnode.service.viewing.pane_lines import wire_row
from termnode.terminal.render.cells import width_of
from termnode.view.frames import MAX_PANE_LINES, encode_line
from termnode.view.messages import Line, Page, PageWanted

AT_ONCE: Final = 16
"""Rows read from the emulator at a time."""

WITHIN_S: Final = 0.01
"""Seconds after which no further rows are read: everybody else waits meanwhile."""


def page(state: State, wanted: PageWanted, *, clock: Callable[[], float] = time.monotonic) -> Page:
    """The lines from ``wanted.line``, or from the oldest that there is when it is older.

    There may be fewer than were asked for, but one at least while there are any: ask for the rest.
    Of a pane that there is not, or whose program is being started, there are none (generation 0).
    """
    try:
        placed = state.workspace.pane(wanted.pane)
        live = state.live(placed.id)
    except Refusal:
        return _none(wanted)
    if live.terminal.closed:
        return _none(wanted)
    log = live.terminal.log
    first, end = log.first, log.base + live.terminal.rows
    lines = range(max(first, wanted.line), min(end, wanted.line + wanted.lines))
    found = tuple(_within(_read(live, log.base, lines), clock))
    return Page(wanted.req, wanted.pane, placed.generation, first, end, found)


def _none(wanted: PageWanted) -> Page:
    return Page(wanted.req, wanted.pane, 0, 0, 0, ())


def _read(live: LivePane, base: int, lines: range) -> Iterator[Sequence[Line]]:
    """The lines, some at a time. An emulator that fails has fewer to give: the rest are blank."""
    engine = live.terminal.engine
    width = width_of(engine.name)
    for at in range(0, len(lines), AT_ONCE):
        part = lines[at : at + AT_ONCE]
        rows = [wire_row(runs, width) for runs in engine.runs(part.start - base, len(part))]
        rows += [()] * (len(part) - len(rows))
        yield list(zip(part, rows, strict=False))


def _within(parts: Iterator[Sequence[Line]], clock: Callable[[], float]) -> Iterator[Line]:
    """As many of the lines as one frame holds and there is time for."""
    end, room = clock() + WITHIN_S, MAX_PANE_LINES
    for part in parts:
        for line in part:
            room -= len(encode_line(line))
            if room < 0:
                return
            yield line
        if clock() >= end:
            return
