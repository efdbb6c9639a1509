"""What is always true of a workspace; tests check it after every step."""

from __future__ import annotations

from termnode.workspace import tree
from termnode.workspace.layout import Layout
from termnode.workspace.parts import Tab


def verify(workspace: Layout) -> None:
    """Raise AssertionError when an invariant of the workspace does not hold."""
    _verify_active(workspace)
    _verify_panes(workspace)
    for tab in workspace.tabs:
        _verify_tab(workspace.tabs[tab], tab)
        _verify_layout(workspace, tab)
        _verify_zoom(workspace, tab)
    _require(len(workspace.tabs) <= workspace.max_tabs, "more tabs than allowed")
    _require(len(workspace.panes) <= workspace.max_panes, "more panes than allowed")


def _verify_active(workspace: Layout) -> None:
    _require((workspace.active_tab is None) == (not workspace.tabs), "active tab without tabs")
    _require(
        workspace.active_tab is None or workspace.active_tab in workspace.tabs,
        "the active tab is not there",
    )


def _verify_panes(workspace: Layout) -> None:
    shown = [(pane, tab.id) for tab in workspace.tabs.values() for pane in tree.panes(tab.root)]
    _require(len(shown) == len(set(shown)), "a pane is shown twice")
    known = {(pane.id, pane.tab) for pane in workspace.panes.values()}
    _require(set(shown) == known, "layout and pane table differ")
    for key, pane in workspace.panes.items():
        _require(key == pane.id, "a pane is filed under another id")
        _require(0 < pane.id <= workspace.last_pane_id, "a pane id was not counted")
        _require(pane.generation >= 1, "a generation is below 1")
        _require(pane.title != "", "an empty title is kept")
    _require(all(0 < tab <= workspace.last_tab_id for tab in workspace.tabs), "uncounted tab id")


def _verify_tab(tab: Tab, key: int) -> None:
    _require(key == tab.id, "a tab is filed under another id")
    _require(tab.title != "", "an empty title is kept")
    _require(tab.active in set(tree.panes(tab.root)), "active pane is in another tab")
    _require(not tab.zoomed or isinstance(tab.root, tree.Split), "a pane alone is zoomed")
    _require(_positive(tab.root), "a weight is not positive")


def _positive(node: tree.Node) -> bool:
    return isinstance(node, tree.Leaf) or (
        min(node.weights) > 0 and _positive(node.first) and _positive(node.second)
    )


def _verify_zoom(workspace: Layout, tab: int) -> None:
    found = workspace.tabs[tab]
    places, shown = workspace.places(tab), workspace.geometry(tab)
    if found.zoomed:
        whole = tree.Rect(0, 0, *workspace.wanted(found))
        _require(shown[found.active] == whole, "the zoomed pane has not the whole area")
        places[found.active] = whole
    _require(shown == places, "a pane that is not zoomed has another size")


def _verify_layout(workspace: Layout, tab: int) -> None:
    found = workspace.tabs[tab]
    root = found.root
    cols, rows = workspace.room(found)
    rects = workspace.places(tab)
    _require(
        all(rect.cols >= tree.MIN_COLS and rect.rows >= tree.MIN_ROWS for rect in rects.values()),
        "a pane is below the minimum",
    )
    covered = sum(rect.cols * rect.rows for rect in rects.values())
    borders = _border_cells(root, cols, rows, rects)
    _require(covered + borders == cols * rows, "panes and borders do not fill the tab")


def _border_cells(node: tree.Node, cols: int, rows: int, rects: dict[int, tree.Rect]) -> int:
    """Cells of all borders inside ``node``, which fills ``cols`` by ``rows``."""
    if isinstance(node, tree.Leaf):
        return 0
    own = rows if node.direction is tree.Direction.HORIZONTAL else cols
    return own + sum(
        _border_cells(half, *_extent(half, rects), rects) for half in (node.first, node.second)
    )


def _extent(node: tree.Node, rects: dict[int, tree.Rect]) -> tuple[int, int]:
    inside = [rects[pane] for pane in tree.panes(node)]
    left, top = min(rect.x for rect in inside), min(rect.y for rect in inside)
    right = max(rect.x + rect.cols for rect in inside)
    bottom = max(rect.y + rect.rows for rect in inside)
    return right - left, bottom - top


def _require(held: bool, broken: str) -> None:
    if not held:
        raise AssertionError(broken)
