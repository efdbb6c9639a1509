"""What the service has told: the tabs, the layout of the tab that is shown, its panes' screens."""

from __future__ import annotations

from typing import Final

from termnode.attach.runs import EMPTY
from termnode.terminal.engine import Cursor, Modes
from termnode.view.messages import (
    Layout,
    Message,
    PaneGone,
    PaneState,
    PlacedPane,
    Row,
    Status,
    Tabs,
    Welcome,
)

MAX_PANES: Final = 128
"""Screens kept; what the service tells of more is not taken."""


class PaneScreen:
    """One pane's screen. A line that was not told again is the same object as before."""

    def __init__(self) -> None:
        self._told: PaneState | None = None
        self._lines: dict[int, Row] = {}

    def take(self, told: PaneState) -> None:
        """Take in a change. Lines that are no longer on the screen are forgotten."""
        before = self._told
        if told.full or before is None or before.generation != told.generation:
            self._lines = {}
        self._told = told
        screen = range(told.base, told.base + told.rows)
        known = self._lines | dict(told.lines)
        self._lines = {number: row for number, row in known.items() if number in screen}

    @property
    def told(self) -> PaneState:
        """The newest state; its ``lines`` are the last change alone."""
        assert self._told is not None, "a screen is made when its first state comes"
        return self._told

    def line(self, number: int) -> Row:
        """What a line of the screen shows; empty for any other."""
        return self._lines.get(number, EMPTY)

    def row(self, y: int) -> Row:
        """What row ``y`` of the screen shows; empty below its end."""
        return self._lines.get(self.told.base + y, EMPTY)

    @property
    def base(self) -> int:
        """The number of the line in the first row."""
        return self.told.base

    @property
    def cursor(self) -> Cursor:
        """Where the program's cursor is."""
        return self.told.cursor

    @property
    def modes(self) -> Modes:
        """What the program has set."""
        return self.told.modes


class Model:
    """Built from messages alone. Bounded: one tab's layout, MAX_PANES screens of known size."""

    def __init__(self) -> None:
        self.welcome: Welcome | None = None
        self.tabs = Tabs(None, ())
        self.layout: Layout | None = None
        self.status: Status | None = None
        self.panes: dict[int, PaneScreen] = {}

    def apply(self, message: Message) -> None:
        """Take a message in; one that is about nothing shown here changes nothing."""
        match message:
            case PaneState():
                self._pane(message)
            case Layout():
                self._layout(message)
            case Tabs():
                self.tabs = message
            case Status():
                self.status = message
            case PaneGone():
                self.panes.pop(message.pane, None)
            case Welcome():
                self.welcome = message
            case _:
                pass

    @property
    def active(self) -> PlacedPane | None:
        """The place of the pane that the person's keys go to."""
        layout = self.layout
        if layout is None:
            return None
        return next((place for place in layout.panes if place.id == layout.active), None)

    @property
    def active_screen(self) -> PaneScreen | None:
        """The screen of that pane, once it was told."""
        return None if self.layout is None else self.panes.get(self.layout.active)

    def _layout(self, layout: Layout) -> None:
        self.layout = layout
        shown = {place.id for place in layout.panes}
        self.panes = {pane: screen for pane, screen in self.panes.items() if pane in shown}

    def _pane(self, told: PaneState) -> None:
        if told.pane not in self.panes and len(self.panes) >= MAX_PANES:
            return
        self.panes.setdefault(told.pane, PaneScreen()).take(told)
