"""Commands for the panes of the tab that is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from termnode.attach.ui.core import Core
from termnode.attach.ui.geometry import DIRECTIONS, Direction, Moved, pushed, wrapped
from termnode.attach.ui.prompts import Confirm, LinePrompt, Prompts


class PaneCommands:
    """Split, select, resize, zoom, swap, move, name, restart and close."""

    def __init__(self, core: Core, prompts: Prompts) -> None:
        self._core = core
        self._prompts = prompts
        self.actions: Mapping[str, Callable[[], object]] = MappingProxyType(
            {
                "split-right": lambda: self._do("term.pane.split", dir="h"),
                "split-below": lambda: self._do("term.pane.split", dir="v"),
                "next-pane": self._next,
                "last-pane": self._last,
                "zoom": self._zoom,
                "close-pane": self._close,
                "swap-previous": lambda: self._swap(-1),
                "swap-next": lambda: self._swap(1),
                "break-pane": lambda: self._do("term.pane.break"),
                "rename-pane": self._rename,
                "restart-pane": lambda: self._do("term.pane.restart"),
                **{f"select-{way}": partial(self._go, way) for way in DIRECTIONS},
                **{f"resize-{way}": partial(self._push, way, 1) for way in DIRECTIONS},
                **{f"resize-5-{way}": partial(self._push, way, 5) for way in DIRECTIONS},
            }
        )

    def select(self, pane: int | None) -> None:
        """Make a pane the active one."""
        if pane is not None and pane != self._core.facts.pane:
            self._core.do("term.pane.select", {"id": pane})

    def resize(self, moved: Moved, then: Callable[[object], None] | None = None) -> bool:
        """Give a pane a size; False when it was not asked for."""
        body = {"pane": moved.pane, moved.axis: max(moved.size, 2 if moved.axis == "cols" else 1)}
        return self._core.do("term.pane.resize", body, then)

    def _do(self, verb: str, **body: Any) -> None:  # noqa: ANN401  # fields of the verb table
        pane = self._core.facts.pane
        if pane is not None:
            self._core.do(verb, {"pane": pane, **body})

    def _next(self) -> None:
        order, pane = self._core.facts.order(), self._core.facts.pane
        if pane in order:
            self.select(order[(order.index(pane) + 1) % len(order)])

    def _last(self) -> None:
        facts = self._core.facts
        before = facts.before(facts.recent_panes, facts.order(), facts.pane)
        if before is None:
            self._core.say("no other pane was active before")
        self.select(before)

    def _go(self, way: Direction) -> None:
        """The pane on that side; of several the one that was active last."""
        places, pane = self._core.facts.places(), self._core.facts.pane
        here = next((each for each in places if each.id == pane), None)
        found = [] if here is None else [each.id for each in wrapped(places, here, way)]
        recent = self._core.facts.recent_panes
        known = [each for each in reversed(recent) if each in found]
        if not found and self._zoomed:
            self._next()  # the zoomed pane's place without zoom is not known
        self.select(next(iter([*known, *found]), None))

    def _push(self, way: Direction, by: int) -> None:
        places, pane = self._core.facts.places(), self._core.facts.pane
        here = next((each for each in places if each.id == pane), None)
        moved = None if here is None else pushed(places, here, way, by)
        if moved is not None:
            self.resize(moved)

    def _zoom(self) -> None:
        self._do("term.pane.zoom", on=not self._zoomed)

    @property
    def _zoomed(self) -> bool:
        layout = self._core.facts.layout
        return layout is not None and layout.zoomed is not None

    def _swap(self, by: int) -> None:
        order, pane = self._core.facts.order(), self._core.facts.pane
        if pane in order and len(order) > 1:
            self._do("term.pane.swap", **{"with": order[(order.index(pane) + by) % len(order)]})

    def _close(self) -> None:
        pane = self._core.facts.pane
        shown = None if pane is None else self._core.facts.panes.get(pane)
        if shown is not None and shown.state.state != "running":
            self._core.do("term.pane.close", {"pane": pane})  # there is nothing left to lose
        elif pane is not None:
            text = f"close pane {pane} and end its program? (y/N) "
            self._prompts.ask(
                Confirm(text, lambda: self._core.do("term.pane.close", {"pane": pane}))
            )

    def _rename(self) -> None:
        pane = self._core.facts.pane
        shown = self._core.facts.panes.get(pane) if pane is not None else None
        if shown is not None:
            title = shown.state.title
            self._prompts.ask(
                LinePrompt(
                    "(rename pane) ",
                    lambda text: self._core.do("term.pane.rename", {"pane": pane, "title": text}),
                    title,
                )
            )
