"""What tabs are called."""

from __future__ import annotations

from termnode.service.state import State


def tab_title(state: State, tab: int) -> str:
    """The tab's own name, else its active pane's title; '' without one. Raises NOT_FOUND."""
    found = state.workspace.tab(tab)
    return found.title or state.pane_title(found.active)
