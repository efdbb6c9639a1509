"""Which panes an operation touches, besides the one it names (facts 3.5)."""

from __future__ import annotations

from termnode.workspace import tree
from termnode.workspace.layout import Layout
from termnode.workspace.tree import Leaf

_RESIZE = "term.resize"
_TAB_CLOSE = "term.tab.close"
_PANE_CLOSE = "term.pane.close"
_JOIN = "term.pane.join"


def affected_set(
    workspace: Layout, verb: str, pane: int, other: int | None = None
) -> frozenset[int]:
    """Ids of all panes that ``verb`` on ``pane`` would resize, move, close, show or hide.

    ``other`` is the second pane of term.pane.swap and term.pane.join. These are the panes of both
    panes' tabs; of the tab that comes in place of one that the verb takes away; and, for every verb
    but term.tab.close, of the active tab. More panes than a verb touches may be named, never fewer:
    a rename has the panes of its tab too. term.resize has them all. Raises Refusal NOT_FOUND.
    """
    tab = workspace.pane(pane).tab
    tabs = {tab} | ({workspace.pane(other).tab} if other is not None else set())
    if verb == _RESIZE:
        tabs.update(workspace.tabs)
    if _takes_tab_away(workspace, verb, tab, tabs):
        tabs.add(workspace.neighbour(tab) or tab)
    if verb != _TAB_CLOSE:
        tabs.add(workspace.active_tab or tab)
    return frozenset(pane for each in tabs for pane in tree.panes(workspace.tabs[each].root))


def _takes_tab_away(workspace: Layout, verb: str, tab: int, tabs: set[int]) -> bool:
    if verb == _TAB_CLOSE:
        return workspace.active_tab == tab
    alone = isinstance(workspace.tabs[tab].root, Leaf)
    return alone and (verb == _PANE_CLOSE or (verb == _JOIN and len(tabs) > 1))
