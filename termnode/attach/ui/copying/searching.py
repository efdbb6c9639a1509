"""Searches that a person makes: the pattern is asked for, found, and searched for again."""

from __future__ import annotations

from collections.abc import Callable

from termnode.attach.ui.copying.mode import CopyMode
from termnode.attach.ui.copying.search import Hunt, Pattern
from termnode.attach.ui.core import Core
from termnode.attach.ui.prompts import LinePrompt, Prompts
from termnode.control.patterns import MAX_PATTERN

MAX_LINE = MAX_PATTERN // 2
"""Characters of a pattern: as plain text each may take two."""

Found = Callable[[CopyMode, str, bool], None]


class Searching:
    """The last pattern and its direction serve for all panes.

    ``written`` is called with the line that was asked for, and whether it is to go forwards.
    """

    def __init__(self, core: Core, prompts: Prompts, written: Found) -> None:
        self._core = core
        self._prompts = prompts
        self._written = written
        self._last: tuple[str, bool] | None = None

    def ask(self, mode: CopyMode, *, forward: bool) -> None:
        """Ask for a pattern."""
        label = "(search down) " if forward else "(search up) "
        self._prompts.ask(
            LinePrompt(label, lambda text: self._written(mode, text, forward), limit=MAX_LINE)
        )

    def begin(self, mode: CopyMode, text: str, forward: bool) -> None:
        """Search from the cursor on; for the last pattern when there is no text."""
        text = text or (self._last[0] if self._last else "")
        if not text:
            return
        self._last = (text, forward)
        mode.pattern = Pattern(text)
        if mode.pattern.plain:
            self._core.say("searched as plain text: it is no RE2 pattern")
        mode.hunt = Hunt.begin(mode.pattern, forward, mode.place, mode.lines)

    def again(self, mode: CopyMode, *, reverse: bool) -> None:
        """Search on for the last pattern."""
        if self._last is None:
            self._core.say("nothing was searched for yet: / and ? search")
            return
        text, forward = self._last
        mode.pattern = mode.pattern or Pattern(text)
        mode.hunt = Hunt.begin(mode.pattern, forward is not reverse, mode.place, mode.lines)

    def go_on(self, mode: CopyMode) -> None:
        """Go on with the search of a pane as far as its lines allow."""
        hunt = mode.hunt
        if hunt is None:
            return
        found = hunt.go_on(mode)
        if found is None and hunt.wants is not None:
            self._core.say("searching: any key ends it")
            return
        mode.hunt = None
        if hunt.waited:
            self._core.hush()
        if found is None:
            self._core.say("not found")
            return
        mode.show(*found)
        if hunt.wrapped:
            self._core.say("search went on from the other end", 1.5)
