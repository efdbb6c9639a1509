"""Who may write to a pane, and until when; how each accepted input ends. No I/O.

Every accepted input has a lease of two seconds. It ends before its time when its right does: the
foreground generation rises, the caller's or the Term's own lease ends, the pane goes. In strict
posture a live lease keeps all other actors out (specs/control.md, "Input").
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

from termnode.control.native.callers import Actor

WRITTEN: Final = 256
"""Leases kept of input that is all written, per pane, and actors: those beyond end unnoticed. Of
what is not written the queue bounds the number."""


class Sent(Protocol):
    """What is read of input in the queue; `termnode.terminal.pieces.Piece` is one."""

    written: int

    @property
    def total(self) -> int:
        """Bytes admitted."""

    @property
    def all_written(self) -> bool | None:
        """Whether every byte reached the terminal; None while that is not decided."""


class Lease:
    """The right behind one accepted input. ``until`` is in seconds of the caller's clock.

    ``holds`` asks everything but the time and the foreground anew. ``on_settled`` is called once
    with the input when its end is known; ``on_ended`` after that, at most once, when the lease
    ended before its time or not every byte was written.
    """

    __slots__ = ("_ended", "_on_ended", "_on_settled", "_sent", "_told", "actor", "holds", "until")

    def __init__(
        self,
        actor: Actor,
        until: float,
        holds: Callable[[], bool],
        *,
        on_settled: Callable[[Sent], object],
        on_ended: Callable[[Sent], object],
    ) -> None:
        self.actor = actor
        self.until = until
        self.holds = holds
        self._on_settled = on_settled
        self._on_ended = on_ended
        self._sent: Sent | None = None
        self._ended = False
        self._told = False

    def live(self, now: float) -> bool:
        """Whether it has not ended yet, as far as is known without asking anew."""
        return not self._ended and now < self.until

    @property
    def ended(self) -> bool:
        """Whether it was ended before its time."""
        return self._ended

    def end(self) -> None:
        """Its right is over, before its time. Does nothing the second time."""
        self._ended = True
        self._conclude()

    def settled(self, sent: Sent) -> None:
        """What became of the input is known now. Once only."""
        self._sent = sent
        self._on_settled(sent)
        self._conclude()

    def _conclude(self) -> None:
        sent = self._sent
        if sent is not None and not self._told and (self._ended or not sent.all_written):
            self._told = True
            self._on_ended(sent)


class Writer:
    """The leases of one pane. ``clock`` is monotonic, in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._waiting: dict[Lease, None] = {}
        self._written: deque[Lease] = deque(maxlen=WRITTEN)
        self._latest: dict[Actor, Lease] = {}

    @property
    def waiting(self) -> int:
        """Inputs that are accepted and not settled."""
        return len(self._waiting)

    def is_busy(self, actor: Actor) -> bool:
        """Whether another actor's lease is live: asked anew, and ended when its right is gone."""
        now = self._forget_lapsed()
        others = [each for each in self._latest.values() if each.actor != actor]
        live = [each for each in others if _is_live(each, now)]  # all of them are asked
        return bool(live)

    def claim(self, lease: Lease) -> None:
        """The input was admitted, in this step."""
        self._forget_lapsed()
        self._waiting[lease] = None
        self._latest.pop(lease.actor, None)
        self._latest[lease.actor] = lease
        if len(self._latest) > WRITTEN:
            del self._latest[next(iter(self._latest))]

    def settled(self, lease: Lease, sent: Sent) -> None:
        """What became of an input whose lease was claimed."""
        del self._waiting[lease]
        self._written.append(lease)
        lease.settled(sent)

    def end(self) -> None:
        """No right to write there is left. Touches no queue: its pieces are asked for theirs."""
        now = self._forget_lapsed()
        leases = [*self._written, *self._waiting]
        self._written.clear()
        self._latest.clear()
        for lease in leases:
            if lease.live(now):
                lease.end()

    def recheck(self) -> None:
        """End the leases whose right is gone, also of input that is all written."""
        now = self._forget_lapsed()
        for lease in [*self._written, *self._waiting]:
            _is_live(lease, now)

    def _forget_lapsed(self) -> float:
        """Let go of what time has ended; the time."""
        now = self._clock()
        while self._written and not self._written[0].live(now):
            self._written.popleft()
        while self._latest and not (first := next(iter(self._latest.values()))).live(now):
            del self._latest[first.actor]
        return now


def _is_live(lease: Lease, now: float) -> bool:
    """Asked anew; ended when its right is gone."""
    if lease.live(now) and not lease.holds():
        lease.end()
    return lease.live(now)
