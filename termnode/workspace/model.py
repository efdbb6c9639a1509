"""The workspace: tabs in order, the panes in them, what is active, and how big everything is.

All state changes happen here, at once, without I/O; each operation says in a `Change` what there is
left to do (programs to resize, to end). A refused operation changes nothing.

Ids come from counters that only rise, so a late message for a closed pane finds nobody, never
somebody else. A pane's generation starts at 1 and rises when its program is started anew.
"""

from __future__ import annotations

from brokerd.client import Refusal, limit_reached
from termnode.workspace import tree
from termnode.workspace.layout import MAX_PANES, MAX_TABS, Layout, clamped
from termnode.workspace.parts import Change, Pane, Size, Tab, in_another_tab
from termnode.workspace.tree import Direction, Leaf, Rect

__all__ = ["MAX_PANES", "MAX_TABS", "Workspace"]


class Workspace(Layout):
    """A layout and the operations on it. ``Workspace(cols, rows)`` starts without tabs."""

    def add_tab(self, *, title: str | None = None, select: bool = True) -> Change:
        """A new tab at the end, with one pane. Raises Refusal RESOURCE_LIMIT at a cap."""
        if len(self.tabs) >= self.max_tabs:
            raise _cap("tabs", self.max_tabs, "close a tab first")
        self._room_for_pane()
        self.last_tab_id += 1
        pane = self._new_pane(self.last_tab_id, title)
        self.tabs[self.last_tab_id] = Tab(self.last_tab_id, Leaf(pane), pane)
        if select or self.active_tab is None:
            self.active_tab = self.last_tab_id
        return self._change(tab=self.last_tab_id, opened=pane, sizes=self.sizes(self.last_tab_id))

    def split(
        self, pane: int, direction: Direction, *, title: str | None = None, select: bool = True
    ) -> Change:
        """Halve a pane's room for a new one, to the right (h) or below (v).

        ``select`` makes it the active pane of its tab. Raises Refusal: NOT_FOUND; RESOURCE_LIMIT at
        the cap, or with reason "too_small" when a half would be below the minimum.
        """
        tab = self.tabs[self.pane(pane).tab]
        self._room_for_pane()
        before = self.geometry(tab.id)
        if not tree.can_halve(before[pane], direction):
            raise _too_small(direction)
        new = self._new_pane(tab.id, title)
        tab.root = tree.split(tab.root, pane, new, direction)
        tab.active = new if select else tab.active
        return self._change(tab=tab.id, opened=new, sizes=self._resized(tab.id, before))

    def select_tab(self, tab: int) -> Change:
        """Make the tab the active one. Raises Refusal NOT_FOUND."""
        self.active_tab = self.tab(tab).id
        return self._change(tab=tab)

    def select_pane(self, pane: int, *, across_tabs: bool = False) -> Change:
        """Make the pane the active one of its tab; with ``across_tabs`` its tab becomes active too.

        Raises Refusal NOT_FOUND, also for a pane of another tab without ``across_tabs``.
        """
        found = self.pane(pane)
        if not across_tabs and found.tab != self.active_tab:
            raise in_another_tab()
        self.tabs[found.tab].active = pane
        self.active_tab = found.tab
        return self._change(tab=found.tab)

    def close_pane(self, pane: int) -> Change:
        """Take a pane out; its sibling takes the room, and the tab goes with its last pane.

        Raises Refusal NOT_FOUND.
        """
        tab = self.tabs[self.pane(pane).tab]
        before = self.geometry(tab.id)
        root, heir = tree.remove(tab.root, pane)
        if root is None or heir is None:
            return self.close_tab(tab.id)
        del self.panes[pane]
        tab.root = root
        tab.active = heir if tab.active == pane else tab.active
        return self._change(tab=tab.id, closed=(pane,), sizes=self._resized(tab.id, before))

    def close_tab(self, tab: int) -> Change:
        """Take a tab and all its panes out. Raises Refusal NOT_FOUND."""
        closed = tuple(tree.panes(self.tab(tab).root))
        if self.active_tab == tab:
            self.active_tab = self.neighbour(tab)
        del self.tabs[tab]
        for pane in closed:
            del self.panes[pane]
        return self._change(tab=tab, closed=closed, tab_closed=True)

    def resize(self, cols: int, rows: int) -> Change:
        """Lay every tab out anew, in proportion; sizes out of range are taken to the nearest."""
        before = {tab: self.geometry(tab) for tab in self.tabs}
        self.cols, self.rows = clamped(cols, rows)
        sizes: dict[int, Size] = {}
        for tab, rects in before.items():
            sizes.update(self._resized(tab, rects))
        return self._change(tab=self.active_tab, sizes=sizes)

    def restart(self, pane: int) -> int:
        """The pane's next generation, for a program that is started anew in its place.

        Raises Refusal NOT_FOUND.
        """
        found = self.pane(pane)
        found.generation += 1
        return found.generation

    def _room_for_pane(self) -> None:
        if len(self.panes) >= self.max_panes:
            raise _cap("panes", self.max_panes, "close a pane first")

    def _new_pane(self, tab: int, title: str | None) -> int:
        self.last_pane_id += 1
        self.panes[self.last_pane_id] = Pane(self.last_pane_id, tab, title)
        return self.last_pane_id

    def _resized(self, tab: int, before: dict[int, Rect]) -> dict[int, Size]:
        """The sizes that differ from ``before``: a pane that only moved needs nothing."""
        old = {pane: (rect.cols, rect.rows) for pane, rect in before.items()}
        return {pane: size for pane, size in self.sizes(tab).items() if old.get(pane) != size}

    def _change(
        self,
        *,
        tab: int | None,
        opened: int | None = None,
        closed: tuple[int, ...] = (),
        sizes: dict[int, Size] | None = None,
        tab_closed: bool = False,
    ) -> Change:
        return Change(
            tab, opened, closed, sizes or {}, tab_closed, self.active_tab, self.active_pane
        )


def _cap(what: str, limit: int, remedy: str) -> Refusal:
    return limit_reached(what, limit, f"there are {limit} {what}, which is the most: {remedy}")


def _too_small(direction: Direction) -> Refusal:
    need = 2 * tree.MIN_COLS + 1 if direction is Direction.HORIZONTAL else 2 * tree.MIN_ROWS + 1
    axis = "columns" if direction is Direction.HORIZONTAL else "rows"
    return limit_reached(
        "too_small",
        need,
        f"the pane has fewer than {need} {axis}: close a neighbour, "
        "or split in the other direction",
    )
