"""All panes that are in copy mode: their keys, their searches, and the lines they wait for."""

from __future__ import annotations

from typing import Final

from termnode.attach.ui.bindings import Binding
from termnode.attach.ui.copying.mode import CopyMode, begin
from termnode.attach.ui.copying.moves import MOVES
from termnode.attach.ui.copying.searching import Searching
from termnode.attach.ui.copying.selecting import selected
from termnode.attach.ui.copying.taking import Taking
from termnode.attach.ui.core import Core
from termnode.attach.ui.facts import Shown
from termnode.attach.ui.prompts import Prompts
from termnode.view.messages import Page, PageWanted, PaneState

MAX_ASKED: Final = 4
"""Pages under way at once, of all panes."""


class CopyDesk:
    """Copy modes by pane; they are put into the `Ui` as they begin and end."""

    def __init__(self, core: Core, prompts: Prompts) -> None:
        self._core = core
        self._modes: dict[int, CopyMode] = {}
        self._asked: dict[int, tuple[CopyMode, range]] = {}
        self._taking = Taking(core)
        self._searching = Searching(core, prompts, self._find)

    def mode(self, pane: int | None) -> CopyMode | None:
        """The copy mode of a pane, if it is in one."""
        return None if pane is None else self._modes.get(pane)

    def begin(self, pane: int, *, leave_at_end: bool = False) -> CopyMode | None:
        """Copy mode of the pane as it is now; the one it is in, if it is; None for no such pane."""
        known, shown = self._modes.get(pane), self._core.facts.panes.get(pane)
        if known is not None or shown is None:
            return known
        mode = self._begin(pane, shown)
        mode.leave_at_end = leave_at_end
        return mode

    def leave(self, pane: int) -> None:
        """Show what the program shows again."""
        if self._modes.pop(pane, None) is not None:
            self._core.ui.copies.pop(pane, None)
            self._core.redraw()

    def press(self, pane: int, binding: Binding | None) -> None:
        """A key in copy mode; one without a binding does nothing."""
        mode = self._modes.get(pane)
        if mode is None or binding is None:
            return
        mode.hunt, mode.copying = None, False
        move = MOVES.get(binding.action)
        if move is not None:
            move(mode)
        else:
            self._act(mode, binding.action)
        self.changed(mode)

    def scroll(self, mode: CopyMode, by: int) -> None:
        """The wheel; at the end a copy mode that the wheel began is left."""
        mode.scroll(by)
        if by > 0 and mode.leave_at_end and mode.top == mode.last_top:
            self.leave(mode.pane)
        self.changed(mode)

    def changed(self, mode: CopyMode) -> None:
        """Go on with what waits, ask for the lines that are missing, and draw."""
        if mode.pane not in self._modes:
            return
        self._searching.go_on(mode)
        if self._taking.ready(mode):
            self.leave(mode.pane)
        self._ask(mode)
        self._core.redraw()

    def page(self, page: Page) -> None:
        """Lines that were asked for."""
        mode, asked = self._asked.pop(page.req, (None, range(0)))
        if mode is None or self._modes.get(mode.pane) is not mode:
            return
        mode.lines.take(page, asked, mode.line)
        mode.go(mode.line)
        self.changed(mode)

    def told(self, state: PaneState) -> None:
        """A pane in copy mode has changed: only another size or other numbers matter."""
        mode = self._modes.get(state.pane)
        if mode is None:
            return
        if _anew(mode, state):
            self._again(mode)
        elif (mode.cols, mode.rows) != (state.cols, state.rows):
            mode.sized(state.cols, state.rows)
            self.changed(mode)

    # -- actions ----------------------------------------------------------------------------------

    def _act(self, mode: CopyMode, action: str) -> None:
        match action:
            case "leave":
                self.leave(mode.pane)
            case "clear":
                self._clear(mode)
            case "refresh":
                self._again(mode)
            case "copy":
                mode.copying = mode.selection is not None
                if not mode.copying:
                    self.leave(mode.pane)
            case "search-forward" | "search-backward":
                self._searching.ask(mode, forward=action == "search-forward")
            case "search-again" | "search-reverse":
                self._searching.again(mode, reverse=action == "search-reverse")
            case _:
                mode.selection = selected(mode, action)

    def _clear(self, mode: CopyMode) -> None:
        if mode.selection is None:
            self.leave(mode.pane)
        mode.selection = None

    def copy(self, mode: CopyMode) -> None:
        """Copy the selection as soon as all of its lines are there, and leave."""
        mode.copying = mode.selection is not None
        self.changed(mode)

    # -- lines ------------------------------------------------------------------------------------

    def _ask(self, mode: CopyMode) -> None:
        wanted = mode.wanted()
        under_way = any(asked is mode for asked, _ in self._asked.values())
        if wanted is None or under_way or len(self._asked) >= MAX_ASKED:
            return
        if not self._can_read(mode):
            mode.hunt, mode.copying = None, False
            return
        request = self._core.request()
        self._asked[request] = (mode, wanted)
        self._core.send(PageWanted(request, mode.pane, wanted.start, len(wanted)))

    def _find(self, mode: CopyMode, text: str, forward: bool) -> None:
        """A pattern was written; the mode may have been left meanwhile."""
        if self._modes.get(mode.pane) is mode:
            self._searching.begin(mode, text, forward)
            self.changed(mode)

    def _can_read(self, mode: CopyMode) -> bool:
        """Not while the pane shows its other screen: the lines of this one cannot be had then."""
        shown = self._core.facts.panes.get(mode.pane)
        return shown is not None and shown.modes.alternate == mode.alternate

    def _begin(self, pane: int, shown: Shown) -> CopyMode:
        mode = begin(pane, shown, self._core.width, self._core.config.colours)
        self._modes[pane] = self._core.ui.copies[pane] = mode
        self.changed(mode)
        return mode

    def _again(self, mode: CopyMode) -> None:
        """Take up what is there now, as far from the end as before."""
        shown = self._core.facts.panes.get(mode.pane)
        if shown is None:
            return
        fresh = self._begin(mode.pane, shown)
        fresh.leave_at_end, fresh.pattern = mode.leave_at_end, mode.pattern
        above = mode.last_top - mode.top
        if above:
            fresh.top = max(fresh.lines.first, fresh.last_top - above)
            fresh.go(fresh.top + mode.cursor[1])
        self.changed(fresh)

    def reset(self) -> None:
        """No pane is in copy mode; no page will come."""
        for pane in list(self._modes):
            self.leave(pane)
        self._asked.clear()

    def keep(self, panes: set[int]) -> None:
        """Forget the panes that are no longer there."""
        for pane in self._modes.keys() - panes:
            self.forget(pane)

    def forget(self, pane: int) -> None:
        """The pane is gone."""
        self.leave(pane)
        self._asked = {
            request: asked for request, asked in self._asked.items() if asked[0].pane != pane
        }


def _anew(mode: CopyMode, state: PaneState) -> bool:
    """Whether the lines that copy mode has are none of the pane's any more."""
    lines = mode.lines
    other = state.full and (state.first >= lines.end or state.base + state.rows <= lines.first)
    return other or state.generation != lines.generation or state.cols != mode.cols
