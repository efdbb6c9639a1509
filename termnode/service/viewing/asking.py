"""Questions that a service asks the person at the views. No verb gets here, and no pane's keys.

All views show every question that is open; the first answer is the answer. Nobody's silence means
yes: a question that is not answered in time, or that nobody can see, has no answer.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Final

import trio

from brokerd.client import limit_reached
from termnode.view.messages import Asked

MAX_OPEN: Final = 16
"""Questions that wait for an answer; more are refused."""

MAX_TITLE: Final = 200
MAX_TEXT: Final = 16_384
"""Characters. A question is shown whole or not asked."""


@dataclass(slots=True)
class _Open:
    asked: Asked
    answer: bool | None = None
    answered: trio.Event = field(default_factory=trio.Event)


class Asking:
    """The questions of one service. ``on_news`` is called when one came or went."""

    def __init__(self, on_news: Callable[[], object] | None = None) -> None:
        self._open: dict[int, _Open] = {}
        self._numbers = count(1)
        self.on_news: Callable[[], object] = on_news or _nobody
        self.can_answer: Callable[[], bool] = bool
        """Whether somebody is there who may answer; nobody as long as it was not set."""

    def open(self) -> tuple[Asked, ...]:
        """What is to be shown at present, the oldest first."""
        return tuple(each.asked for each in self._open.values())

    def answer(self, ask: int, yes: bool) -> bool:
        """A person's answer; False when that question is answered already, or there is none."""
        question = self._open.pop(ask, None)
        if question is None:
            return False
        question.answer = yes
        question.answered.set()
        self.on_news()
        return True

    async def ask(self, title: str, text: str, timeout: float) -> bool | None:
        """Ask, and wait for an answer for at most ``timeout`` seconds; None when there was none.

        Only True is a yes. Control characters and those that turn the text's direction are shown
        as U+FFFD, tabs as blanks. Raises ValueError for a text that is too long to be shown whole,
        and Refusal RESOURCE_LIMIT when too many questions are open.
        """
        if len(title) > MAX_TITLE or len(text) > MAX_TEXT:
            raise ValueError(f"a question has {MAX_TITLE} and {MAX_TEXT} characters at most")
        if len(self._open) >= MAX_OPEN:
            message = "the person has enough questions to answer: wait for an answer, then ask"
            raise limit_reached("questions", MAX_OPEN, message)
        number = next(self._numbers)
        question = _Open(Asked(number, _shown(title), _shown(text.expandtabs(4), "\n")))
        self._open[number] = question
        self.on_news()
        try:
            with trio.move_on_after(timeout):
                await question.answered.wait()
        finally:
            if self._open.pop(number, None) is not None:
                self.on_news()
        return question.answer


def _shown(text: str, keep: str = "") -> str:
    """Nothing in it hides or moves any of it."""
    return "".join(char if char in keep or _is_seen(char) else "\ufffd" for char in text)


def _is_seen(char: str) -> bool:
    return char == "\u200d" or unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}


def _nobody() -> None:
    """Nobody shows questions."""
