"""A wait of any length as several of the service's own, which end after 45 seconds. No I/O."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final, Generic, TypeVar

from termnode.client.calls import REPLY_S, Call
from termnode.client.native_calls import NativeCall
from termnode.client.seen import Waited

C = TypeVar("C", Call[Waited], NativeCall[Waited])

LONGEST_S: Final = 45.0
"""The longest single wait of the service."""

SHORTEST_S: Final = 2.0
"""Each lasts as long as all before it together, but at least so long: one that nobody waits for any
more does not occupy the service for much longer than it was of use."""

SPARE_S: Final = 1.0
"""What one for silence lasts longer than the silence, so that it can be heard within it."""

DEADLINE: Final = "deadline"
"""The outcome of a wait whose time ran out."""


class WaitPlan(Generic[C]):
    """Gives the next wait to ask for until one ends otherwise, or the time is up.

    ``start`` and ``now`` are seconds of one clock. ``timeout`` is in seconds, None for ever.
    Each goes on from the revision that the one before it ended at, so that nothing is overlooked.
    But a prompt may have been there before. And after a part for silence there either was output,
    from which silence counts, or the part would have ended well.
    """

    def __init__(self, call: C, timeout: float | None, start: float) -> None:
        if timeout is not None and math.isnan(timeout):
            raise ValueError("timeout must be a number of seconds")
        self._call: C = call
        self._start = start
        self._end = math.inf if timeout is None else start + timeout
        self._last: Waited | None = None
        self._missed = 0
        self._through = False
        self._tried = False

    @property
    def silence_s(self) -> float:
        """The silence that is waited for, in seconds; 0 when none is."""
        quiet_ms = self._call.body.get("quiet_ms", 0)
        return quiet_ms / 1000 if isinstance(quiet_ms, int) else 0.0

    def part(self, now: float, longest: float = LONGEST_S) -> C | None:
        """What to ask for next, for at most ``longest`` seconds; None when it is through.

        It asks once at least, also when there is no time at all.
        """
        if self.over(now):
            return None
        self._tried = True
        left = max(0.0, self._end - now)
        milliseconds = max(1, math.ceil(1000 * min(left, self._stay(now, longest))))
        part: C = self._call.with_fields(timeout_ms=milliseconds)
        return replace(part, timeout=milliseconds / 1000 + REPLY_S)

    def _stay(self, now: float, longest: float) -> float:
        stay = min(longest, max(SHORTEST_S, now - self._start))
        if self.silence_s:
            stay = max(stay, self.silence_s + SPARE_S)
        return min(stay, LONGEST_S)

    def answered(self, answer: Waited, now: float) -> None:
        """Take in how a part ended."""
        self._missed += answer.lines_missed
        elapsed = round(1000 * (now - self._start))
        self._last = replace(answer, lines_missed=self._missed, elapsed_ms=elapsed)
        self._through = answer.outcome != DEADLINE
        if not self._through:
            self._go_on(answer.revision)

    def _go_on(self, revision: int) -> None:
        body = self._call.body
        if self.silence_s:
            self._call = self._call.with_fields(after=0)
        elif "until" in body or not ("after" in body or body.get("prompt")):
            self._call = self._call.with_fields(after=revision)

    @property
    def result(self) -> Waited | None:
        """How it ended; None when no part was answered."""
        return self._last

    def over(self, now: float) -> bool:
        """Whether it has ended, or the time is up; not before it was tried once."""
        return self._through or (self._tried and now >= self._end)
