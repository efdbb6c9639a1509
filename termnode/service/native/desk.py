"""Where requests of the native lane are decided, and answered when there is nothing to be done."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from brokerd.client import Refusal, forbidden
from termnode.control.native.decisions import Go, Need
from termnode.control.native.ledger import Reservation
from termnode.lanes.calls import OK, Reply, Sealed
from termnode.lanes.native_lane import NativeLane
from termnode.service.native.checks import LeaseChecks
from termnode.service.native.jobs import Job
from termnode.service.native.performing import Done


class Desk:
    """``clock`` is monotonic, in seconds, ``now_ms`` the clock of leases.

    ``proceed`` goes on with a job, from the start, once its caller's lease was checked.
    """

    def __init__(
        self,
        lane: NativeLane,
        checks: LeaseChecks,
        clock: Callable[[], float],
        now_ms: Callable[[], int],
    ) -> None:
        self._lane = lane
        self._checks = checks
        self._clock = clock
        self._now_ms = now_ms
        self.proceed: Callable[[Job], object] = self.decide

    def decide(self, job: Job) -> Go | None:
        """Leave to run in this step; None when it was answered, or waits for a lease."""
        verdict = self._lane.judge(job.call, self._clock(), self._now_ms())
        if isinstance(verdict, Sealed):
            job.send(verdict)
        elif isinstance(verdict, Need):
            self.guarded(job, lambda: self._check(job, verdict))
        else:
            return verdict
        return None

    def guarded(self, job: Job, begin: Callable[[], None]) -> None:
        """Begin something that may be refused for want of room; then nothing was spent."""
        try:
            begin()
        except Refusal as refusal:
            self.refuse(job, refusal)

    def refuse(self, job: Job, refusal: Refusal) -> None:
        """Answer a refusal; nothing of it is kept."""
        job.send(self._lane.refuse(job.call, refusal, self._clock()))

    def settle(self, job: Job, go: Go, reply: Reply) -> None:
        """Answer what is no mutation."""
        job.send(self._lane.settle(job.call, go, reply, self._clock()))

    def reserve(self, go: Go, *, again: bool = False) -> Reservation[Sealed]:
        """Spend a mutation's id, in the step of its decision. Raises Refusal RESOURCE_LIMIT."""
        return self._lane.reserve(go, self._clock(), again=again)

    def record(
        self, job: Job, go: Go, reservation: Reservation[Sealed], did: Done | Reply | None
    ) -> Sealed:
        """Keep what a mutation came to, and answer it. None: nobody knows what it did."""
        later = did.later if isinstance(did, Done) else None
        reply = Reply.ok(**did.body) if isinstance(did, Done) else did
        now = self._clock()
        sealed = self._lane.record(job.call, go, reservation, reply, now=now, later=later)
        job.send(sealed)
        return sealed

    def keep(
        self,
        job: Job,
        go: Go,
        reservation: Reservation[Sealed],
        reply: Reply | None,
        short: Reply | None,
    ) -> Sealed:
        """As `record`, and not answered yet. ``short``: as `NativeLane.record`."""
        now = self._clock()
        return self._lane.record(job.call, go, reservation, reply, now=now, short=short)

    def tell(self, job: Job, go: Go, reply: Reply, instead: Sealed) -> None:
        """Answer a mutation that was recorded before; ``instead`` of what cannot travel."""
        sealed = self._lane.seal(go, reply)
        job.send(sealed if sealed.outcome == OK else instead)

    def _check(self, job: Job, need: Need) -> None:
        job.next_round()
        self._checks.want(need.ref, partial(self._checked, job))

    def _checked(self, job: Job, confirmed: bool) -> None:
        if confirmed:
            self.proceed(job)
        else:
            self.refuse(job, forbidden())
