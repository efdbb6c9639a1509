"""Moving panes and giving them room: operations that neither open nor close a pane.

A pane keeps its id, its generation and its program wherever it goes. A refused operation changes
nothing.
"""

from __future__ import annotations

from termnode.workspace import tree
from termnode.workspace.arrangements import arrange
from termnode.workspace.layout import Layout, clamped
from termnode.workspace.parts import Change, Tab
from termnode.workspace.refusals import layout_too_small, same_pane, too_many, too_small
from termnode.workspace.sizing import resized
from termnode.workspace.tree import Direction, Leaf, Split


class Arranging(Layout):
    """A layout whose panes can be moved."""

    def rename_tab(self, tab: int, title: str) -> Change:
        """Name the tab; an empty title takes its name away. Raises Refusal NOT_FOUND."""
        self.tab(tab).title = title or None
        return self.change(tab=tab)

    def rename_pane(self, pane: int, title: str) -> Change:
        """Name the pane; an empty title takes its name away. Raises Refusal NOT_FOUND."""
        found = self.pane(pane)
        found.title = title or None
        return self.change(tab=found.tab)

    def resize_pane(self, pane: int, cols: int | None = None, rows: int | None = None) -> Change:
        """Give the pane so many columns and rows, as near as the others of its tab allow.

        The tab is no longer zoomed. A size of its own goes with the pane that is alone in it.
        Raises Refusal NOT_FOUND.
        """
        tab = self.tabs[self.pane(pane).tab]
        before = self.sizes(tab.id)
        tab.zoomed = False
        if tab.size is not None and isinstance(tab.root, Leaf):
            tab.size = clamped(cols or tab.size[0], rows or tab.size[1])
            return self.change(tab=tab.id, before=before)
        asked = ((Direction.HORIZONTAL, cols), (Direction.VERTICAL, rows))
        for direction, want in asked:
            if want is not None:
                length = self.room(tab)[direction.axis]
                tab.root = resized(tab.root, pane, direction, want, length)
        return self.change(tab=tab.id, before=before)

    def arrange(self, tab: int, layout: str) -> Change:
        """Lay the tab's panes out by a rule (`arrangements.LAYOUTS`); none is zoomed any more.

        The active pane is the main one. Raises Refusal: NOT_FOUND; RESOURCE_LIMIT with reason
        "too_small" when the terminal is too small for it.
        """
        found = self.tab(tab)
        root = arrange(layout, list(tree.panes(found.root)), found.active)
        need = tree.minimum(root)
        if self.room(found, root) != self.wanted(found):
            raise layout_too_small(*need)
        before = self.sizes(tab)
        found.root, found.zoomed = root, False
        return self.change(tab=tab, before=before)

    def zoom(self, pane: int, on: bool = True) -> Change:
        """Let the pane, which becomes its tab's active one, have the whole tab; or end that.

        A pane that has the tab for itself is left as it is. Raises Refusal NOT_FOUND.
        """
        tab = self.tabs[self.pane(pane).tab]
        before = self.sizes(tab.id)
        if on:
            tab.active = pane
        tab.zoomed = on and isinstance(tab.root, Split)
        return self.change(tab=tab.id, before=before)

    def swap(self, pane: int, other: int) -> Change:
        """Let two panes change places; in neither's tab is one zoomed any more.

        Within a tab the active pane stays the active one. Between two, the place does: the pane
        that comes is active where the one that left was. Raises Refusal: NOT_FOUND;
        INVALID_ARGUMENT for one and the same pane.
        """
        one, two = self.pane(pane), self.pane(other)
        if one is two:
            raise same_pane("with")
        tabs = {tab: self.tabs[tab] for tab in (one.tab, two.tab)}
        before = self.sizes(*tabs)
        for tab in tabs.values():
            tab.root, tab.zoomed = tree.exchange(tab.root, pane, other), False
            if len(tabs) > 1:
                tab.active = {pane: other, other: pane}.get(tab.active, tab.active)
        one.tab, two.tab = two.tab, one.tab
        return self.change(tab=one.tab, before=before)

    def break_out(self, pane: int) -> Change:
        """Give the pane a tab of its own after its present one; that becomes the active tab.

        A pane that is alone in its tab stays there. Raises Refusal: NOT_FOUND; RESOURCE_LIMIT at
        the cap on tabs.
        """
        found = self.pane(pane)
        tab = self.tabs[found.tab]
        rest, heir = tree.remove(tab.root, pane)
        if rest is None or heir is None:
            self.active_tab = tab.id
            return self.change(tab=tab.id)
        if len(self.tabs) >= self.max_tabs:
            raise too_many("tabs", self.max_tabs, "close a tab first")
        before = self.sizes(tab.id)
        tab.give_up(pane, rest, heir)
        self._insert_tab(pane, tab.id)
        return self.change(tab=found.tab, before=before)

    def join(self, pane: int, beside: int, direction: Direction) -> Change:
        """Move the pane into half the room of ``beside``, to its right (h) or below it (v).

        In neither's tab is one zoomed any more. What was active stays so: the active pane of the
        workspace takes the active tab along, any other is joined in the background. A tab goes with
        its last pane. Raises Refusal: NOT_FOUND; INVALID_ARGUMENT for one and the same pane;
        RESOURCE_LIMIT with reason "too_small" when a half would be below the minimum.
        """
        found, target = self.pane(pane), self.tabs[self.pane(beside).tab]
        if pane == beside:
            raise same_pane("beside")
        source, was_active = self.tabs[found.tab], pane == self.active_pane
        rest, heir = tree.remove(source.root, pane)
        base = rest if source is target and rest is not None else target.root
        if not tree.can_halve(tree.geometry(base, *self.room(target, base))[beside], direction):
            raise too_small(direction)
        before = self.sizes(*{source.id, target.id})
        source.zoomed = target.zoomed = False
        if rest is None or heir is None:
            del self.tabs[source.id]
        elif source is not target:
            source.give_up(pane, rest, heir)
        target.root, found.tab = tree.split(base, beside, pane, direction), target.id
        if was_active:
            self.active_tab, target.active = target.id, pane
        return self.change(tab=target.id, before=before, tab_closed=source.id not in self.tabs)

    def _insert_tab(self, pane: int, after: int) -> None:
        """A tab with just this pane, the active one, next to the tab ``after``."""
        self.last_tab_id += 1
        tab = Tab(self.last_tab_id, Leaf(pane), pane)
        order = list(self.tabs.values())
        order.insert(list(self.tabs).index(after) + 1, tab)
        self.tabs = {each.id: each for each in order}
        self.panes[pane].tab = self.active_tab = tab.id
