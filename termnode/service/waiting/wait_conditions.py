"""What a wait waits for, and when it has come. Sans-IO: what is seen is an argument."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

Outcome = Literal[
    "matched", "quiet", "prompt", "changed", "alternate", "exited", "gone", "deadline"
]


@dataclass(frozen=True, slots=True)
class Ask:
    """The conditions of one wait; those that are not asked for are None or False.

    ``after`` is the anchor, a revision. The program's end and the pane's are always waited for.
    """

    until: str | None = None
    after: int | None = None
    quiet_s: float | None = None
    prompt: bool = False
    changed: bool = False
    alternate: bool = False


@dataclass(frozen=True, slots=True)
class Start:
    """How it was when a wait began; ``time`` in seconds of the terminal's clock."""

    time: float
    revision: int


@dataclass(slots=True)
class Glance:
    """What one look at a pane saw, but its text.

    ``written`` is the revision that the last output made. ``prompt`` says whether one newer is
    there, ``switched`` at which revision a change of screens was seen last.
    """

    now: float
    revision: int
    ended: bool
    gone: bool
    last_output: float | None
    written: int
    switched: Callable[[], int]
    prompt: Callable[[int | None], bool]


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a wait ended, and the revision to go on from."""

    outcome: Outcome
    revision: int
    line: int | None = None
    row: int | None = None
    text: str | None = None
    stale: bool | None = None


MAX_TEXT: Final = 16_384
"""Characters of a matching line that are given; a reply has room for them however they are
written."""


def judge(ask: Ask, start: Start, glance: Glance, *, searched: bool) -> Outcome | None:
    """The first condition that holds, a match left aside; None when none does.

    ``searched``: everything that was on the screen up to this look was searched. Until then a match
    may still come, which is said before the end of the program, a prompt or quiet.
    """
    if glance.gone:
        return "gone"
    if glance.ended:
        return "exited" if searched else None
    found: dict[Outcome, bool] = {
        "alternate": ask.alternate and glance.switched() > _anchor(ask, start),
        "prompt": searched and ask.prompt and glance.prompt(ask.after),
        "quiet": searched and glance.now >= quiet_at(ask, start, glance),
        "changed": ask.changed and glance.revision > _anchor(ask, start),
    }
    return next((outcome for outcome, holds in found.items() if holds), None)


def quiet_at(ask: Ask, start: Start, glance: Glance) -> float:
    """When it will have been quiet for long enough, if nothing more is written.

    From the last output; or from the start of the wait, when that came later and no output since
    the anchor is there to count from. Infinite when nobody asks.
    """
    if ask.quiet_s is None:
        return math.inf
    last = start.time if glance.last_output is None else glance.last_output
    written_since = ask.after is not None and glance.written > ask.after
    return (last if written_since else max(start.time, last)) + ask.quiet_s


def _anchor(ask: Ask, start: Start) -> int:
    return start.revision if ask.after is None else ask.after
