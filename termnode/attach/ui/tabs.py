"""Commands for tabs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from termnode.attach.ui.bindings import LAYOUTS
from termnode.attach.ui.core import Core
from termnode.attach.ui.overlays import Choice, Overlays
from termnode.attach.ui.prompts import Confirm, LinePrompt, Prompts

_MAX_LAYOUTS: Final = 256
"""Tabs of which the layout that comes next is remembered."""


class TabCommands:
    """Open, select, name, close and lay out."""

    def __init__(self, core: Core, prompts: Prompts, overlays: Overlays) -> None:
        self._core = core
        self._prompts = prompts
        self._overlays = overlays
        self._layouts: dict[int, int] = {}
        self.actions: Mapping[str, Callable[[], object]] = MappingProxyType(
            {
                "new-tab": lambda: core.do("term.tab.new", {}),
                "next-tab": partial(self.step, 1),
                "previous-tab": partial(self.step, -1),
                "last-tab": self._last,
                "ask-tab": self._ask_number,
                "choose-tab": self._choose,
                "rename-tab": self._rename,
                "close-tab": self._close,
                "next-layout": self._next_layout,
                **{f"select-tab-{n}": partial(self.select, n) for n in range(10)},
                **{name: partial(self._arrange, name) for name in LAYOUTS},
            }
        )

    def select(self, tab: int) -> None:
        """Make a tab the active one, by its number."""
        if tab not in self._ids():
            self._core.say("there is no such tab")
        elif tab != self._core.facts.tab:
            self._core.do("term.tab.select", {"id": tab})

    def _ids(self) -> list[int]:
        return [tab.id for tab in self._core.facts.tabs]

    def step(self, by: int) -> None:
        """The tab that is so many after this one; after the last comes the first."""
        ids, now = self._ids(), self._core.facts.tab
        if now in ids and len(ids) > 1:
            self.select(ids[(ids.index(now) + by) % len(ids)])

    def _last(self) -> None:
        facts = self._core.facts
        before = facts.before(facts.recent_tabs, self._ids(), facts.tab)
        if before is None:
            self._core.say("no other tab was active before")
        else:
            self.select(before)

    def _ask_number(self) -> None:
        def chosen(text: str) -> None:
            if text.strip():
                self.select(int(text) if text.isascii() and text.isdecimal() else -1)

        self._prompts.ask(LinePrompt("(tab) ", chosen, limit=9))

    def _choose(self) -> None:
        ids = self._ids()
        lines = tuple(f"{tab.id}: {tab.title}" for tab in self._core.facts.tabs)
        now = self._core.facts.tab
        if ids:
            self._overlays.choose(
                Choice("tabs", lambda: lines, lambda index: self.select(ids[index])),
                ids.index(now) if now in ids else 0,
            )

    def _rename(self) -> None:
        tab = self._core.facts.tab_info()
        if tab is not None:
            self._prompts.ask(
                LinePrompt(
                    "(rename tab) ",
                    lambda text: self._core.do("term.tab.rename", {"id": tab.id, "title": text}),
                    tab.title,
                )
            )

    def _close(self) -> None:
        tab = self._core.facts.tab_info()
        if tab is not None:
            count = len(tab.panes)
            text = f"close tab {tab.id} and end {count} program{'s' * (count != 1)}? (y/N) "
            self._prompts.ask(
                Confirm(text, lambda: self._core.do("term.tab.close", {"id": tab.id}))
            )

    def _next_layout(self) -> None:
        tab = self._core.facts.tab
        if tab is not None:
            self._arrange(LAYOUTS[self._layouts.get(tab, 0)])

    def _arrange(self, layout: str) -> None:
        tab = self._core.facts.tab
        if tab is not None and self._core.do("term.tab.layout", {"id": tab, "layout": layout}):
            self._layouts[tab] = (LAYOUTS.index(layout) + 1) % len(LAYOUTS)
            if len(self._layouts) > _MAX_LAYOUTS:
                del self._layouts[next(iter(self._layouts))]
