"""Borders that are dragged with the mouse."""

from __future__ import annotations

from dataclasses import dataclass

from termnode.attach.ui.core import Core
from termnode.attach.ui.geometry import Axis, Border, border_at, drag
from termnode.attach.ui.panes import PaneCommands


@dataclass(slots=True)
class Held:
    """The border between two panes is being dragged. One resize at a time; the newest waits."""

    first: int
    second: int
    axis: Axis
    busy: bool = False
    waits: int | None = None
    """The column or row of the tab that it is to come to next."""


class Borders:
    """Takes hold of borders, and resizes panes as they are dragged."""

    def __init__(self, core: Core, panes: PaneCommands) -> None:
        self._core = core
        self._panes = panes

    def grab(self, x: int, y: int) -> Held | None:
        """The border at a cell of the tab, if there is one that may be moved."""
        border = border_at(self._core.facts.visible(), x, y)
        if border is None or self._core.ui.read_only:
            return None
        return Held(border.first.id, border.second.id, border.axis)

    def drag(self, held: Held, x: int, y: int) -> None:
        """The mouse has come to a cell of the tab."""
        held.waits = x if held.axis == "cols" else y
        self._resize(held)

    def _resize(self, held: Held) -> None:
        place, facts = held.waits, self._core.facts
        first, second = facts.placed(held.first), facts.placed(held.second)
        if held.busy or place is None or first is None or second is None:
            return
        held.waits = None
        border = Border(first, second, held.axis)
        if place != border.place:
            moved = drag(facts.visible(), border, place)
            held.busy = self._panes.resize(moved, lambda _: self._resized(held))

    def _resized(self, held: Held) -> None:
        held.busy = False
        self._resize(held)
