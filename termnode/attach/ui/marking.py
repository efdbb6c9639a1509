"""Text that is selected with the mouse."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Final

from termnode.attach.ui.copying.desk import CopyDesk
from termnode.attach.ui.copying.moves import word_at
from termnode.attach.ui.copying.selection import Selection
from termnode.attach.ui.core import Core
from termnode.attach.ui.geometry import inside
from termnode.view.messages import PlacedPane

DOUBLE_S: Final = 0.3
"""Seconds between two presses at one place that select a word."""


@dataclass(frozen=True, slots=True)
class Pressed:
    """A button was pressed on text, in a cell of the pane: moved on, it selects."""

    pane: int
    x: int
    y: int


class Marking:
    """Presses, drags and releases on text. Places are cells of the tab."""

    def __init__(self, core: Core, desk: CopyDesk) -> None:
        self._core = core
        self._desk = desk
        self._last = (0, 0, -inf)

    def press(self, pane: PlacedPane, x: int, y: int) -> Pressed:
        """A press gives up what was selected; the second of two selects a word."""
        held = Pressed(pane.id, *inside(pane, x, y))
        mode = self._desk.mode(pane.id)
        if self._is_double(x, y):
            self._word(held)
        elif mode is not None:
            mode.selection = None
            mode.go(mode.top + held.y, held.x)
            self._desk.changed(mode)
        return held

    def drag(self, held: Pressed, pane: PlacedPane, x: int, y: int) -> None:
        """Select up to here; beyond the pane's first or last row it scrolls."""
        mode = self._desk.begin(held.pane)
        if mode is None:
            return
        if mode.selection is None:
            mode.go(mode.top + held.y, held.x)
            mode.selection = Selection(mode.line, held.x)
        if y < pane.y or y >= pane.y + pane.rows:
            mode.scroll(-1 if y < pane.y else 1)
        x, y = inside(pane, x, y)
        mode.go(mode.top + y, x)
        self._desk.changed(mode)

    def release(self, held: Pressed) -> None:
        """Copy what was selected, if anything was."""
        mode = self._desk.mode(held.pane)
        if mode is not None and mode.selection is not None:
            self._desk.copy(mode)

    def _is_double(self, x: int, y: int) -> bool:
        before_x, before_y, when = self._last
        now = self._core.now
        again = (before_x, before_y) == (x, y) and now - when < DOUBLE_S
        self._last = (x, y, -inf if again else now)
        return again

    def _word(self, held: Pressed) -> None:
        mode = self._desk.begin(held.pane)
        if mode is None:
            return
        mode.go(mode.top + held.y, held.x)
        first, last = word_at(mode)
        mode.selection = Selection(mode.line, first)
        mode.go(mode.line, last)
        self._desk.changed(mode)
