"""What there is to see in a service: tabs, where panes are, who types. Built from its state."""

from __future__ import annotations

from typing import Final, Protocol

from termnode.service.input.authors import Typed
from termnode.service.looking.titles import tab_title
from termnode.service.state import State
from termnode.service.viewing.marks import Marks
from termnode.service.viewing.pane_lines import PaneLines, PaneLook, Starting
from termnode.terminal.engine import MAX_TITLE
from termnode.view.messages import (
    Asked,
    Interrupted,
    LastInput,
    Layout,
    PlacedPane,
    Status,
    TabInfo,
    Tabs,
)
from termnode.workspace.tree import panes

MAX_WHO: Final = 256
"""Characters of who typed."""


class Scene(Protocol):
    """What the hub reads. Everything is as it is in this step."""

    def tabs(self) -> Tabs:
        """All tabs."""

    def layout(self, tab: int) -> Layout:
        """Where the panes of a tab are."""

    def pane(self, pane: int) -> PaneLook:
        """A pane of the workspace."""

    def has(self, pane: int) -> bool:
        """Whether there is such a pane."""

    def revision(self, pane: int) -> int:
        """That of a pane's screen; -1 without a program."""

    def status(self, views: int) -> Status:
        """What a status line says."""

    def questions(self) -> tuple[Asked, ...]:
        """What the person is asked at present."""


class StateScene:
    """The scene of one service. One encoding of each line for all who look."""

    def __init__(self, state: State, marks: Marks) -> None:
        self._state = state
        self._marks = marks
        self._lines: dict[int, PaneLines] = {}

    def tabs(self) -> Tabs:
        """All tabs."""
        workspace = self._state.workspace
        self._marks.look(self._state)
        return Tabs(
            workspace.active_tab,
            tuple(
                TabInfo(
                    tab.id,
                    tab_title(self._state, tab.id)[:MAX_TITLE],
                    tuple(panes(tab.root)),
                    tab.active,
                    tab.zoomed,
                    tab.id in self._marks.bells,
                    tab.id in self._marks.activity,
                )
                for tab in workspace.tabs_in_order()
            ),
        )

    def layout(self, tab: int) -> Layout:
        """Where the panes of a tab are."""
        workspace = self._state.workspace
        found = workspace.tabs[tab]
        cols, rows = workspace.area(tab)
        placed = tuple(
            PlacedPane(
                pane, at.x, at.y, at.cols, at.rows, hidden=found.zoomed and pane != found.active
            )
            for pane, at in workspace.geometry(tab).items()
        )
        zoomed = found.active if found.zoomed else None
        return Layout(tab, cols, rows, placed, zoomed, found.active)

    def pane(self, pane: int) -> PaneLook:
        """A pane of the workspace."""
        placed = self._state.workspace.panes[pane]
        title = self._state.pane_title(pane)[:MAX_TITLE]
        live = self._state.find_live(pane)
        if live is None or live.terminal.closed:
            self._lines.pop(pane, None)
            cols, rows = self._state.workspace.sizes(placed.tab)[pane]
            return Starting(placed.generation, cols, rows, title)
        lines = self._lines.get(pane)
        if lines is None or lines.live is not live:
            lines = self._lines[pane] = PaneLines(live)
        lines.look(placed.generation, title)
        return lines

    def has(self, pane: int) -> bool:
        """Whether there is such a pane."""
        return pane in self._state.workspace.panes

    def revision(self, pane: int) -> int:
        """That of a pane's screen; -1 without a program."""
        live = self._state.find_live(pane)
        return -1 if live is None else live.terminal.revision

    def forget(self, shown: frozenset[int]) -> None:
        """Keep the lines of these panes only: nobody looks at others."""
        for pane in self._lines.keys() - shown:
            del self._lines[pane]

    def status(self, views: int) -> Status:
        """What a status line says."""
        state, people = self._state, self._state.people
        last, cut = people.last(), people.interrupted()
        return Status(
            views,
            None if last is None else _last_input(last, people.ago_ms(last)),
            None if cut is None else _interrupted(cut),
            "open" if state.is_open() else "strict",
            state.config.name,
            state.identity.state.trouble,
        )

    def questions(self) -> tuple[Asked, ...]:
        """What the person is asked at present."""
        return self._state.asking.open()


def _last_input(typed: Typed, ago_ms: int) -> LastInput:
    return LastInput(typed.pane, typed.author.who[:MAX_WHO], typed.author.verb, ago_ms)


def _interrupted(typed: Typed) -> Interrupted:
    return Interrupted(typed.pane, typed.author.who[:MAX_WHO], typed.author.verb)
