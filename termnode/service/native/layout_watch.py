"""Sees which panes have got another place, size or focus, and raises their foreground generation.

Input that names a generation of before is refused then: its caller saw another screen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from termnode.service.live_pane import LivePane
from termnode.workspace.layout import Layout
from termnode.workspace.tree import Rect


class Place(NamedTuple):
    """Where a pane is, whether keys go to it, and whether a zoomed one hides it."""

    tab: int
    at: Rect
    focused: bool
    hidden: bool


class LayoutWatch:
    """The places at the last look. `look` is to be called after each change; it is quick."""

    def __init__(self, workspace: Layout, find_live: Callable[[int], LivePane | None]) -> None:
        self._workspace = workspace
        self._find_live = find_live
        self._seen = self._places()

    def look(self) -> None:
        """Compare, and raise what has changed."""
        before, self._seen = self._seen, self._places()
        for pane, place in self._seen.items():
            live = self._find_live(pane)
            if live is not None and before.get(pane) != place:
                live.foreground.raise_("layout")

    def _places(self) -> dict[int, Place]:
        workspace = self._workspace
        return {
            pane: Place(
                tab.id,
                rect,
                pane == workspace.active_pane,
                tab.zoomed and pane != tab.active,
            )
            for tab in workspace.tabs_in_order()
            for pane, rect in workspace.geometry(tab.id).items()
        }
