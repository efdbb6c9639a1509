"""How a task ends: its own way, or by timeout or cancel over SIGTERM and SIGKILL. No I/O.

The one rule above all: a status that is there already wins over whatever was about to be done.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from termnode.paneshell.tasks.limits import GRACE

REQUEST: Final = "request"
SHELL_EXITED: Final = "shell_exited"
NOT_STARTED: Final = "not_started"
"""Why a task was cancelled: somebody asked, its shell ended, its program would not begin."""


class Step(StrEnum):
    """What is to be done to the task's process group now."""

    NOTHING = "nothing"
    TERMINATE = "sigterm"
    KILL = "sigkill"
    SETTLE = "settle"


@dataclass(frozen=True, slots=True)
class Status:
    """How the task's own process ended: exactly one of ``code`` and ``signal`` is set."""

    code: int | None
    signal: int | None


class Ladder:
    """One task, from its start (``now``, seconds of any steady clock) to its outcome.

    Feed it `exited`, `cancel`, `kill` and `tick` as things happen and do the step that each
    returns; `deadline` says when to `tick` at the latest.
    """

    def __init__(self, now: float, timeout: float) -> None:
        self.deadline: float = now + timeout
        self.cancelled = False
        self._cause: str | None = None
        self._source = REQUEST
        self._step = Step.NOTHING
        self._status: Status | None = None

    @property
    def settled(self) -> bool:
        """Whether the outcome is known."""
        return self._step is Step.SETTLE

    def exited(self, status: Status) -> Step:
        """Its process has ended. The first status counts."""
        if not self.settled:
            self._status = status
            self._step = Step.SETTLE
        return Step.SETTLE

    def cancel(self, now: float) -> Step:
        """Somebody wants it ended; again, or after the timeout, changes nothing."""
        self.cancelled = True
        return self._begin("cancelled", now)

    def kill(self, now: float, source: str = SHELL_EXITED) -> Step:
        """It must end without grace."""
        if self.settled or self._step is Step.KILL:
            return Step.NOTHING
        if self._cause is None:
            self._cause, self._source = "cancelled", source
        return self._climb(Step.KILL, now)

    def tick(self, now: float) -> Step:
        """Time has passed."""
        if self.settled or now < self.deadline:
            return Step.NOTHING
        if self._step is Step.NOTHING:
            return self._begin("timeout", now)
        if self._step is Step.TERMINATE:
            return self._climb(Step.KILL, now)
        self._step = Step.SETTLE
        return Step.SETTLE

    def outcome(self) -> dict[str, Any]:
        """The outcome of a settled task, as it is reported."""
        assert self.settled, "a task that runs has no outcome"
        if self._status is None:
            text = "it did not end within 2 s of SIGKILL: the kernel holds its process"
            return {"kind": "unknown", "detail": text}
        if self._cause is None:
            return _ended(self._status)
        source = {"source": self._source} if self._cause == "cancelled" else {}
        wait = {"signal": self._status.signal, "code": self._status.code, "reaped": True}
        return {"kind": self._cause, "escalated_to": self._escalated, "wait": wait, **source}

    def _begin(self, cause: str, now: float) -> Step:
        if self.settled or self._cause is not None:
            return Step.NOTHING
        self._cause = cause
        return self._climb(Step.TERMINATE, now)

    def _climb(self, step: Step, now: float) -> Step:
        self._step = step
        self._escalated = str(step)
        self.deadline = now + GRACE
        return step


def _ended(status: Status) -> dict[str, Any]:
    if status.signal is not None:
        return {"kind": "signalled", "signal": status.signal}
    return {"kind": "exited", "code": status.code}
