"""Which part of the view an event of the person's terminal is for."""

from __future__ import annotations

from termnode.attach.keys.events import (
    Event,
    FocusEvent,
    KeyEvent,
    MouseEvent,
    PasteEvent,
    RawEvent,
    TextEvent,
)
from termnode.attach.ui.copying.desk import CopyDesk
from termnode.attach.ui.core import Core
from termnode.attach.ui.keyboard import Keyboard
from termnode.attach.ui.overlays import Overlays
from termnode.attach.ui.pointer import Pointer
from termnode.attach.ui.prompts import Prompts
from termnode.attach.ui.questions import Questions
from termnode.view.messages import Focus, Pasted, Raw


class Incoming:
    """Keys go to the keyboard, the mouse to what it points at, the rest to the program."""

    def __init__(  # noqa: PLR0917 - the parts of the controller
        self,
        core: Core,
        keyboard: Keyboard,
        prompts: Prompts,
        overlays: Overlays,
        questions: Questions,
        desk: CopyDesk,
        pointer: Pointer,
    ) -> None:
        self._core = core
        self._keyboard = keyboard
        self._prompts = prompts
        self._overlays = overlays
        self._questions = questions
        self._desk = desk
        self._pointer = pointer
        self._pasting_away = False
        self._pasting_into: int | None = None
        """The pane that the paste under way began in."""

    def reset(self) -> None:
        """The paste under way, if there is one, is nobody's any more."""
        self._pasting_into = None

    def take(self, event: Event) -> None:
        """One event; answers to the view's own queries are passed over."""
        match event:
            case KeyEvent(name):
                self._keyboard.key(name)
            case TextEvent(text):
                self._keyboard.text(text)
            case PasteEvent():
                self._paste(event)
            case MouseEvent():
                self._mouse(event)
            case FocusEvent(has):
                self._focus(has)
            case RawEvent(data):
                self._raw(data)

    def _paste(self, event: PasteEvent) -> None:
        """A paste goes where it began to go; it is no command and answers nothing."""
        if self._pasting_away or self._keyboard.modal:
            self._pasting_away = event.more
            self._prompts.pasted(event.text)
            return
        self._keyboard.reset()
        pane = self._core.facts.pane if self._pasting_into is None else self._pasting_into
        self._pasting_into = pane if event.more else None
        if pane is not None and not self._core.ui.read_only:
            self._desk.leave(pane)
            self._core.typed(pane, Pasted(event.text, event.more))

    def _mouse(self, event: MouseEvent) -> None:
        wheel = event.action.startswith("wheel")
        if self._overlays.open and wheel:
            self._overlays.wheel(event.action == "wheel-up")
        elif self._questions.open and wheel and self._on_question(event):
            self._questions.scroll(-3 if event.action == "wheel-up" else 3)
        elif not (self._overlays.open or self._prompts.open):
            self._pointer.mouse(event)

    def _on_question(self, event: MouseEvent) -> bool:
        """A question has the lower rows of the view; above it the panes have the wheel."""
        box = self._questions.box
        return box is not None and event.y >= self._core.ui.rows - len(box.lines) - 3

    def _focus(self, has: bool) -> None:
        shown = self._core.facts.active()
        if shown is not None and shown.modes.focus_events and not self._core.ui.read_only:
            self._core.typed(shown.state.pane, Focus(has))

    def _raw(self, data: bytes) -> None:
        pane = self._core.facts.pane
        if pane is not None and not self._keyboard.modal and self._desk.mode(pane) is None:
            self._core.typed(pane, Raw(data))
