"""One pattern on the changes of one pane, for all the waits that ask for the same."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, Final, Protocol

from termnode.control.patterns import compile_pattern
from termnode.service.waiting.wait_lines import Freshness, Target
from termnode.service.waiting.wait_match import Candidate, first_match, matches

INLINE_S: Final = 0.001
INLINE_CHARS: Final = 512
"""A search that takes longer, or has longer lines, goes on in a thread: the worst patterns take
tens of microseconds per character."""


class Changes(Protocol):
    """What a screen log says has changed."""

    @property
    def full(self) -> bool:
        """Whether line numbers began anew."""

    @property
    def lines(self) -> Sequence[int]:
        """The newer lines that can be read, ascending."""

    @property
    def missed(self) -> int:
        """Newer lines that cannot be read any more."""


class Log(Freshness, Protocol):
    """The screen log, synced to ``revision``."""

    revision: int

    def changes(self, since: int) -> Changes:
        """What is newer than a revision."""


class Search:
    """What was searched for one pattern, and what is still to be searched.

    ``after`` is the anchor of its waits. Lines that changed are searched in their order, a limited
    number at each look; those that go out of history first are counted in ``missed``.
    """

    def __init__(self, text: str, after: int | None, revision: int) -> None:
        self.text: Final = text
        self.after: Final = after
        self.pattern: Any = compile_pattern(text)
        self.missed = 0
        self.covered = revision if after is None else min(after, revision)
        """The newest revision of which everything was searched."""
        self.busy = False
        """Whether a thread searches: then nothing is taken in or up."""
        self.left: list[Candidate] = []
        """What took too long: for a thread."""
        self._pending: list[int] = []
        self.began = revision
        """When the latest of its waits began."""
        self.base = 0
        """The line in the first row of the screen, at the last look."""
        self.seen = -1
        """The revision at the last look; -1 before the first."""
        self._taken = 0

    @property
    def behind(self) -> bool:
        """Whether something that was seen to have changed is still to be searched."""
        return bool(self._pending)

    def wants(self, revision: int) -> bool:
        """Whether it has something to do at a look, itself."""
        return not self.left and not self.caught_up(revision)

    def caught_up(self, revision: int) -> bool:
        """Whether everything up to that revision was searched."""
        return self.seen >= revision and not self._pending

    def notice(self, log: Log, rows: int, cursor_line: int) -> None:
        """Take in which lines have changed. The cursor's row may have grown by blanks alone."""
        if self.seen == log.revision:
            return
        new: Sequence[int]
        if self.seen >= 0:
            new = self._changes(log, self.seen)
        elif self.after is not None:
            new = self._changes(log, self.after)
        else:
            new = range(log.base, log.base + rows)
        kept = self._drop_before(log.first)
        known = bisect_left(kept, min([cursor_line, *new[:1]]))  # far fewer are new than pending
        self._pending = [*kept[:known], *sorted({*kept[known:], *new, cursor_line})]
        self.seen, self.base = log.revision, log.base

    def _changes(self, log: Log, since: int) -> Sequence[int]:
        changes = log.changes(since)
        self.missed += changes.missed
        return self._anew(log) if changes.full and self._pending else changes.lines

    def _anew(self, log: Log) -> Sequence[int]:
        """What is to be searched when the numbers of what is pending mean nothing any more."""
        above = bisect_left(self._pending, self.base)
        lines = log.changes(self.covered).lines
        self.missed += max(0, above - bisect_left(lines, log.base))
        self._pending = []
        return lines

    def _drop_before(self, first: int) -> list[int]:
        gone = bisect_left(self._pending, first)
        self.missed += gone
        return self._pending[gone:]

    def take(self, limit: int) -> list[int]:
        """The lines to search at this look; `done` says that they were."""
        lines = self._pending[:limit]
        self._taken = len(lines)
        return lines

    def run(self, texts: Sequence[Target], log: Log, seconds: float) -> Target | None:
        """The first match. What takes longer than ``seconds`` is left for a thread."""
        candidates = self._candidates(texts, log)
        found, count = first_match(self.pattern, candidates, seconds, INLINE_CHARS)
        if found is None and count < len(candidates):
            self.left = [self._with_recent(left, log) for left in candidates[count:]]
        else:
            self.done()
        return None if found is None else found.target

    def run_left(self) -> tuple[Target | None, bool]:
        """The first match in what was left, and whether it is stale; touches nothing else."""
        found, _ = first_match(self.pattern, self.left)
        if found is None:
            return None, False
        text, recent = found.target.text, found.recent
        return found.target, self.after is None and not matches(self.pattern, text, recent)

    def stale(self, log: Log, target: Target, began: int) -> bool:
        """Whether what matched may have stood there at the revision ``began`` already."""
        if self.after is not None:
            return False
        end = time.perf_counter() + INLINE_S
        return not matches(self.pattern, target.text, target.fresh(log, began), end)

    def _candidates(self, texts: Sequence[Target], log: Log) -> list[Candidate]:
        """Those of the texts that can hold a match."""
        if self.after is None:
            return [Candidate(text, None) for text in texts]
        fresh = ((text, text.fresh(log, self.after)) for text in texts)
        return [Candidate(text, spans) for text, spans in fresh if spans]

    def _with_recent(self, candidate: Candidate, log: Log) -> Candidate:
        if self.after is not None:
            return candidate
        return candidate._replace(recent=candidate.target.fresh(log, self.began))

    def done(self) -> None:
        """What was taken has been searched."""
        self.left = []
        del self._pending[: self._taken]
        self._taken = 0
        if not self._pending:
            self.covered = max(self.covered, self.seen)
