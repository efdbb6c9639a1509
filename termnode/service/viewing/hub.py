"""What each view was told, and what is due to it (specs/view.md). No I/O, no clock of its own.

Nothing is kept for a view but what it was told last: what changes while it cannot be told is told
later, as it is then. So a view that is slow or stuck costs nothing, and is never behind once it
reads again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from termnode.service.viewing.pace import Pace
from termnode.service.viewing.pane_changes import Told, changes
from termnode.service.viewing.pane_lines import PaneLook
from termnode.service.viewing.scene import Scene
from termnode.view.frames import encode
from termnode.view.messages import (
    AskedGone,
    Bell,
    Layout,
    Message,
    PaneGone,
    Status,
    Tabs,
)

HOLD_S: Final = 0.05
"""A program that is in the middle of a synchronized update is waited for, for so long at most."""


@dataclass(slots=True, eq=False)
class View:
    """One view. ``tab`` is what it shows; None: whichever is active."""

    id: int
    read_only: bool = False
    tab: int | None = None
    trusted: bool = True
    """Whether it was opened with a ticket."""
    pace: Pace = field(default_factory=Pace)
    typed: tuple[int, int] | None = None
    """The pane it typed into last, and the revision then, until it was told what came of it."""
    holds: dict[int, float] = field(default_factory=dict)
    """Panes whose program is in the middle of a synchronized update, and since when."""
    told: dict[int, Told] = field(default_factory=dict)
    tabs: Tabs | None = None
    layout: Layout | None = None
    status: Status | None = None
    bells: set[int] = field(default_factory=set)
    asked: set[int] = field(default_factory=set)
    replies: list[bytes] = field(default_factory=list)


class Hub:
    """The views of one service and what each is due. Times are in monotonic seconds."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._views: dict[int, View] = {}
        self._ids = 0

    def __len__(self) -> int:
        return len(self._views)

    @property
    def shown(self) -> frozenset[int]:
        """The panes that some view was told of."""
        return frozenset(pane for view in self._views.values() for pane in view.told)

    @property
    def answers(self) -> bool:
        """Whether a view is there that may answer questions: one that is not read-only."""
        return any(not view.read_only for view in self._views.values())

    def shows(self, pane: int) -> bool:
        """Whether some view was told of this pane."""
        return any(pane in view.told for view in self._views.values())

    def attach(
        self, *, read_only: bool = False, tab: int | None = None, trusted: bool = True
    ) -> View:
        """A new view, which was told nothing yet."""
        self._ids += 1
        view = self._views[self._ids] = View(self._ids, read_only, tab, trusted)
        return view

    def detach(self, view: View) -> None:
        """The view is gone."""
        self._views.pop(view.id, None)

    def ring(self, pane: int) -> None:
        """It rang in a pane."""
        for view in self._views.values():
            view.bells.add(pane)

    def reply(self, view: View, message: Message) -> None:
        """An answer to what the view asked; goes with the next batch."""
        view.replies.append(encode(message))

    def typed(self, view: View, pane: int, revision: int) -> None:
        """The person typed into a pane, whose screen is at that revision."""
        view.typed = pane, revision

    def wait(self, view: View, now: float) -> float | None:
        """Seconds until it may be told something; None when it must acknowledge first."""
        return view.pace.wait(now, urgent=self._urgent(view))

    def _urgent(self, view: View) -> bool:
        """Whether it waits for an answer, and there is one."""
        if view.replies:
            return True
        return view.typed is not None and self._scene.revision(view.typed[0]) > view.typed[1]

    def due(self, view: View, now: float) -> list[bytes]:
        """The frames to send now, in order, as one batch; what they say counts as told.

        Nothing while the view has enough to do, or was told a moment ago.
        """
        if self.wait(view, now) != 0.0:
            return []
        if self._urgent(view):
            view.typed = None
        # What a command came to is told before that it is done: who waits for the answer then sees
        # it. The first thing of all is the greeting.
        first = self._replies(view) if view.tabs is None else []
        batch = [
            *first,
            *self._overview(view),
            *self._panes(view, now),
            *self._replies(view),
            *self._news(view),
        ]
        if batch:
            view.pace.told(len(batch), now)
        return batch

    def again(self, view: View, now: float) -> float | None:
        """Seconds until something is due that was held back; None when nothing was."""
        held = [since + HOLD_S for since in view.holds.values() if now < since + HOLD_S]
        return min(held) - now if held else None

    # -- what a batch is made of ---------------------------------------------------------------

    def _replies(self, view: View) -> list[bytes]:
        replies, view.replies = view.replies, []
        return replies

    def _overview(self, view: View) -> Iterable[bytes]:
        """Tabs, the tab that is shown, and panes that are there no more."""
        tabs = self._scene.tabs()
        if tabs != view.tabs:
            view.tabs = tabs
            yield encode(tabs)
        layout = self._layout(view, tabs)
        if layout is not None and layout != view.layout:
            yield encode(layout)
        view.layout = layout
        yield from self._gone(view)

    def _layout(self, view: View, tabs: Tabs) -> Layout | None:
        there = {tab.id for tab in tabs.tabs}
        tab = view.tab if view.tab in there else tabs.active
        return None if tab is None else self._scene.layout(tab)

    def _gone(self, view: View) -> Iterable[bytes]:
        shown = {placed.id for placed in view.layout.panes} if view.layout else set()
        for pane in [pane for pane in view.told if pane not in shown]:
            del view.told[pane]
            if not self._scene.has(pane):
                yield encode(PaneGone(pane))

    def _panes(self, view: View, now: float) -> Iterable[bytes]:
        shown = [each.id for each in view.layout.panes if not each.hidden] if view.layout else ()
        view.holds = {pane: since for pane, since in view.holds.items() if pane in shown}
        for pane in shown:
            look = self._scene.pane(pane)
            if not _hold(view, pane, look, now):
                yield from changes(view.told, pane, look)

    def _news(self, view: View) -> Iterable[bytes]:
        status = self._scene.status(len(self._views))
        if not _same(status, view.status):
            view.status = status
            yield encode(status)
        for pane in sorted(view.bells):
            yield encode(Bell(pane))
        view.bells.clear()
        questions = self._scene.questions()
        for ask in view.asked - {each.ask for each in questions}:
            view.asked.remove(ask)
            yield encode(AskedGone(ask))
        for question in questions:
            if question.ask not in view.asked:
                view.asked.add(question.ask)
                yield encode(question)


def _hold(view: View, pane: int, look: PaneLook, now: float) -> bool:
    """Whether to wait for the end of what the program is drawing."""
    if not look.frame.modes.synchronized:
        view.holds.pop(pane, None)
        return False
    return now < view.holds.setdefault(pane, now) + HOLD_S


def _same(status: Status, told: Status | None) -> bool:
    """Whether nothing changed but how long ago something was."""
    if told is None or status.last is None or told.last is None:
        return status == told
    if status.last.ago_ms < told.last.ago_ms:
        return False
    return replace(status, last=replace(status.last, ago_ms=told.last.ago_ms)) == told
