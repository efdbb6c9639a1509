"""The mouse: for the program where it asked for it, else for the view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from termnode.attach.keys.events import MouseEvent
from termnode.attach.ui.borders import Borders, Held
from termnode.attach.ui.clipboard import ClipboardCommands
from termnode.attach.ui.copying.desk import CopyDesk
from termnode.attach.ui.core import Core
from termnode.attach.ui.geometry import at, inside
from termnode.attach.ui.marking import Marking, Pressed
from termnode.attach.ui.panes import PaneCommands
from termnode.attach.ui.tabs import TabCommands
from termnode.view.messages import Key, Mouse, PlacedPane

WHEEL_LINES: Final = 5
"""Of history for one step of the wheel, as tmux has it."""

WHEEL_KEYS: Final = 3
"""Arrows for one step, for programs on the alternate screen that did not ask for the mouse."""


@dataclass(frozen=True, slots=True)
class _Program:
    """A button was pressed in a pane whose program wants the mouse: it gets all until release."""

    pane: int


class Pointer:
    """What the mouse does, and what a held button has begun."""

    def __init__(
        self,
        core: Core,
        desk: CopyDesk,
        panes: PaneCommands,
        tabs: TabCommands,
        clipboard: ClipboardCommands,
    ) -> None:
        self._core = core
        self._desk = desk
        self._panes = panes
        self._tabs = tabs
        self._clipboard = clipboard
        self._borders = Borders(core, panes)
        self._marking = Marking(core, desk)
        self._held: _Program | Pressed | Held | None = None

    def reset(self) -> None:
        """No button is held."""
        self._held = None

    def mouse(self, event: MouseEvent) -> None:
        """One report."""
        if self._held is not None and event.action in {"drag", "release"}:
            self._goes_on(event)
        elif event.y == self._status_row():
            self._status(event)
        else:
            self._in_tab(event)

    def _status_row(self) -> int:
        row = self._core.ui.status_row
        return self._core.ui.rows - 1 if row is None else row

    def _status(self, event: MouseEvent) -> None:
        if event.action.startswith("wheel"):
            self._tabs.step(-1 if event.action == "wheel-up" else 1)
        if event.action != "press":
            return
        for start, end, tab in self._core.ui.tab_spans:
            if start <= event.x < end:
                self._tabs.select(tab)

    def _in_tab(self, event: MouseEvent) -> None:
        x, y = self._place(event)
        pane = at(self._core.facts.visible(), x, y)
        if pane is not None:
            self._in_pane(event, pane)
        elif event.action == "press" and event.button == "left":
            self._held = self._borders.grab(x, y)

    def _place(self, event: MouseEvent) -> tuple[int, int]:
        """The cell of the tab."""
        offset = self._core.ui.offset
        return event.x + offset[0], event.y + offset[1]

    # -- panes ------------------------------------------------------------------------------------

    def _in_pane(self, event: MouseEvent, pane: PlacedPane) -> None:
        if event.action == "press":
            self._select(pane.id)
        if self._is_for_program(event, pane.id):
            if event.action == "press":
                self._held = _Program(pane.id)
            self._to_program(event, pane)
        elif event.action.startswith("wheel"):
            self._wheel(pane.id, up=event.action == "wheel-up")
        elif event.action == "press":
            self._press(event, pane)

    def _select(self, pane: int) -> None:
        if not self._core.ui.read_only:
            self._panes.select(pane)

    def _is_for_program(self, event: MouseEvent, pane: int) -> bool:
        shown = self._core.facts.panes.get(pane)
        asked = shown is not None and shown.modes.mouse != 0 and "shift" not in event.modifiers
        return asked and self._desk.mode(pane) is None and not self._core.ui.read_only

    def _to_program(self, event: MouseEvent, pane: PlacedPane) -> None:
        """In the pane's cells; a button held beyond its edge stays at the edge."""
        x, y = inside(pane, *self._place(event))
        self._core.typed(pane.id, Mouse(event.action, event.button, x, y, tuple(event.modifiers)))

    def _wheel(self, pane: int, *, up: bool) -> None:
        mode, shown = self._desk.mode(pane), self._core.facts.panes.get(pane)
        if mode is None and shown is not None and shown.modes.alternate:
            if not self._core.ui.read_only:
                self._core.typed(pane, *[Key("Up" if up else "Down")] * WHEEL_KEYS)
            return
        if mode is None and up:
            mode = self._desk.begin(pane, leave_at_end=True)
        if mode is not None:
            self._desk.scroll(mode, -WHEEL_LINES if up else WHEEL_LINES)

    def _press(self, event: MouseEvent, pane: PlacedPane) -> None:
        if event.button == "middle":
            self._clipboard.paste(pane.id)
        elif event.button == "left":
            x, y = self._place(event)
            self._held = self._marking.press(pane, x, y)

    # -- held buttons -----------------------------------------------------------------------------

    def _goes_on(self, event: MouseEvent) -> None:
        match self._held:
            case _Program(pane):
                self._program_goes_on(event, pane)
            case Pressed():
                self._text_goes_on(event, self._held)
            case Held():
                self._borders.drag(self._held, *self._place(event))
        if event.action == "release":
            self._held = None

    def _program_goes_on(self, event: MouseEvent, pane: int) -> None:
        placed = self._core.facts.placed(pane)
        if placed is not None:
            self._to_program(event, placed)

    def _text_goes_on(self, event: MouseEvent, held: Pressed) -> None:
        placed = self._core.facts.placed(held.pane)
        if event.action == "release":
            self._marking.release(held)
        elif placed is not None:
            self._marking.drag(held, placed, *self._place(event))
