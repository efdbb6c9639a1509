"""The person's events and the service's messages in, effects out. No I/O; the clock is given."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import Final

from termnode.attach.config import Config
from termnode.attach.keys.events import Event, MouseEvent
from termnode.attach.ui.clipboard import ClipboardCommands
from termnode.attach.ui.copying.desk import CopyDesk
from termnode.attach.ui.core import Core
from termnode.attach.ui.effects import Effect, Leave, Quit, Redraw, Ring
from termnode.attach.ui.guide import help_lines
from termnode.attach.ui.incoming import Incoming
from termnode.attach.ui.keyboard import Keyboard
from termnode.attach.ui.overlays import Overlays
from termnode.attach.ui.panes import PaneCommands
from termnode.attach.ui.pointer import Pointer
from termnode.attach.ui.prompts import Prompts
from termnode.attach.ui.questions import Questions
from termnode.attach.ui.state import Ui
from termnode.attach.ui.tabs import TabCommands
from termnode.view.messages import (
    Asked,
    AskedGone,
    Bell,
    Bye,
    Done,
    Key,
    Message,
    Page,
    PaneGone,
    PaneState,
    Size,
    Tabs,
    Welcome,
)

MAX_HELD: Final = 4_096
"""Events that wait for a command; more do not."""

BELL_S: Final = 0.1
"""Seconds between two bells that are rung."""


class Controller:
    """What one view does. ``ui`` is for composing; messages are to be told here and to the model.

    Clocks are seconds, of any origin, and never go back.
    """

    def __init__(self, config: Config) -> None:
        core = self._core = Core(config)
        self._prompts = Prompts(core)
        self._overlays = Overlays(core)
        self._questions = Questions(core)
        self._desk = CopyDesk(core, self._prompts)
        panes = PaneCommands(core, self._prompts)
        tabs = TabCommands(core, self._prompts, self._overlays)
        clipboard = ClipboardCommands(core, self._overlays)
        self._pointer = Pointer(core, self._desk, panes, tabs, clipboard)
        actions = {**tabs.actions, **panes.actions, **clipboard.actions, **self._actions()}
        self._keyboard = Keyboard(
            core, self._prompts, self._overlays, self._questions, self._desk, actions
        )
        self._incoming = Incoming(
            core, self._keyboard, self._prompts, self._overlays, self._questions, self._desk,
            self._pointer,
        )  # fmt: skip
        self._last_bell = -inf
        self._held: deque[Event] = deque()

    @property
    def ui(self) -> Ui:
        """What there is to draw besides panes and status."""
        return self._core.ui

    def handle(self, event: Event, now: float) -> list[Effect]:
        """What an event of the person's terminal leads to."""
        return self.handle_all([event], now)

    def handle_all(self, events: Iterable[Event], now: float) -> list[Effect]:
        """The same of several, with what is typed in as few messages as can be."""
        self._core.now = now
        self._held.extend(events)
        self._let()
        return self._finish()

    def told(self, message: Message, now: float) -> list[Effect]:
        """What a message of the service leads to, besides another screen."""
        self._core.now = now
        self._core.facts.tell(message)
        take = _TOLD.get(type(message))
        if take is not None:
            take(self, message)
        self._let()
        return self._finish()

    def resized(self, cols: int, rows: int, now: float) -> list[Effect]:
        """The person's terminal has this size now: tells the service the room for a tab."""
        self._core.now = now
        self.ui.cols, self.ui.rows = max(cols, 1), max(rows, 1)
        self._core.send(Size(self.ui.cols, max(self.ui.rows - 1, 1)))
        self._core.emit(Redraw(full=True))
        return self._finish()

    def tick(self, now: float) -> list[Effect]:
        """Take away what has expired; to be called at `deadline`."""
        self._core.now = now
        self._core.expire()
        self._keyboard.expire()
        self._let()
        return self._finish()

    def _let(self) -> None:
        """Take what was typed, in order, up to a command that is not done yet.

        What follows it may be meant for the pane or tab that the command leads to. The mouse, which
        points at what is shown, does not wait by itself.
        """
        while self._held and (
            self._core.held_until is None
            or isinstance(self._held[0], MouseEvent)
            or len(self._held) > MAX_HELD
        ):
            self._incoming.take(self._held.popleft())

    def deadline(self) -> float | None:
        """When `tick` is due next; None: when there is no need."""
        held = self._core.held_until if self._held else None
        times = (self._core.deadline(), self._keyboard.deadline(), held)
        return min((time for time in times if time is not None), default=None)

    def say(self, text: str, now: float) -> list[Effect]:
        """Show a message on the message line for a while."""
        self._core.now = now
        self._core.say(text)
        return self._finish()

    # -- commands ---------------------------------------------------------------------------------

    def _actions(self) -> Mapping[str, Callable[[], object]]:
        return {
            "copy-mode": self._copy_mode,
            "copy-mode-up": self._copy_mode_up,
            "detach": lambda: self._core.emit(Leave()),
            "redraw": lambda: self._core.emit(Redraw(full=True)),
            "help": lambda: self._overlays.text("keys", help_lines(self._core)),
            "send-prefix": self._send_prefix,
        }

    def _copy_mode(self) -> None:
        pane = self._core.facts.pane
        if pane is not None:
            self._desk.begin(pane)

    def _copy_mode_up(self) -> None:
        pane = self._core.facts.pane
        mode = None if pane is None else self._desk.begin(pane)
        if mode is not None:
            mode.page(-max(1, mode.rows - 2))
            self._desk.changed(mode)

    def _send_prefix(self) -> None:
        pane = self._core.facts.pane
        if self._desk.mode(pane) is not None and pane is not None:
            self._desk.press(pane, self._core.copy_keys.get(self._core.prefix))
        elif pane is not None:
            self._core.typed(pane, Key(self._core.config.prefix))

    # -- messages ---------------------------------------------------------------------------------

    def _welcome(self, message: Welcome) -> None:
        """A connection begins: nothing that the last one was asked for will come."""
        self._core.forget()
        parts = (self._questions, self._desk, self._keyboard, self._pointer, self._incoming)
        for part in parts:
            part.reset()
        self.ui.read_only = message.read_only

    def _bell(self, _message: Bell) -> None:
        if self._core.now - self._last_bell >= BELL_S:
            self._last_bell = self._core.now
            self._core.emit(Ring())

    def _pane(self, message: PaneState) -> None:
        self._desk.told(message)

    def _tabs(self, message: Tabs) -> None:
        self._desk.keep({pane for tab in message.tabs for pane in tab.panes})

    def _gone(self, message: PaneGone) -> None:
        self._desk.forget(message.pane)

    def _bye(self, message: Bye) -> None:
        self._core.emit(Quit(str(message.reason)))

    def _done(self, message: Done) -> None:
        self._core.done(message)

    def _page(self, message: Page) -> None:
        self._desk.page(message)

    def _asked(self, message: Asked) -> None:
        self._questions.add(message)

    def _asked_gone(self, message: AskedGone) -> None:
        self._questions.drop(message.ask)

    def _finish(self) -> list[Effect]:
        boxes = [self._overlays.box, self._questions.box]
        self.ui.boxes = [box for box in boxes if box is not None]
        return self._core.take()


_TOLD: Final[Mapping[type, Callable[..., None]]] = {
    Welcome: Controller._welcome,
    Bell: Controller._bell,
    PaneState: Controller._pane,
    Tabs: Controller._tabs,
    PaneGone: Controller._gone,
    Bye: Controller._bye,
    Done: Controller._done,
    Page: Controller._page,
    Asked: Controller._asked,
    AskedGone: Controller._asked_gone,
}
