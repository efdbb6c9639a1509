"""People and agents at one pane: who typed last, and what of the agents' gives way to a person.

A person's input goes first. What agents gave to the pane and is not written yet is discarded, and
the pane's foreground generation rises: input that an agent was permitted before it is permitted no
more, also what is still to come of it (the Enter of a text that is being confirmed). No I/O.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from termnode.service.input.authors import Author, Outstanding, Typed
from termnode.service.live_pane import LivePane
from termnode.service.viewing.pastes import PersonPastes

PERSON: Final = "person"
"""How a person is named in audits and events; who knows more adds to it (`person_summary`)."""

LAST_S: Final = 30.0
"""For so long it is shown which agent typed last."""

SHOWN_S: Final = 2.0
"""How long views show who was interrupted."""


def person_summary(uid: int, pid: int) -> str:
    """A person at a view, in a few words: what the kernel said of the view's process."""
    return f"{PERSON} uid {uid} pid {pid} (view)"


class People:
    """Who typed last, in the whole service and in each pane. ``clock`` is monotonic, in seconds.

    ``on_typed`` is told of each human input: the pane, who, the bytes, and whether all of it was
    taken. ``on_done`` is told of each command of a person that was carried out: the verb and pane.
    ``on_news`` is called when what a status says (`last`, `interrupted`) has changed. All
    must be quick and must not raise.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.inputs = 0
        """How many human inputs there were, in all panes."""
        self._agent: Typed | None = None
        self._interrupted: Typed | None = None
        self.pastes: Final = PersonPastes()
        """Pastes of which more is to come."""
        self.on_typed: Callable[[LivePane, str, int, bool], object] = _ignored
        self.on_done: Callable[[str, int | None], object] = _ignored
        self.on_news: Callable[[], object] = _ignored

    def admitted(self, live: LivePane, author: Author, outstanding: Outstanding | None) -> None:
        """An agent's input was admitted; ``outstanding`` is what of it is not written yet."""
        self._agent = live.typed_last = Typed(live.id, author, self._clock())
        if outstanding is not None:
            self.expect(live, outstanding)
        self.on_news()

    def moved(self, pane: int, who: str, verb: str) -> None:
        """An agent made another pane the active one, under the eyes of who is attached."""
        self._agent = Typed(pane, Author(who, verb), self._clock())
        self.on_news()

    def expect(self, live: LivePane, outstanding: Outstanding) -> None:
        """More of an agent's input is to come. Keeps no more of them than have something left."""
        live.outstanding = [*(each for each in live.outstanding if each.left()), outstanding]

    def interrupt(self, live: LivePane) -> Typed | None:
        """A person types there: agents give way, in this step, before what the person typed.

        Whose input was under way and has been discarded; None when nobody's was.
        """
        left = [each for each in live.outstanding if each.left()]
        live.outstanding = []
        self.inputs += 1
        live.person_at = self.inputs
        live.foreground_generation += 1
        live.foreground.raise_(PERSON)
        live.terminal.recheck_permits()
        for each in reversed(left):  # the first one last: it says what was there before all of them
            each.undo()
        if not left:
            return None
        self._interrupted = Typed(live.id, left[0].author, self._clock())
        self.on_news()
        return self._interrupted

    def typed(self, live: LivePane, who: str, count: int, *, taken: bool) -> None:
        """A person's input of so many bytes was admitted; not all of it unless ``taken``."""
        live.typed_last = Typed(live.id, Author(who, PERSON), self._clock())
        live.person_inputs += 1
        self.on_typed(live, who, count, taken)

    def last(self) -> Typed | None:
        """The agent's input that came last, in any pane; not for ever: it says who types now."""
        told = self._agent
        return told if told is not None and self._clock() < told.at + LAST_S else None

    def ago_ms(self, typed: Typed) -> int:
        """How long ago it was."""
        return max(0, round((self._clock() - typed.at) * 1000))

    def interrupted(self) -> Typed | None:
        """Who was interrupted last, for as long as it is to be shown."""
        last = self._interrupted
        return last if last is not None and self._clock() < last.at + SHOWN_S else None

    @property
    def news_due(self) -> float | None:
        """When `interrupted` ceases to say something, by the clock; None when it does not now."""
        last = self.interrupted()
        return None if last is None else last.at + SHOWN_S


def _ignored(*_: object) -> None:
    """Nobody wants to know."""
