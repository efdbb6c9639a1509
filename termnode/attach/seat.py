"""The person's seat: keys go to the controller, what it wants done is done, what is told is drawn.

Everything here is synchronous, so that a key is on its way to the service in the step in which it
was read; `app` has the tasks that wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import trio

from termnode.attach.alarm import Alarm
from termnode.attach.config import Config
from termnode.attach.drawing import Drawing
from termnode.attach.ends import End, How
from termnode.attach.keys import Event, InputParser, ReplyEvent
from termnode.attach.link import Link, LinkFull
from termnode.attach.tty import Tty
from termnode.attach.ui.controller import Controller
from termnode.attach.ui.effects import Copy, Effect, Leave, Quit, Redraw, Ring, Send
from termnode.view.messages import Message, Welcome

NOT_READING = "the service does not answer; what you type is lost until it does"


class Seat:
    """Lives as long as the view, over one connection after another. ``link`` is the present one."""

    def __init__(self, tty: Tty, config: Config) -> None:
        self.link: Link | None = None
        self.end: End | None = None
        self.over = trio.Event()
        self.welcomed = trio.Event()
        self._tty = tty
        self._parser = InputParser(erase=tty.erase)
        self._controller = Controller(config)
        self.drawing = Drawing(tty, self._controller.ui)
        self.alarm = Alarm(self._time_passed)

    def finish(self, end: End) -> None:
        """The view is over; the first reason counts."""
        if self.end is None:
            self.end = end
            self.over.set()

    def begin(self, link: Link) -> None:
        """Go on over another connection, which tells everything anew."""
        self.link = link
        self.drawing.begin_anew()

    def say(self, text: str) -> None:
        """Show the person a message for a while."""
        now = trio.current_time()
        self._do(self._controller.say(text, now))
        self._settle(now)

    def typed(self, data: bytes) -> None:
        """What the terminal sent."""
        now = trio.current_time()
        self._events(self._parser.feed(data, now), now)
        self._settle(now)

    def told(self, messages: Sequence[Message]) -> None:
        """What the service sent."""
        now = trio.current_time()
        for message in messages:
            self.drawing.model.apply(message)
            self._do(self._controller.told(message, now))
            if isinstance(message, Welcome):
                self.welcomed.set()
        self.drawing.change()
        self._settle(now)

    def resized(self) -> None:
        """The terminal has another size, or somebody else has drawn on it."""
        now = trio.current_time()
        self._do(self._controller.resized(*self._tty.size(), now))
        self.drawing.change(full=True)
        self._settle(now)

    def drained(self) -> None:
        """The terminal has taken all that was written."""
        self._settle(trio.current_time())

    def _time_passed(self) -> None:
        now = trio.current_time()
        self._events(self._parser.flush(now), now)
        self._do(self._controller.tick(now))
        self._settle(now)

    def _settle(self, now: float) -> None:
        """Draw what is to be drawn, and see to it that what is due later is done then."""
        self.drawing.draw(now)
        times = (self.drawing.due(now), self._parser.deadline(), self._controller.deadline())
        for due in times:
            if due is not None:
                self.alarm.set(due)

    def _events(self, events: Iterable[Event], now: float) -> None:
        done: list[Event] = []
        for event in events:
            if isinstance(event, ReplyEvent):
                self._tty.hear(event.data)
                self.drawing.change()
            else:
                done.append(event)
        if done:
            self._do(self._controller.handle_all(done, now))

    def _do(self, effects: Iterable[Effect]) -> None:
        for effect in effects:
            match effect:
                case Send(message):
                    self._send(message)
                case Redraw(full):
                    self.drawing.change(full=full)
                case Copy(text):
                    self._copy(text)
                case Ring():
                    self._tty.ring()
                case Leave():
                    self.finish(End(How.DETACHED))
                case Quit(reason):
                    self.finish(End(How.LOST, reason))

    def _copy(self, text: str) -> None:
        if not self._tty.copy(text):
            self.say("too long for a terminal's clipboard; the paste buffer has it")

    def _send(self, message: Message) -> None:
        if self.link is None:
            return
        try:
            self.link.send(message)
        except LinkFull:
            self.say(NOT_READING)
