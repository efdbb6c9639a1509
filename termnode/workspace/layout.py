"""What there is in a workspace and where it is: state and reading it.

`arranging` and `model` change it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from termnode.terminal.engine import MAX_COLS, MAX_ROWS
from termnode.workspace import tree
from termnode.workspace.parts import Change, Pane, Size, Tab
from termnode.workspace.refusals import none_open, not_found
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
        self.on_change: Callable[[], object] = _nobody
        """Called at the end of each operation, when everything is as it will be."""

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
        """Columns and rows of the tab: its own or the workspace's, or what the panes shown need at
        least."""
        found = self.tabs[tab]
        return self.wanted(found) if found.zoomed else self.room(found)

    def wanted(self, tab: Tab) -> Size:
        """Columns and rows that the tab would like to fill."""
        return tab.size or (self.cols, self.rows)

    def room(self, tab: Tab, root: tree.Node | None = None) -> Size:
        """Columns and rows in which the tab is laid out, or would be with such a tree."""
        need, size = tree.minimum(root or tab.root), self.wanted(tab)
        return max(size[0], need[0]), max(size[1], need[1])

    def geometry(self, tab: int) -> dict[int, Rect]:
        """Where each pane of the tab is; one behind a zoomed pane is where it is without zoom.

        Raises Refusal NOT_FOUND.
        """
        found = self.tab(tab)
        rects = self.places(tab)
        if found.zoomed:
            rects[found.active] = Rect(0, 0, *self.wanted(found))
        return rects

    def places(self, tab: int) -> dict[int, Rect]:
        """Where each pane of the tab is when none is zoomed. Raises Refusal NOT_FOUND."""
        found = self.tab(tab)
        return dict(_laid_out(found.root, self.room(found)))

    def sizes(self, *tabs: int) -> dict[int, Size]:
        """Columns and rows of each pane of the tabs. Raises Refusal NOT_FOUND."""
        return {
            pane: (rect.cols, rect.rows)
            for tab in tabs
            for pane, rect in self.geometry(tab).items()
        }

    def neighbour(self, tab: int) -> int | None:
        """The tab that replaces this one when it closes: next, else previous (facts 3.5)."""
        order = list(self.tabs)
        at = order.index(tab)
        beside = order[at + 1 : at + 2] or order[max(at - 1, 0) : at]
        return beside[0] if beside else None

    def tabs_in_order(self) -> Iterator[Tab]:
        """The tabs, as shown from left to right."""
        return iter(self.tabs.values())

    def change(
        self,
        *,
        tab: int | None,
        opened: int | None = None,
        closed: tuple[int, ...] = (),
        before: dict[int, Size] | None = None,
        tab_closed: bool = False,
    ) -> Change:
        """What was done, for the caller: ``before`` are the sizes of panes that may have changed.

        A pane that only moved needs nothing.
        """
        old = before or {}
        touched = old.keys() | ({opened} if opened else set())
        tabs = {self.panes[pane].tab for pane in touched if pane in self.panes}
        new = self.sizes(*tabs)
        sizes = {pane: size for pane, size in new.items() if old.get(pane) != size}
        self.on_change()
        return Change(tab, opened, closed, sizes, tab_closed, self.active_tab, self.active_pane)


@lru_cache(maxsize=4 * MAX_TABS)
def _laid_out(root: tree.Node, room: Size) -> Mapping[int, Rect]:
    """Kept, since every change is looked at by several who compare where all panes are."""
    return tree.geometry(root, *room)


def clamped(cols: int, rows: int) -> Size:
    """The nearest size that a terminal can have."""
    return (
        min(max(cols, tree.MIN_COLS), MAX_COLS),
        min(max(rows, tree.MIN_ROWS), MAX_ROWS),
    )


def _nobody() -> None:
    """Nobody watches."""
