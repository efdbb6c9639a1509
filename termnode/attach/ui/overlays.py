"""Boxes over the panes: help to scroll through, and lists to choose from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from termnode.attach.ui.core import Core
from termnode.attach.ui.state import Box
from termnode.terminal.input.names import Key, parse_key

_STEPS: Final = {
    "Down": 1, "j": 1, "C-n": 1, "Up": -1, "k": -1, "C-p": -1, "C-d": 10, "C-u": -10,
    "PageDown": 15, "Space": 15, "C-f": 15, "PageUp": -15, "C-b": -15,
    "g": -(1 << 20), "Home": -(1 << 20), "G": 1 << 20, "End": 1 << 20,
}  # fmt: skip
STEPS: Final = {parse_key(key): step for key, step in _STEPS.items()}
"""Lines that a key moves by."""

_CLOSE: Final = frozenset(map(parse_key, ("q", "Escape", "C-c", "C-g")))
_ENTER: Final = frozenset(map(parse_key, ("Enter", "KPEnter")))
_DELETE: Final = frozenset(map(parse_key, ("d", "Delete", "-")))
_WHEEL_ROWS: Final = 3


@dataclass(frozen=True, slots=True)
class Choice:
    """A list: ``choose`` is called with the index chosen, ``delete`` with one to be dropped.

    ``lines`` gives what there is to choose from, now.
    """

    title: str
    lines: Callable[[], tuple[str, ...]]
    choose: Callable[[int], None]
    delete: Callable[[int], None] | None = None


class Overlays:
    """At most one box; it takes all keys."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._box: Box | None = None
        self._choice: Choice | None = None

    @property
    def open(self) -> bool:
        """Whether one is shown."""
        return self._box is not None

    @property
    def box(self) -> Box | None:
        """The one that is shown."""
        return self._box

    def text(self, title: str, lines: tuple[str, ...]) -> None:
        """Show text to scroll through."""
        self._choice = None
        self._put(Box(title, lines, "j k PageUp PageDown scroll, q closes"))

    def choose(self, choice: Choice, selected: int = 0) -> None:
        """Show a list to choose from."""
        self._choice = choice
        footer = "Enter chooses" + (", d deletes" if choice.delete else "") + ", q closes"
        self._put(Box(choice.title, choice.lines(), footer, selected=selected))

    def press(self, key: Key) -> None:
        """A key, whatever it is bound to elsewhere; one that means nothing here does nothing."""
        if key in _CLOSE:
            self.close()
        elif key in STEPS:
            self._step(STEPS[key])
        elif self._choice is not None and self._box is not None:
            self._chosen(self._choice, self._box.selected or 0, key)

    def wheel(self, up: bool) -> None:
        """The wheel scrolls."""
        self._step(-_WHEEL_ROWS if up else _WHEEL_ROWS)

    def close(self) -> None:
        """Take it away."""
        self._box = self._choice = None
        self._core.redraw()

    def dismiss(self) -> None:
        """Take it away if there is one: a command was given."""
        if self.open:
            self.close()

    def _chosen(self, choice: Choice, index: int, key: Key) -> None:
        if key in _ENTER:
            self.close()
            choice.choose(index)
        elif key in _DELETE and choice.delete is not None:
            choice.delete(index)
            self._refresh(choice, index)

    def _refresh(self, choice: Choice, index: int) -> None:
        lines = choice.lines()
        if lines and self._box is not None:
            self._put(replace(self._box, lines=lines, selected=min(index, len(lines) - 1)))
        else:
            self.close()

    def _step(self, by: int) -> None:
        box = self._box
        if box is None:
            return
        last = max(0, len(box.lines) - 1)
        if box.selected is not None:
            self._put(replace(box, selected=min(max(box.selected + by, 0), last)))
        else:
            self._put(replace(box, top=min(max(box.top + by, 0), last)))

    def _put(self, box: Box) -> None:
        self._box = box
        self._core.redraw()
