"""One attempt to have a command admitted: what to do next, and how it came out. No I/O.

Whoever holds the claim on a request decides whether it runs, and only one can take it: the shell
just before it accepts the line, the sidecar before it says that nothing ran. Times are milliseconds
since boot.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

REPLY_MS: Final = 400
"""From the first press, for the shell's answer."""

CLAIMED_MS: Final = 600
"""More than that when the claim turns out to be taken, for the shell to say that it took it."""

EDITOR_MS: Final = 250
"""From the first press, while Term says that the shell does not edit a line yet."""

AGAIN_MS: Final = 10
"""Between two presses in that time."""

ADMITTED: Final = "ADMITTED"
NO_REPLY: Final = "no_reply"


@dataclass(frozen=True, slots=True)
class Press:
    """Ask Term to press the key."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Try to take the claim, and say with ``claimed`` whether it was to be had."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Until something is told, or until then (milliseconds since boot)."""

    until_ms: int


@dataclass(frozen=True, slots=True)
class Admitted:
    """The shell runs it."""


@dataclass(frozen=True, slots=True)
class NotRun:
    """It did not run and never will. ``why``: the shell's word, Term's word, or NO_REPLY."""

    why: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """The shell took the claim and has not said so: it may run, now or soon."""


Outcome = Admitted | NotRun | Unknown
Step = Press | Claim | Wait | Outcome


@dataclass(slots=True)
class Attempt:
    """The request ``id`` from the moment that it was written. ``step`` says what to do."""

    id: str
    began_ms: int
    _told: str | None = field(default=None)
    """Term's last word on a press; None while one is awaited."""
    _press_at: int | None = field(default=None)
    _answer: str | None = field(default=None)
    _admitted: bool = field(default=False)
    _claim_ms: int | None = field(default=None)
    """When somebody else was found to have the claim."""
    _ours: bool = field(default=False)

    def __post_init__(self) -> None:
        self._press_at = self.began_ms

    def pressed(self, op: str, word: str, now_ms: int) -> None:
        """Term's word on a press."""
        if op != self.id:
            return
        self._told = word
        if word == "canonical" and now_ms < self.began_ms + EDITOR_MS:
            self._told, self._press_at = None, now_ms + AGAIN_MS

    @property
    def was_pressed(self) -> bool:
        """Whether Term wrote the key."""
        return self._told == "pressed"

    def replied(self, op: str, word: str) -> None:
        """The shell's answer to a request; ADMITTED outweighs any other."""
        if op != self.id:
            return
        self._admitted |= word == ADMITTED
        self._answer = self._answer or word

    def claimed(self, ours: bool, now_ms: int) -> None:
        """Whether the claim was to be had."""
        self._ours = ours
        if not ours and self._claim_ms is None:
            self._claim_ms = now_ms

    def step(self, now_ms: int) -> Step:
        """What is to be done now; an outcome is the last step."""
        if self._admitted:
            return Admitted()
        if self._ours:
            return NotRun(self._why())
        if self._claim_ms is not None:
            end = self._claim_ms + CLAIMED_MS
            return Unknown() if now_ms >= end else Wait(end)
        if self._is_over(now_ms):
            return Claim()
        return self._go_on(now_ms)

    def _is_over(self, now_ms: int) -> bool:
        refused = self._told is not None and self._told != "pressed"
        return refused or self._answer is not None or now_ms >= self.began_ms + REPLY_MS

    def _go_on(self, now_ms: int) -> Step:
        end = self.began_ms + REPLY_MS
        if self._press_at is None:
            return Wait(end)
        if now_ms < self._press_at:
            return Wait(min(end, self._press_at))
        self._press_at = None
        return Press()

    def _why(self) -> str:
        refused = self._told if self._told != "pressed" else None
        return self._answer or refused or NO_REPLY
