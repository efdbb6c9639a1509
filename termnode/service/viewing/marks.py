"""Which tabs rang, and which had output, since they were last the active one. No I/O."""

from __future__ import annotations

from termnode.service.state import State


class Marks:
    """Ids of tabs with a mark. Marks of the active tab are taken off at each look."""

    def __init__(self) -> None:
        self.bells: set[int] = set()
        self.activity: set[int] = set()
        self._seen: dict[int, int] = {}
        """The output of each pane that somebody could see, by its revision."""

    def ring(self, tab: int) -> None:
        """It rang in a pane of that tab."""
        self.bells.add(tab)

    def look(self, state: State) -> None:
        """Take in what is active now and what was written meanwhile."""
        workspace = state.workspace
        now = {
            pane: live.terminal.output_revision
            for pane in workspace.panes
            if (live := state.find_live(pane)) is not None
        }
        for pane, revision in now.items():
            tab = workspace.panes[pane].tab
            if tab == workspace.active_tab:
                continue
            if revision > self._seen.get(pane, revision):
                self.activity.add(tab)
        self._seen = now
        for marks in (self.bells, self.activity):
            marks.intersection_update(workspace.tabs)
            marks.discard(workspace.active_tab or 0)
