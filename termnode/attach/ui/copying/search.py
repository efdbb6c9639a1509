"""Patterns in lines, and the search for the next one, which may have to wait for lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Protocol

from brokerd.client import Refusal
from termnode.attach.ui.copying.flat import Flat
from termnode.attach.ui.copying.lines import PAGE, Lines
from termnode.control.patterns import compile_pattern

BACK: Final = 100
"""Lines asked for at once on the way back: those nearest come last, so few."""

MAX_MATCHES: Final = 1_000
"""Of one line."""


class Pattern:
    """What is searched for: RE2, or plain text where that is no RE2.

    Without a capital, capitals count as small letters.
    """

    def __init__(self, text: str) -> None:
        self.plain = False
        prefix = "" if any(map(str.isupper, text)) else "(?i)"
        try:
            self._compiled: Any = compile_pattern(prefix + text, "pattern")
        except Refusal:
            self.plain = True
            self._compiled = compile_pattern(prefix + _quoted(text), "pattern")

    def spans(self, row: Flat) -> list[tuple[int, int]]:
        """Columns of each match, from and to before; empty matches are none."""
        return list(self._spans(row))

    def _spans(self, row: Flat) -> Iterator[tuple[int, int]]:
        if not row.text:
            return
        for count, match in enumerate(self._compiled.finditer(row.text)):
            start, end = match.span()
            if start < end:
                yield row.columns[start], max(row.columns[end], row.columns[start] + 1)
            if count >= MAX_MATCHES:
                return


class Searched(Protocol):
    """Where a search is made: a pane in copy mode."""

    lines: Lines

    def flat(self, line: int) -> Flat:
        """A line as text."""


@dataclass(slots=True)
class Hunt:
    """The search for the next match from the line ``at``, beginning at the cursor's ``x``.

    ``left`` lines are still to be looked at: once around, to the cursor's own line again.
    """

    pattern: Pattern
    forward: bool
    at: int
    x: int | None
    left: int
    wants: tuple[int, int] | None = None
    """Lines without which it cannot go on: from, and to before."""
    waited: bool = False
    wrapped: bool = False

    @classmethod
    def begin(cls, pattern: Pattern, forward: bool, place: tuple[int, int], lines: Lines) -> Hunt:
        """From a line and column on, that cell itself left out."""
        return cls(pattern, forward, place[0], place[1], lines.end - lines.first + 1)

    def go_on(self, mode: Searched) -> tuple[int, int] | None:
        """Line and column of the match; None when there is none, or, with ``wants``, not yet."""
        self.wants = None
        while self.left > 0:
            if mode.lines.get(self.at) is None:
                self.wants, self.waited = self._page(), True
                return None
            found = self._in_line(mode.flat(self.at))
            if found is not None:
                return self.at, found
            self._step(mode.lines)
        return None

    def _page(self) -> tuple[int, int]:
        """A page that ends with the line, backwards; forwards, one that begins with it."""
        return (self.at, self.at + PAGE) if self.forward else (self.at - BACK + 1, self.at + 1)

    def _in_line(self, row: Flat) -> int | None:
        starts = [start for start, _ in self.pattern.spans(row)]
        if self.forward:
            return next((x for x in starts if self.x is None or x > self.x), None)
        return next((x for x in reversed(starts) if self.x is None or x < self.x), None)

    def _step(self, lines: Lines) -> None:
        self.x = None
        self.left -= 1
        self.at += 1 if self.forward else -1
        if not lines.first <= self.at < lines.end:
            self.at = lines.first if self.forward else lines.end - 1
            self.wrapped = True


def _quoted(text: str) -> str:
    return "".join(char if char.isalnum() or ord(char) > 127 else f"\\{char}" for char in text)
