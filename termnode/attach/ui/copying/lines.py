"""The lines of a pane that copy mode has, and which it has yet to ask for."""

from __future__ import annotations

from typing import Final

from termnode.attach.ui.facts import Shown
from termnode.view.messages import Page, Row

PAGE: Final = 500
"""Lines that are asked for at once: as many as the service gives."""

MAX_LINES: Final = 40_000
"""Lines that are kept; beyond it those farthest from where the person is are forgotten."""


class Lines:
    """Lines by number from ``first`` to before ``end``, as they were when copy mode began.

    What the screen showed then is kept, so that it stands still; history never changes.
    """

    def __init__(self, shown: Shown) -> None:
        state = shown.state
        self.generation = state.generation
        self.first = min(state.first, state.base)
        self.end = state.base + state.rows
        self._rows = dict(shown.lines)

    def get(self, line: int) -> Row | None:
        """What a line shows; None when it has not come, or is none of them."""
        return self._rows.get(line)

    def wanted(self, first: int, end: int) -> range | None:
        """The first lines from ``first`` to before ``end`` that are missing, at most PAGE."""
        numbers = range(max(first, self.first), min(end, self.end))
        missing = next((line for line in numbers if line not in self._rows), None)
        if missing is None:
            return None
        until = min(missing + PAGE, numbers.stop)
        have = (line for line in range(missing, until) if line in self._rows)
        return range(missing, next(have, until))

    def take(self, page: Page, asked: range, here: int) -> None:
        """Lines that were asked for; those that can't be had any more are empty from now on."""
        if page.generation == self.generation:
            self._rows.update((line, row) for line, row in page.lines if line in asked)
        if page.generation != self.generation or not any(n in asked for n, _ in page.lines):
            self._rows.update((line, ()) for line in asked if line not in self._rows)
        elif page.first > self.first:
            gone = range(self.first, min(page.first, self.end))
            self._rows.update((line, ()) for line in gone if line in asked)
        self._trim(here)

    def _trim(self, here: int) -> None:
        if len(self._rows) > MAX_LINES:
            near = sorted(self._rows, key=lambda line: abs(line - here))[: MAX_LINES * 3 // 4]
            self._rows = {line: self._rows[line] for line in near}
