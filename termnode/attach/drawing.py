"""Draws on the person's terminal: what changed, at once when a frame may be drawn now."""

from __future__ import annotations

from typing import Final

from termnode.attach.compose import Composer
from termnode.attach.model import Model
from termnode.attach.pacing import Pacing
from termnode.attach.paint import Painter
from termnode.attach.tty import Tty
from termnode.attach.ui.state import Ui

_ALL_MOTION: Final = 1003


class Drawing:
    """The model, and what of it the terminal shows. Times are in monotonic seconds.

    A terminal that takes nothing is not drawn on meanwhile, and shows the newest afterwards.
    """

    def __init__(self, tty: Tty, ui: Ui) -> None:
        self.model = Model()
        self._tty = tty
        self._ui = ui
        self._composer = Composer()
        self._synchronized = tty.synchronized
        self._painter = Painter(tty.depth(), self._synchronized)
        self._pacing = Pacing()
        self._changed = False
        self._motion = False

    def change(self, *, full: bool = False) -> None:
        """Something that is shown changed; with ``full`` nothing is known of what is shown."""
        if full:
            self._painter.forget()
        self._changed = True

    def begin_anew(self) -> None:
        """Forget what was told: another connection tells everything again."""
        self.model = Model()
        self.change(full=True)

    def due(self, now: float) -> float | None:
        """When `draw` is to be called; None: nothing changed, or the terminal takes nothing."""
        return now + self._pacing.wait(now) if self._changed and not self._tty.busy else None

    def draw(self, now: float) -> None:
        """Draw what changed, if a frame may be drawn now and the terminal takes it."""
        if self._changed and not self._tty.busy and self._pacing.wait(now) == 0.0:
            self._changed = False
            data = self._frame()
            if data:
                self._pacing.drawn(now)
                self._tty.write_frame(data)

    def _frame(self) -> bytes:
        self._follow_terminal()
        cols, rows = self._tty.size()
        return self._painter.paint(self._composer.compose(self.model, self._ui, cols, rows))

    def _follow_terminal(self) -> None:
        """What the terminal has answered since; what the programs want to know of the mouse."""
        if self._synchronized != self._tty.synchronized:
            self._synchronized = self._tty.synchronized
            self._painter = Painter(self._tty.depth(), self._synchronized)
        motion = any(pane.modes.mouse == _ALL_MOTION for pane in self.model.panes.values())
        if motion != self._motion:
            self._motion = motion
            self._tty.all_motion(on=motion)
