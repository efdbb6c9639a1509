"""Holds what a shell has run against what a person entered and what agents were told. No I/O."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.stress.agents import (
    FAILED,
    INTERRUPTED,
    NOT_STARTED,
    RAN,
    REFUSED,
    UNKNOWN,
    Attempt,
)

_WORD = re.compile(r"[a-z]\d+")


@dataclass(frozen=True)
class Figures:
    """What happened, and what must not have: all of ``wrong`` is empty when all is well."""

    attempts: int
    admitted: int
    interrupted: int
    unknown: int
    refused: Counter[str] = field(default_factory=Counter)
    lines: int = 0
    wrong: dict[str, list[str]] = field(default_factory=dict)

    def __str__(self) -> str:
        refused = ", ".join(f"{why}: {count}" for why, count in self.refused.most_common())
        wrong = ", ".join(f"{what} {len(which)}" for what, which in self.wrong.items())
        return (
            f"{self.attempts} attempts, {self.admitted} admitted ({self.interrupted} of them "
            f"interrupted by the person), {self.unknown} unknown; {self.lines} lines of the "
            f"person; {wrong}\n  refused: {refused or 'none'}"
        )

    @property
    def well(self) -> bool:
        """Whether nothing went wrong."""
        return not any(self.wrong.values())


def judge(log: Sequence[str], entered: Sequence[str], attempts: Sequence[Attempt]) -> Figures:
    """``log`` are the lines that the shell's commands wrote, in their order."""
    counts = Counter(log)
    known = {*entered, *(attempt.word for attempt in attempts)}
    people = [word for word in log if word in set(entered)]
    wrong = {
        "doubles": [word for word in known if counts[word] > 1],
        "merges": [line for line in log if line not in known],
        "lost": [word for word in entered if counts[word] == 0],
        "out of order": [] if people == list(entered) or len(people) != len(entered) else people,
        "untrue": [
            f"{each.word} ran {counts[each.word]} times: {each.fate}, {each.why}"
            for each in attempts
            if not _true(each.fate, counts[each.word])
        ],
    }
    by_fate = Counter(attempt.fate for attempt in attempts)
    return Figures(
        attempts=len(attempts),
        admitted=by_fate[RAN] + by_fate[INTERRUPTED] + by_fate[FAILED],
        interrupted=by_fate[INTERRUPTED],
        unknown=by_fate[UNKNOWN],
        refused=Counter(each.why for each in attempts if each.fate == REFUSED),
        lines=len(entered),
        wrong=wrong,
    )


def _true(fate: str, count: int) -> bool:
    """Whether it ran as often as its agent was told."""
    if fate == RAN:
        return count == 1
    if fate in (REFUSED, NOT_STARTED):
        return count == 0
    return fate != FAILED and count <= 1
