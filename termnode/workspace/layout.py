"""What there is in a workspace and where it is: state and reading it; `model` changes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from termnode.terminal.engine import MAX_COLS, MAX_ROWS
from termnode.workspace import tree
from termnode.workspace.parts import Pane, Size, Tab, none_open, not_found
from termnode.workspace.tree import Rect

MAX_TABS: Final = 64
MAX_PANES: Final = 128
"""In the whole workspace."""


class Layout:
    """Tabs in order, their panes, and what is active.

    ``cols`` and ``rows`` are what a tab would like to fill. A tab whose panes need more than that
    is laid out in what they need (`area`), and shown in part; it goes back as soon as there is
    room.
    """

    def __init__(
        self, cols: int, rows: int, *, max_tabs: int = MAX_TABS, max_panes: int = MAX_PANES
    ) -> None:
        self.cols, self.rows = clamped(cols, rows)
        self.max_tabs = max_tabs
        self.max_panes = max_panes
        self.tabs: dict[int, Tab] = {}
        self.panes: dict[int, Pane] = {}
        self.active_tab: int | None = None
        self.last_tab_id = 0
        self.last_pane_id = 0

    @property
    def active_pane(self) -> int | None:
        """The active pane of the active tab; None when there are no tabs."""
        return None if self.active_tab is None else self.tabs[self.active_tab].active

    def tab(self, tab: int | None = None) -> Tab:
        """The tab with this id, or the active one. Raises Refusal NOT_FOUND."""
        found = self.tabs.get((self.active_tab or 0) if tab is None else tab)
        if found is None:
            raise not_found("tab") if tab is not None else none_open()
        return found

    def pane(self, pane: int | None = None) -> Pane:
        """The pane with this id, or the active one. Raises Refusal NOT_FOUND."""
        found = self.panes.get((self.active_pane or 0) if pane is None else pane)
        if found is None:
            raise not_found("pane") if pane is not None else none_open()
        return found

    def area(self, tab: int) -> Size:
        """Columns and rows of the tab: the workspace's, or what its panes need at least."""
        need = tree.minimum(self.tabs[tab].root)
        return max(self.cols, need[0]), max(self.rows, need[1])

    def geometry(self, tab: int) -> dict[int, Rect]:
        """Where each pane of the tab is. Raises Refusal NOT_FOUND."""
        found = self.tab(tab)
        return tree.geometry(found.root, *self.area(found.id))

    def sizes(self, tab: int) -> dict[int, Size]:
        """Columns and rows of each pane of the tab. Raises Refusal NOT_FOUND."""
        return {pane: (rect.cols, rect.rows) for pane, rect in self.geometry(tab).items()}

    def neighbour(self, tab: int) -> int | None:
        """The tab that replaces this one when it closes: next, else previous (facts 3.5)."""
        order = list(self.tabs)
        at = order.index(tab)
        beside = order[at + 1 : at + 2] or order[max(at - 1, 0) : at]
        return beside[0] if beside else None

    def tabs_in_order(self) -> Iterator[Tab]:
        """The tabs, as shown from left to right."""
        return iter(self.tabs.values())


def clamped(cols: int, rows: int) -> Size:
    """The nearest size that a terminal can have."""
    return (
        min(max(cols, tree.MIN_COLS), MAX_COLS),
        min(max(rows, tree.MIN_ROWS), MAX_ROWS),
    )
