"""Which panes an operation touches, besides the one it names (facts 3.5)."""

from __future__ import annotations

from termnode.workspace import tree
from termnode.workspace.layout import Layout

_TAB_CLOSE = "term.tab.close"
_PANE_CLOSE = "term.pane.close"


def affected_set(workspace: Layout, verb: str, pane: int) -> frozenset[int]:
    """Ids of all panes that ``verb`` on ``pane`` would resize, close, show or hide.

    These are the panes of the target's tab; of the tab that comes in its place when the verb closes
    it; and, for every verb but term.tab.close, of the active tab. Raises Refusal NOT_FOUND.
    """
    tab = workspace.pane(pane).tab
    tabs = {tab}
    if _closes_tab(workspace, verb, tab):
        tabs.add(workspace.neighbour(tab) or tab)
    if verb != _TAB_CLOSE:
        tabs.add(workspace.active_tab or tab)
    return frozenset(pane for each in tabs for pane in tree.panes(workspace.tabs[each].root))


def _closes_tab(workspace: Layout, verb: str, tab: int) -> bool:
    if verb == _TAB_CLOSE:
        return workspace.active_tab == tab
    return verb == _PANE_CLOSE and isinstance(workspace.tabs[tab].root, tree.Leaf)
