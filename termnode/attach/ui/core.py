"""What all parts of the controller share: what is known, what is shown, what is to be done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Final

from termnode.attach.config import Config
from termnode.attach.ui.bindings import COMMANDS, COPY, SEND_PREFIX, Binding, keymap
from termnode.attach.ui.buffers import Buffers
from termnode.attach.ui.effects import Effect, Redraw, Send
from termnode.attach.ui.facts import Facts
from termnode.attach.ui.sending import inputs
from termnode.attach.ui.state import MESSAGE_S, Ui
from termnode.terminal import engines
from termnode.terminal.input.names import Key, parse_key
from termnode.terminal.render.cells import Width, width_of
from termnode.view.messages import Do, Done, Item, Message

HOLD_S: Final = 1.0
"""What is typed behind a command waits so long for it at most: it may be meant for another pane."""

MAX_UNDER_WAY: Final = 64
"""Commands that were not answered yet; beyond it further ones are refused."""

READ_ONLY: Final = "this view is read-only: it can look, scroll, search and copy"

Then = Callable[[Done], None]


class Core:
    """Known facts, the `Ui`, and the effects of the event that is being handled."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.facts = Facts()
        self.ui = Ui(colours=config.colours)
        self.buffers = Buffers()
        self.prefix = parse_key(config.prefix)
        self.commands: dict[Key, Binding] = keymap(
            COMMANDS, {self.prefix: SEND_PREFIX, **config.keys}
        )
        self.copy_keys: dict[Key, Binding] = keymap(COPY, config.copy_keys)
        self.now = 0.0
        self._effects: list[Effect] = []
        self._typed: tuple[int, list[Item]] | None = None
        self._under_way: dict[int, Then | None] = {}
        self._requests = 0
        self._message_until = 0.0
        self._asked_last = 0.0

    @cached_property
    def width(self) -> Width:
        """How wide characters are to the service's emulator, or to one that can be had here."""
        try:
            return width_of(self.facts.emulator or "")
        except (ValueError, ImportError, OSError):
            return width_of(next(iter(engines.available())))

    def emit(self, effect: Effect) -> None:
        """One more thing to be done, after those before it."""
        self._flush()
        self._effects.append(effect)

    def take(self) -> list[Effect]:
        """All that is to be done, redrawing once; clears it."""
        self._flush()
        effects, self._effects = self._effects, []
        redraws = [effect for effect in effects if isinstance(effect, Redraw)]
        others: list[Effect] = [each for each in effects if not isinstance(each, Redraw)]
        return [*others, Redraw(any(each.full for each in redraws))] if redraws else others

    def redraw(self) -> None:
        """The `Ui` changed."""
        self.emit(Redraw())

    def send(self, message: Message) -> None:
        """Send a message."""
        self.emit(Send(message))

    def typed(self, pane: int, *items: Item) -> None:
        """What the person did in a pane, in as few messages as can be."""
        if self.ui.read_only:
            self.say(READ_ONLY)
            return
        if self._typed is not None and self._typed[0] == pane:
            self._typed[1].extend(items)
            return
        self._flush()
        self._typed = (pane, list(items))

    def do(self, verb: str, body: Mapping[str, Any], then: Then | None = None) -> bool:
        """Ask for a verb; a refusal is shown. False when it was not even asked for."""
        if self.ui.read_only:
            self.say(READ_ONLY)
            return False
        if len(self._under_way) >= MAX_UNDER_WAY:
            self.say("the service has not answered yet: try again in a moment")
            return False
        request = self.request()
        self._under_way[request] = then
        self._asked_last = self.now
        self.send(Do(request, verb, body))
        return True

    def done(self, message: Done) -> None:
        """The reply of a verb that was asked for; others are passed over."""
        if message.req not in self._under_way:
            return
        then = self._under_way.pop(message.req)
        if message.rc != 0:
            self.say(_refusal(message))
        if then is not None:
            then(message)

    @property
    def held_until(self) -> float | None:
        """Until when what is typed must wait for a command to be done; None: there is none."""
        if not self._under_way or self.now >= self._asked_last + HOLD_S:
            return None
        return self._asked_last + HOLD_S

    def forget(self) -> None:
        """What was asked for will not be answered."""
        self._under_way.clear()

    def request(self) -> int:
        """A number for a request."""
        self._requests += 1
        return self._requests

    def say(self, text: str, seconds: float = MESSAGE_S) -> None:
        """Show a message for a while."""
        self.ui.message = "".join(char if char.isprintable() else " " for char in text)
        self._message_until = self.now + seconds
        self.redraw()

    def hush(self) -> None:
        """Take the message away."""
        if self.ui.message is not None:
            self.ui.message = None
            self.redraw()

    def expire(self) -> None:
        """Take the message away once its time is over."""
        if self.now >= self._message_until:
            self.hush()

    def deadline(self) -> float | None:
        """When the message expires."""
        return None if self.ui.message is None else self._message_until

    def _flush(self) -> None:
        if self._typed is not None:
            (pane, items), self._typed = self._typed, None
            self._effects.extend(Send(each) for each in inputs(pane, items))


def _refusal(message: Done) -> str:
    text = message.body.get("message")
    return text if isinstance(text, str) and text else "the service refused it"
