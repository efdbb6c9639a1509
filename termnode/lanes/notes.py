"""What a lane notes in the audit: answers, ends, and changes of posture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from termnode.control.audit import SERVICE, Audit
from termnode.control.posture import Posture
from termnode.lanes.calls import Call, Sealed, Ticket
from termnode.lanes.who import summary

UNKNOWN_VERB: Final = "unknown"
"""Stands for a verb that is not in the table: its name is the caller's text."""


@dataclass(slots=True)
class Attempt:
    """What is known so far of a call that is being judged."""

    call: Call
    now: float
    verb: str = UNKNOWN_VERB
    request_id: bool = False


class Notes:
    """Writes the entries of one lane; ``wall_ms`` gives Unix milliseconds."""

    def __init__(self, audit: Audit, wall_ms: Callable[[], int]) -> None:
        self._audit = audit
        self._wall_ms = wall_ms
        self._posture: Posture | None = None

    def posture(self, posture: Posture) -> None:
        """The posture was read; noted only when it has changed."""
        if self._posture not in {None, posture}:
            self._audit.add(
                time=self._wall_ms(), principal=SERVICE, verb="posture", outcome=str(posture)
            )
        self._posture = posture

    def answered(self, attempt: Attempt, sealed: Sealed, *, replayed: bool) -> None:
        """A call was answered without running anything."""
        self._audit.add(
            time=self._wall_ms(),
            principal=summary(attempt.call.principal),
            verb=attempt.verb,
            outcome=sealed.outcome,
            pane=sealed.pane,
            request_id=attempt.request_id,
            replayed=replayed,
        )

    def settled(self, ticket: Ticket, sealed: Sealed, now: float) -> None:
        """A request ended: one entry for who asked first, and one for each who joined."""
        everyone = ((ticket.call, ticket.started), *ticket.joined)
        for at, (call, since) in enumerate(everyone):
            self._audit.add(
                time=self._wall_ms(),
                principal=summary(call.principal),
                verb=ticket.spec.name,
                outcome=sealed.outcome,
                pane=sealed.pane,
                duration_ms=max(0, round((now - since) * 1000)),
                request_id="request_id" in ticket.args,
                replayed=at > 0,
            )
