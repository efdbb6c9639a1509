"""The verbs that move, resize and name tabs and panes; no program starts or ends by them.

Each changes the workspace and gives programs their new sizes in one step, without waiting.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from termnode.service.looking.titles import tab_title
from termnode.service.opening import apply
from termnode.service.state import Args, Result, State
from termnode.workspace.tree import Direction


def resize(state: State, args: Args) -> Result:
    """term.resize"""
    workspace = state.workspace
    apply(state, workspace.resize(args["cols"], args["rows"]))
    return {"cols": workspace.cols, "rows": workspace.rows}


def tab_rename(state: State, args: Args) -> Result:
    """term.tab.rename"""
    tab = state.workspace.tab(args.get("id")).id
    state.workspace.rename_tab(tab, args["title"])
    return {"id": tab, "title": tab_title(state, tab)}


def tab_layout(state: State, args: Args) -> Result:
    """term.tab.layout"""
    tab = state.workspace.tab(args.get("id")).id
    apply(state, state.workspace.arrange(tab, args["layout"]))
    places = state.workspace.geometry(tab).items()
    return {
        "id": tab,
        "panes": [
            {"id": pane, "x": at.x, "y": at.y, "cols": at.cols, "rows": at.rows}
            for pane, at in places
        ],
    }


def pane_resize(state: State, args: Args) -> Result:
    """term.pane.resize"""
    pane = state.workspace.pane(args.get("pane"))
    apply(state, state.workspace.resize_pane(pane.id, args.get("cols"), args.get("rows")))
    cols, rows = state.workspace.sizes(pane.tab)[pane.id]
    return {"id": pane.id, "cols": cols, "rows": rows}


def pane_rename(state: State, args: Args) -> Result:
    """term.pane.rename"""
    pane = state.workspace.pane(args.get("pane")).id
    state.workspace.rename_pane(pane, args["title"])
    return {"id": pane, "title": state.pane_title(pane)}


def pane_swap(state: State, args: Args) -> Result:
    """term.pane.swap"""
    pane = state.workspace.pane(args.get("pane"))
    apply(state, state.workspace.swap(pane.id, args["with"]))
    return {"id": pane.id, "tab": pane.tab, "with": args["with"]}


def pane_break(state: State, args: Args) -> Result:
    """term.pane.break"""
    pane = state.workspace.pane(args.get("pane"))
    apply(state, state.workspace.break_out(pane.id))
    return {"id": pane.id, "tab": pane.tab}


def pane_join(state: State, args: Args) -> Result:
    """term.pane.join"""
    pane = state.workspace.pane(args.get("pane")).id
    change = state.workspace.join(pane, args["beside"], Direction(args["dir"]))
    apply(state, change)
    return {"id": pane, "tab": change.tab, "tab_closed": change.tab_closed}


def pane_zoom(state: State, args: Args) -> Result:
    """term.pane.zoom"""
    pane = state.workspace.pane(args.get("pane"))
    apply(state, state.workspace.zoom(pane.id, args["on"]))
    return {"id": pane.id, "tab": pane.tab, "zoomed": state.workspace.tab(pane.tab).zoomed}


Arrange: TypeAlias = Callable[[State, Args], Result]
"""Does all of it in one step. Raises Refusal before it has done anything."""

ARRANGING: Final[Mapping[str, Arrange]] = MappingProxyType(
    {
        "term.resize": resize,
        "term.tab.rename": tab_rename,
        "term.tab.layout": tab_layout,
        "term.pane.resize": pane_resize,
        "term.pane.rename": pane_rename,
        "term.pane.swap": pane_swap,
        "term.pane.break": pane_break,
        "term.pane.join": pane_join,
        "term.pane.zoom": pane_zoom,
    }
)
"""The verbs of this module."""
