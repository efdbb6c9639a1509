"""The workspace: tabs in order, the panes in them, what is active, and how big everything is.

All state changes happen here, at once, without I/O; each operation says in a `Change` what there is
left to do (programs to resize, to end). A refused operation changes nothing.

Ids come from counters that only rise, so a late message for a closed pane finds nobody, never
somebody else. A pane's generation starts at 1 and rises when its program is started anew.
"""

from __future__ import annotations

from termnode.workspace import tree
from termnode.workspace.arranging import Arranging
from termnode.workspace.layout import MAX_PANES, MAX_TABS, clamped
from termnode.workspace.parts import Change, Pane, Size, Tab
from termnode.workspace.refusals import in_another_tab, too_many, too_small
from termnode.workspace.tree import Direction, Leaf

__all__ = ["MAX_PANES", "MAX_TABS", "Workspace"]


class Workspace(Arranging):
    """Tabs and panes, opened, closed and moved. ``Workspace(cols, rows)`` starts without tabs."""

    def add_tab(
        self, *, title: str | None = None, select: bool = True, size: Size | None = None
    ) -> Change:
        """A new tab at the end, with one pane; ``size`` is its own, taken to the nearest one.

        Raises Refusal RESOURCE_LIMIT at a cap.
        """
        if len(self.tabs) >= self.max_tabs:
            raise too_many("tabs", self.max_tabs, "close a tab first")
        self._room_for_pane()
        self.last_tab_id += 1
        pane = self._new_pane(self.last_tab_id, title)
        own = None if size is None else clamped(*size)
        self.tabs[self.last_tab_id] = Tab(self.last_tab_id, Leaf(pane), pane, size=own)
        if select or self.active_tab is None:
            self.active_tab = self.last_tab_id
        return self.change(tab=self.last_tab_id, opened=pane)

    def split(
        self, pane: int, direction: Direction, *, title: str | None = None, select: bool = True
    ) -> Change:
        """Halve a pane's room for a new one, to the right (h) or below (v).

        ``select`` makes it the active pane of its tab, which is then no longer zoomed; without it,
        the new pane of a zoomed tab is behind the zoomed one. Raises Refusal: NOT_FOUND;
        RESOURCE_LIMIT at the cap, or with reason "too_small" when a half would be below the
        minimum.
        """
        tab = self.tabs[self.pane(pane).tab]
        self._room_for_pane()
        if not tree.can_halve(self.places(tab.id)[pane], direction):
            raise too_small(direction)
        before = self.sizes(tab.id)
        new = self._new_pane(tab.id, title)
        tab.root = tree.split(tab.root, pane, new, direction)
        if select:
            tab.activate(new)
        return self.change(tab=tab.id, opened=new, before=before)

    def select_tab(self, tab: int) -> Change:
        """Make the tab the active one. Raises Refusal NOT_FOUND."""
        self.active_tab = self.tab(tab).id
        return self.change(tab=tab)

    def select_pane(self, pane: int, *, across_tabs: bool = False) -> Change:
        """Make the pane the active one of its tab; with ``across_tabs`` its tab becomes active too.

        When another pane was zoomed there, it no longer is. Raises Refusal NOT_FOUND, also for a
        pane of another tab without ``across_tabs``.
        """
        found = self.pane(pane)
        if not across_tabs and found.tab != self.active_tab:
            raise in_another_tab(found.tab)
        self.active_tab = found.tab
        return self.focus(pane)

    def focus(self, pane: int) -> Change:
        """As `select_pane`, in any tab; the active tab stays. Raises Refusal NOT_FOUND."""
        tab = self.tabs[self.pane(pane).tab]
        before = self.sizes(tab.id)
        tab.activate(pane)
        return self.change(tab=tab.id, before=before)

    def close_pane(self, pane: int) -> Change:
        """Take a pane out; its sibling takes the room, and the tab goes with its last pane.

        Raises Refusal NOT_FOUND.
        """
        tab = self.tabs[self.pane(pane).tab]
        before = self.sizes(tab.id)
        root, heir = tree.remove(tab.root, pane)
        if root is None or heir is None:
            return self.close_tab(tab.id)
        del self.panes[pane]
        tab.give_up(pane, root, heir)
        return self.change(tab=tab.id, closed=(pane,), before=before)

    def close_tab(self, tab: int) -> Change:
        """Take a tab and all its panes out. Raises Refusal NOT_FOUND."""
        closed = tuple(tree.panes(self.tab(tab).root))
        if self.active_tab == tab:
            self.active_tab = self.neighbour(tab)
        del self.tabs[tab]
        for pane in closed:
            del self.panes[pane]
        return self.change(tab=tab, closed=closed, tab_closed=True)

    def resize(self, cols: int, rows: int) -> Change:
        """Lay every tab without a size of its own out anew, in proportion; sizes out of range are
        taken to the nearest."""
        before = self.sizes(*self.tabs)
        self.cols, self.rows = clamped(cols, rows)
        return self.change(tab=self.active_tab, before=before)

    def restart(self, pane: int) -> int:
        """The pane's next generation, for a program that is started anew in its place.

        Raises Refusal NOT_FOUND.
        """
        found = self.pane(pane)
        found.generation += 1
        return found.generation

    def _room_for_pane(self) -> None:
        if len(self.panes) >= self.max_panes:
            raise too_many("panes", self.max_panes, "close a pane first")

    def _new_pane(self, tab: int, title: str | None) -> int:
        self.last_pane_id += 1
        self.panes[self.last_pane_id] = Pane(self.last_pane_id, tab, title)
        return self.last_pane_id
