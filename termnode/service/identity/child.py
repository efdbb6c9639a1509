"""One pane's child: its key, what the broker granted it, and its pane shell. No I/O.

Times are seconds of the clock that the broker's deadlines are in. Rules:

1. A child begins without a grant. It is granted when its pane shell is about to be started.
2. Only the broker's word makes it attached, suspended or lost; what the pane shell says is shown,
   and opens nothing.
3. A child that never enrolled is not granted again under the same broker and shell.
4. Another pane shell is another child, with another key.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from brokerd.client import GrantView, RecordView, Ref, SessionKey
from termnode.service.identity.bundle import Bundle, usable
from termnode.service.identity.schedule import Pauses, Regrants, Restarts
from termnode.service.identity.words import PaneBinding

AFTER_OUTPUT_S: Final = 0.05
"""A shell that has just shown its prompt is not made to wait for what its pane shell needs."""

SILENT_S: Final = 1.0
"""A program that shows nothing has its pane shell so long after its start."""

QUIET_S: Final = 0.15
"""Nor is the start of another pane disturbed: after a pane was opened, so long passes first."""

AT_THE_LATEST_S: Final = 3.0
"""Somebody opens pane after pane: then they are not waited for any longer."""


class Stage(StrEnum):
    """What the broker said of the child's record."""

    NONE = "none"
    GRANTED = "granted"
    ATTACHED = "attached"
    SUSPENDED = "suspended"
    LOST = "lost"


class Shell(StrEnum):
    """The pane shell's process."""

    WAITING = "waiting"
    STARTING = "starting"
    RUNNING = "running"
    GIVEN_UP = "given-up"
    """It ended too often."""

    OVER = "over"
    """The pane's program has ended: there is nothing to be the shell of."""


@dataclass(slots=True, eq=False)
class Child:
    """``not_before`` is when a pane shell that ended may be started again."""

    pane: int
    began: float
    not_before: float | None = None
    restarts: Restarts = field(default_factory=Restarts)
    key: SessionKey = field(default_factory=SessionKey.generate)
    stage: Stage = Stage.NONE
    shell: Shell = Shell.WAITING
    generation: int = 0
    grant: GrantView | None = None
    record: RecordView | None = None
    bound: int = 0
    """The binding generation that the broker told of last."""
    enrolled: bool = False
    """Whether it was ever attached with this key."""
    shown: float | None = None
    """When its pane showed something for the first time."""
    mint_at: float | None = None
    """When to grant it; of a pane shell that is still to be started: not before then."""
    start_at: float | None = None
    """After a start that failed: not before then."""
    regrants: Regrants = field(default_factory=Regrants)
    pauses: Pauses = field(default_factory=Pauses)
    unbound: bool = False
    """Whether its pane shell said that it goes on without a session."""
    reason: str = ""

    @property
    def ref(self) -> Ref | None:
        """Its record under the binding known last."""
        if self.record is None:
            return None
        return Ref(self.record.record_id, self.record.incarnation, self.bound)

    @property
    def launched(self) -> bool:
        """Whether its pane shell runs, as far as is known."""
        return self.shell is Shell.RUNNING

    def ready_at(self, quiet_at: float) -> float:
        """When to start its pane shell; ``quiet_at``: no pane was just opened by then."""
        if self.not_before is not None:
            return self.not_before
        silent = self.began + SILENT_S
        settled = silent if self.shown is None else min(self.shown + AFTER_OUTPUT_S, silent)
        return min(max(settled, quiet_at), self.began + AT_THE_LATEST_S)

    def startable(self, now: float) -> bool:
        """Whether it has a grant with time enough for a pane shell to use it."""
        return self.stage is Stage.GRANTED and self.grant is not None and usable(self.grant, now)

    def wants_grant(self, now: float, quiet_at: float) -> float | None:
        """When to grant it; None when that is not to be done."""
        if self.shell is Shell.WAITING and not self.startable(now):
            return max(self.ready_at(quiet_at), self.mint_at or 0.0, self.regrants.floor)
        return self.mint_at if self.shell is Shell.RUNNING else None

    def granted(self, bundle: Bundle, now: float) -> None:
        """The broker granted this."""
        self.key, self.grant, self.record = bundle.key, bundle.grant, bundle.record
        self.stage, self.bound, self.reason = Stage.GRANTED, 0, ""
        self.generation = bundle.record.pane_generation or 0
        self.mint_at = None
        self.regrants.minted(now)
        self.pauses.clear()

    def failed(self, reason: str, now: float) -> None:
        """It could not be granted now."""
        self.reason = reason
        self.mint_at = now + self.pauses.next()

    def forgotten(self, now: float) -> None:
        """The broker knows nothing of it: the broker is another, or the parent's record is."""
        self.stage, self.grant, self.record, self.bound = Stage.NONE, None, None, 0
        self.regrants.forget()
        self.pauses.clear()
        self.mint_at = now

    def rearmed(self, now: float) -> None:
        """Notices were missed: a lost child may be granted anew."""
        self.regrants.arm()
        if self.stage is Stage.LOST and self.enrolled and self.mint_at is None:
            self.mint_at = self.regrants.due(now)

    def told(self, state: str, binding: int, now: float) -> None:
        """The broker says that its record is in this state, under this binding generation."""
        if binding < self.bound:
            return  # of a binding before the present one
        self.bound = binding
        if state == "attached":
            self.stage, self.enrolled, self.reason, self.mint_at = Stage.ATTACHED, True, "", None
            self.regrants.arm()
        elif state == "suspended":
            self.stage, self.reason = Stage.SUSPENDED, "its pane shell has lost the broker"
        elif state == "revoked" and self.stage is not Stage.LOST:
            self._lost(now)

    def _lost(self, now: float) -> None:
        self.stage = Stage.LOST
        if self.enrolled:
            self.reason, self.mint_at = "its record has ended", self.regrants.due(now)
        else:
            self.reason = "its pane shell did not use its grant in time"

    def binding(self) -> PaneBinding:
        """As replies say it."""
        record = None if self.record is None else self.record.record_id
        return PaneBinding(self.generation, self._word(), self.reason, record)

    def _word(self) -> str:
        if self.shell is Shell.OVER:
            return "over"
        if self.unbound or self.shell is Shell.GIVEN_UP:
            return "unbound"
        if self.shell is not Shell.RUNNING:
            return "waiting"
        return "enrolling" if self.stage in {Stage.NONE, Stage.GRANTED} else str(self.stage)
