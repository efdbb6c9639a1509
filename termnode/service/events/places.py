"""Which panes moved: the difference between two looks at the workspace. No I/O."""

from __future__ import annotations

from termnode.workspace.model import Workspace
from termnode.workspace.tree import Rect


class Places:
    """Where the panes of a workspace were when `moved` was last called."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._seen: dict[int, tuple[int, Rect]] = {}

    def moved(self) -> frozenset[int]:
        """The panes that came, went, or have another tab, place or size since the last call."""
        seen, self._seen = self._seen, self._now()
        panes = seen.keys() | self._seen.keys()
        return frozenset(pane for pane in panes if seen.get(pane) != self._seen.get(pane))

    def _now(self) -> dict[int, tuple[int, Rect]]:
        return {
            pane: (tab, rect)
            for tab in self._workspace.tabs
            for pane, rect in self._workspace.geometry(tab).items()
        }
