"""The whole screen of the person's terminal, put together from panes, borders and the view's own.

What did not change is not composed again: a row is kept with what it was made of, and the model
gives the same objects for lines that were not told anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from termnode.attach.boxes import with_boxes
from termnode.attach.cursors import NOWHERE, corner, cursor_in
from termnode.attach.looks import Looks, looks
from termnode.attach.model import Model
from termnode.attach.panes import Source, drawn, source
from termnode.attach.places import PaneSpan, Part, plan, tab_room
from termnode.attach.runs import EMPTY, joined
from termnode.attach.status import Facts, StatusLine, facts, message_line, prompt_line, status_line
from termnode.attach.ui.state import Ui
from termnode.terminal import engines
from termnode.terminal.engine import Cursor
from termnode.terminal.render.cells import Width, width_of
from termnode.view.messages import Layout, Row, Run3


class Frame(NamedTuple):
    """What the terminal is to show. Rows leave out trailing blanks of the default style."""

    cols: int
    rows: int
    lines: tuple[Row, ...]
    """One for each row; none takes more than ``cols`` columns."""
    cursor: Cursor


def compose(model: Model, ui: Ui, cols: int, rows: int) -> Frame:
    """One frame, without anything kept from the last one: see `Composer`."""
    return Composer().compose(model, ui, cols, rows)


class _Plan(NamedTuple):
    """The parts of each row, and what they follow from."""

    key: object
    rows: list[list[Part]]


class Composer:
    """Composes one frame after another. Keeps the last one's rows, and nothing else."""

    def __init__(self, width: Width | None = None) -> None:
        self._given = width
        self._width: Width = width or _rule(engines.available()[0])
        self._plan = _Plan(None, [])
        self._rows: list[tuple[list[Source], Row]] = []
        self._status: tuple[object, StatusLine] = (None, StatusLine(EMPTY, ()))

    def compose(self, model: Model, ui: Ui, cols: int, rows: int) -> Frame:
        """The frame for a terminal of this size (at least 1 by 1); never raises for a smaller one.

        Sets where things are in ``ui``: ``offset``, ``status_row`` (-1: none), ``tab_spans``,
        ``cols`` and ``rows``.
        """
        cols, rows = max(cols, 1), max(rows, 1)
        self._choose_width(model)
        room = tab_room(cols, rows)
        ui.cols, ui.rows = cols, rows
        ui.offset = corner(model, ui, room)
        ui.status_row = rows - 1 if rows > room[1] else -1
        lines = self._body(model, ui, room)
        cursor = cursor_in(model, ui, room)
        lines, cursor = self._bottom(model, ui, (cols, rows), lines, cursor)
        if ui.boxes:
            below, lines = lines, with_boxes(lines, ui.boxes, cols, looks(ui.colours), self._width)
            covered = lines[cursor.y] is not below[cursor.y]
            cursor = NOWHERE if covered or not ui.boxes[-1].question else cursor
        return Frame(cols, rows, tuple(lines), cursor)

    def _choose_width(self, model: Model) -> None:
        if self._given is None and model.welcome is not None:
            self._width = _rule(model.welcome.emulator)

    # -- panes ------------------------------------------------------------------------------------

    def _body(self, model: Model, ui: Ui, room: tuple[int, int]) -> list[Row]:
        if model.layout is None:
            return [EMPTY] * room[1]
        look = looks(ui.colours)
        self._replan(model.layout, look, ui.offset, room)
        return [self._row(y, parts, model, ui, look) for y, parts in enumerate(self._plan.rows)]

    def _replan(
        self, layout: Layout, look: Looks, first: tuple[int, int], room: tuple[int, int]
    ) -> None:
        key = (layout, look, first, room, self._width)
        if self._plan.key != key:
            self._plan = _Plan(key, plan(layout, look, first, room))
            self._rows = [([_NEVER], EMPTY)] * room[1]

    def _row(self, y: int, parts: Sequence[Part], model: Model, ui: Ui, look: Looks) -> Row:
        sources = [
            source(part, model.panes, ui.copies) for part in parts if isinstance(part, PaneSpan)
        ]
        known, row = self._rows[y]
        if known == sources:
            return row
        row = joined(self._runs(parts, sources, look), self._width)
        self._rows[y] = sources, row
        return row

    def _runs(self, parts: Sequence[Part], sources: Sequence[Source], look: Looks) -> list[Run3]:
        runs: list[Run3] = []
        shown = iter(sources)
        for part in parts:
            if isinstance(part, PaneSpan):
                runs += drawn(part, next(shown), look, self._width)
            else:
                runs += part
        return runs

    # -- the last row -----------------------------------------------------------------------------

    def _bottom(
        self, model: Model, ui: Ui, size: tuple[int, int], lines: list[Row], cursor: Cursor
    ) -> tuple[list[Row], Cursor]:
        """The rows of the tab with the view's own below; over the last where there is one alone."""
        cols, rows = size
        above = lines[: rows - 1]
        look = looks(ui.colours)
        ui.tab_spans = ()
        if ui.prompt is not None:
            row, x = prompt_line(ui.prompt, cols, look, self._width)
            return [*above, row], Cursor(x, rows - 1)
        if ui.message is not None and not _alerted(model):
            return [*above, message_line(ui.message, cols, look, self._width)], cursor
        if rows == len(lines):
            return lines, cursor
        status = self._status_line(model, ui, cols, look)
        ui.tab_spans = status.tabs
        return [*lines, status.row], cursor

    def _status_line(self, model: Model, ui: Ui, cols: int, look: Looks) -> StatusLine:
        active = model.layout.active if model.layout else None
        known: Facts = facts(
            model, read_only=ui.read_only, prefix=ui.prefix, copying=active in ui.copies
        )
        key = (known, cols, look, self._width)
        if self._status[0] != key:
            self._status = key, status_line(known, cols, look, self._width)
        return self._status[1]


_NEVER = Source((("", -1, None),))
"""Equal to no source."""


def _alerted(model: Model) -> bool:
    """Whether the status line says who was interrupted: that goes before a message."""
    return model.status is not None and model.status.interrupted is not None


@cache
def _rule(emulator: str) -> Width:
    """The width rule of an emulator, which is loaded once there is something to measure."""

    def width(char: str) -> int:
        return _loaded(emulator)(char)

    return width


@cache
def _loaded(emulator: str) -> Width:
    """The service's own rule, or where that cannot be loaded here the fallback's."""
    try:
        return width_of(emulator)
    except (ValueError, ImportError, OSError):
        return width_of(engines.available()[-1])
