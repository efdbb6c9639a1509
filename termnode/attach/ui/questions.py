"""Questions of a service to the person. Keys meant for a program never answer one."""

from __future__ import annotations

from typing import Final

from termnode.attach.ui.core import READ_ONLY, Core
from termnode.attach.ui.state import Box
from termnode.terminal.input.names import Key, parse_key
from termnode.view.messages import Answer, Asked

UNREAD_S: Final = 0.5
"""From when a question is shown until it can be answered: what was typed before meant others."""

MAX_QUESTIONS: Final = 16
"""That wait; further ones are not shown, and the service's own default (no) stands."""

_YES: Final = parse_key("y")
_NO: Final = frozenset(map(parse_key, ("n", "N")))


class Questions:
    """The questions that wait; the oldest is shown until it is answered or taken back."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._waiting: list[Asked] = []
        self._since = 0.0
        self._top = 0

    @property
    def open(self) -> bool:
        """Whether one is shown."""
        return bool(self._waiting)

    @property
    def box(self) -> Box | None:
        """The question that is shown, in full, and how to answer it."""
        if not self._waiting:
            return None
        asked = self._waiting[0]
        more = len(self._waiting) - 1
        title = asked.title + (f" (and {more} more)" if more else "")
        return Box(title, tuple(asked.text.splitlines()), self._footer(), self._top, question=True)

    def add(self, asked: Asked) -> None:
        """Show a question, after those that wait."""
        if len(self._waiting) < MAX_QUESTIONS and asked.ask not in self._ids():
            self._waiting.append(asked)
            if len(self._waiting) == 1:
                self._fresh()
            self._core.redraw()

    def drop(self, ask: int) -> None:
        """The question is no longer asked."""
        first = self._waiting[:1]
        self._waiting = [asked for asked in self._waiting if asked.ask != ask]
        if self._waiting[:1] != first:
            self._fresh()
        self._core.redraw()

    def reset(self) -> None:
        """None is asked any more."""
        self._waiting.clear()

    def commanded(self, key: Key, prefixed_at: float) -> bool:
        """A key after the prefix, which was pressed at ``prefixed_at``: whether it was for this."""
        if not self._waiting or (key != _YES and key not in _NO):
            return False
        if self._core.ui.read_only:
            self._core.say(READ_ONLY)
        elif prefixed_at - self._since < UNREAD_S:
            self._core.say("the question has only just been asked: read it, then press again")
        else:
            self._answer(yes=key == _YES)
        return True

    def scroll(self, by: int) -> None:
        """Scroll the text."""
        if self._waiting:
            last = max(0, len(self._waiting[0].text.splitlines()) - 1)
            self._top = min(max(self._top + by, 0), last)
            self._core.redraw()

    def _answer(self, *, yes: bool) -> None:
        ask = self._waiting[0].ask
        self._core.send(Answer(ask, yes))
        self.drop(ask)

    def _footer(self) -> str:
        if self._core.ui.read_only:
            return "a read-only view cannot answer"
        prefix = self._core.config.prefix
        return f"{prefix} y: yes   {prefix} n: no   no answer means no"

    def _fresh(self) -> None:
        self._since, self._top = self._core.now, 0

    def _ids(self) -> set[int]:
        return {asked.ask for asked in self._waiting}
