"""What may be under way on the native lane at a time, and one request of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

from brokerd.client import ErrorCode, Refusal, Request, limit_reached
from termnode.control.native.limits import DISPATCH_QUEUE, WAITS, share
from termnode.lanes.calls import Reply, Sealed
from termnode.lanes.native_lane import NativeCall

ROUNDS: Final = 8
"""Checks of leases for one request: each is good for five seconds, for its turn to come in."""


@dataclass(slots=True, eq=False)
class Job:
    """One request. ``reply`` is what it has waited for, once that is known: still to be allowed."""

    call: NativeCall
    request: Request
    reply: Reply | None = None
    rounds: int = 0
    begun: bool = False
    """Whether something may have been done of it."""
    answered: bool = False

    @property
    def who(self) -> Hashable:
        """The process that asks, whatever connections it has: one caller, when places are few."""
        principal = self.request.principal
        return None if principal is None else (principal.unix_uid, principal.peer_pid)

    def send(self, reply: Sealed) -> None:
        """Answer it."""
        self.answered = True
        # False means that nobody is there to hear it any more; the ledger has it.
        self.request.respond(reply.rc, reply.raw)

    def next_round(self) -> None:
        """Another check of its caller's lease. Raises Refusal UNAVAILABLE when there were many."""
        self.rounds += 1
        if self.rounds > ROUNDS:
            raise Refusal(
                ErrorCode.UNAVAILABLE,
                "the terminal is too busy to keep up with your lease: send it again",
                reason="too_busy",
            )


@dataclass(slots=True)
class Places:
    """Places that are taken, and by whom; one caller gets half of them at most.

    ``reason`` and ``share_reason`` are those of refusals, ``words`` say what takes the places.
    """

    most: int
    reason: str
    share_reason: str
    words: str
    _taken: Counter[Hashable] = field(default_factory=Counter, init=False)

    def __len__(self) -> int:
        return self._taken.total()

    def take(self, who: Hashable) -> None:
        """Take one. Raises Refusal RESOURCE_LIMIT when there is none, or none for this caller."""
        if len(self) >= self.most:
            message = f"{self.most} {self.words}: wait for replies, then send it again"
            raise limit_reached(self.reason, self.most, message)
        most = share(self.most)
        if self._taken.get(who, 0) >= most:
            message = (
                f"{most} of your {self.words}, half of all there may be: wait for their replies"
            )
            raise limit_reached(self.share_reason, most, message)
        self._taken[who] += 1

    def leave(self, who: Hashable) -> None:
        """Give one back."""
        self._taken[who] -= 1
        if not self._taken[who]:
            del self._taken[who]


def queue_places(most: int = DISPATCH_QUEUE) -> Places:
    """For mutations that wait for their turn; the one that runs has left."""
    return Places(
        most, "dispatch_queue_full", "dispatch_queue_share", "requests wait for their turn"
    )


def wait_places(most: int = WAITS) -> Places:
    """For waits."""
    return Places(most, "waits", "waits_share", "waits are under way")
