"""What the service has told, as far as keys and the mouse need it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from termnode.view.messages import (
    Layout,
    Message,
    Modes,
    PaneGone,
    PaneState,
    PlacedPane,
    Row,
    TabInfo,
    Tabs,
    Welcome,
)

MAX_REMEMBERED: Final = 256
"""Tabs and panes of which it is known which was active before."""


@dataclass(slots=True)
class Shown:
    """One pane of the tab: the newest that was told of it, and its screen by line number."""

    state: PaneState
    lines: dict[int, Row] = field(default_factory=dict)

    @property
    def modes(self) -> Modes:
        """What the program has set."""
        return self.state.modes

    def take(self, state: PaneState) -> None:
        """A newer state: what has left the screen is forgotten."""
        if state.full:
            self.lines.clear()
        self.state = state
        self.lines.update(state.lines)
        if len(self.lines) > state.rows:
            screen = range(state.base, state.base + state.rows)
            self.lines = {number: row for number, row in self.lines.items() if number in screen}


class Facts:
    """Tabs, the layout, panes on it; and which tab and pane were active before."""

    def __init__(self) -> None:
        self.emulator: str | None = None
        self._begin()

    def _begin(self) -> None:
        self.tabs: tuple[TabInfo, ...] = ()
        self.active_tab: int | None = None
        self.layout: Layout | None = None
        self.panes: dict[int, Shown] = {}
        self.laid: dict[int, PlacedPane] = {}
        """Places without zoom, of the tab that is shown, as far as they were seen."""
        self.recent_tabs: list[int] = []
        """Newest last."""
        self.recent_panes: list[int] = []

    def tell(self, message: Message) -> None:
        """Take a message in; those that are nothing to it are passed over."""
        take = _TAKES.get(type(message))
        if take is not None:
            take(self, message)

    @property
    def pane(self) -> int | None:
        """The pane that keys go to."""
        return None if self.layout is None else self.layout.active

    def active(self) -> Shown | None:
        """What is known of that pane."""
        return None if self.layout is None else self.panes.get(self.layout.active)

    def placed(self, pane: int) -> PlacedPane | None:
        """Where a pane is shown; None when it is not."""
        return next((each for each in self.visible() if each.id == pane), None)

    def visible(self) -> tuple[PlacedPane, ...]:
        """The panes that are shown."""
        panes = () if self.layout is None else self.layout.panes
        return tuple(each for each in panes if not each.hidden)

    def places(self) -> list[PlacedPane]:
        """All panes of the tab in order, at their places without zoom as far as those are known."""
        panes = () if self.layout is None else self.layout.panes
        return [self.laid.get(each.id, each) for each in panes]

    def order(self) -> list[int]:
        """Ids of the tab's panes, in order."""
        return [] if self.layout is None else [each.id for each in self.layout.panes]

    @property
    def tab(self) -> int | None:
        """The tab that is shown."""
        return self.active_tab if self.layout is None else self.layout.tab

    def tab_info(self) -> TabInfo | None:
        """What is known of it."""
        return next((each for each in self.tabs if each.id == self.tab), None)

    def before(self, recent: list[int], among: list[int], now: int | None) -> int | None:
        """The last of ``recent`` that is still ``among`` those there are, other than ``now``."""
        return next((each for each in reversed(recent) if each != now and each in among), None)

    def _welcome(self, message: Welcome) -> None:
        """A connection begins, which tells everything anew."""
        self.emulator = message.emulator
        self._begin()

    def _tabs(self, message: Tabs) -> None:
        self.tabs, self.active_tab = message.tabs, message.active

    def _layout(self, message: Layout) -> None:
        ids = {each.id for each in message.panes}
        self.layout = message
        self.panes = {pane: shown for pane, shown in self.panes.items() if pane in ids}
        self.laid = {
            each.id: self.laid.get(each.id, each) if each.id == message.zoomed else each
            for each in message.panes
        }
        _remember(self.recent_tabs, message.tab)
        _remember(self.recent_panes, message.active)

    def _pane(self, message: PaneState) -> None:
        shown = self.panes.get(message.pane)
        if shown is None and self._belongs(message.pane):
            shown = self.panes[message.pane] = Shown(message)
        if shown is not None:
            shown.take(message)

    def _belongs(self, pane: int) -> bool:
        return self.layout is not None and any(each.id == pane for each in self.layout.panes)

    def _gone(self, message: PaneGone) -> None:
        self.panes.pop(message.pane, None)


_TAKES: Final[dict[type, Callable[..., None]]] = {
    Welcome: Facts._welcome,
    Tabs: Facts._tabs,
    Layout: Facts._layout,
    PaneState: Facts._pane,
    PaneGone: Facts._gone,
}


def _remember(recent: list[int], now: int) -> None:
    if now in recent:
        recent.remove(now)
    recent.append(now)
    del recent[:-MAX_REMEMBERED]
