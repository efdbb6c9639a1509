"""Puts one request to the shell: writes it, has the key pressed, and sees how it comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from brokerd.client import ErrorCode, Refusal
from termnode.paneshell.integration import Request
from termnode.paneshell.prompt.admission import Attempt, Claim, Outcome, Press, Wait
from termnode.paneshell.prompt.control_dir import ControlDir
from termnode.paneshell.prompt.watching import Watch


class Term(Protocol):
    """The way to Term, which alone presses keys."""

    def post(self, record: Mapping[str, Any]) -> bool:
        """Tell it; never waits."""


class Putter:
    """One request at a time: the caller sees to that."""

    def __init__(
        self, directory: ControlDir, watch: Watch, term: Term, clock_ms: Callable[[], int]
    ) -> None:
        self._directory = directory
        self._watch = watch
        self._term = term
        self._now_ms: Final = clock_ms
        self.pressed = ""
        """The last request that the key was pressed for."""

    async def put(self, request: Request) -> Outcome:
        """Write the request and have the key pressed; afterwards nobody finds the request.

        Raises Refusal UNAVAILABLE when it cannot be written.
        """
        attempt = self._watch.attempt = Attempt(request.id, self._now_ms())
        outcome: Outcome | None = None
        try:
            self._write(request)
            outcome = await self._carry_out(attempt)
            return outcome
        finally:
            self._watch.attempt = None
            if attempt.was_pressed:
                self.pressed = request.id
            if outcome is None:
                self._directory.claim(request.id)
            self._directory.withdraw(request.id)

    def _write(self, request: Request) -> None:
        try:
            self._directory.put(request)
        except OSError:
            text = "the shell cannot be told of a command now: try again"
            raise Refusal(ErrorCode.UNAVAILABLE, text, reason="request_not_written") from None

    async def _carry_out(self, attempt: Attempt) -> Outcome:
        while True:
            self._watch.drain()
            step = attempt.step(self._now_ms())
            if isinstance(step, Press):
                self._press(attempt)
            elif isinstance(step, Claim):
                attempt.claimed(self._directory.claim(attempt.id), self._now_ms())
            elif isinstance(step, Wait):
                await self._watch.bell.wait((step.until_ms - self._now_ms()) / 1_000)
            else:
                return step

    def _press(self, attempt: Attempt) -> None:
        if not self._term.post({"type": "press", "op": attempt.id}):
            attempt.pressed(attempt.id, "queued", self._now_ms())
