"""The loan of a terminal: taken, given back, and taken again, in whole steps and with no Trio."""

from __future__ import annotations

import termios
from collections.abc import Callable
from typing import Final

from termnode.attach.tty_device import Attributes, Device, Interrupted, NoTerminal
from termnode.attach.tty_protocols import FENCE, Borrowed, fences

ANSWER_S: Final = 0.1
"""How soon a terminal answers what it is asked when it is taken, or is not waited for."""

_TAKES_S: Final = 1.0
"""A terminal that takes nothing for so long is given back with what it took."""

_FENCE_S: Final = 0.5
"""How long the last answer is waited for, of a terminal whose first came within ANSWER_S."""


class Loan:
    """One terminal, ours or not. ``asks``: queries may be sent to it."""

    def __init__(self, device: Device, *, asks: bool, clock: Callable[[], float]) -> None:
        self._device, self._clock = device, clock
        self._found: Attributes | None = None
        self._since = 0.0
        self._soon = False
        self.borrowed = Borrowed(asks)
        self.turn = 0
        """Rises when what was painted is there no more: what is half written has no end now."""
        self.cut = False
        """A frame is written in part."""

    @property
    def ours(self) -> bool:
        """Whether it is borrowed now."""
        return self._found is not None

    def take(self) -> bool:
        """Make it ours. False: to be tried again. Raises NoTerminal when it is gone."""
        try:
            found = self._device.attributes()
            self._device.make_raw(found)
        except Interrupted:
            return False
        except (OSError, termios.error) as error:
            raise NoTerminal("the terminal is gone") from error
        self._found = found
        self.borrowed = Borrowed(self.borrowed.asks, self.borrowed.motion)
        self._since, self._soon = self._clock(), False
        self._show(self.borrowed.enter())
        return True

    def take_again(self) -> bool:
        """After a stop: all of it, or what others may have changed while it was ours.

        False: to be tried again. Of a terminal that is gone, whoever reads is told.
        """
        try:
            if self._found is None:
                return self.take()
            self._device.make_raw(self._found)
            self._show(self.borrowed.again())
        except Interrupted:
            return False
        except (OSError, termios.error, NoTerminal):
            return True
        return True

    def give_back(self) -> None:
        """As it was found; nothing when it is not ours. It takes about a second and a half at most.

        What was typed meanwhile is dropped: answers and mouse reports cannot be told from it.
        """
        if self._found is None:
            return
        restore = self.borrowed.restore(cut=self.cut)
        self._device.put(restore + (FENCE if self._soon else b""), _TAKES_S)
        self._device.discard(lambda data: fences(data) > 0, self._wait())
        self._device.forget_input()
        self._device.set_back(self._found)
        self._found = None
        self.turn += 1

    def hear(self, reply: bytes) -> bytes:
        """Take an answer; what is to be sent for it."""
        before = self.borrowed.answered
        answer = self.borrowed.hear(reply)
        if self.borrowed.answered and not before:
            self._soon = self._clock() - self._since <= ANSWER_S
        return answer

    def _wait(self) -> float:
        """How long something of ours may be on its way that would be taken for typed."""
        if self._soon:
            return _FENCE_S
        asked = self.borrowed.asks and not self.borrowed.answered
        return max(self._since + ANSWER_S - self._clock(), 0) if asked else 0

    def _show(self, data: bytes) -> None:
        self.turn += 1
        self.cut = False
        self._device.put(data, _TAKES_S)
