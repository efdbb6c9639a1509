"""Mutations of the native lane: each takes its turn among those of all lanes and of people.

At its turn everything is decided again; the id is reserved and the verb begun in that very step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeAlias

from brokerd.client import ErrorCode, Refusal
from termnode.control.native.decisions import Go
from termnode.control.native.ledger import Reservation
from termnode.lanes.calls import Reply, Sealed
from termnode.lanes.native_lane import native_summary
from termnode.service.attempts import attempt, log_failure
from termnode.service.input.authors import Author
from termnode.service.native.desk import Desk
from termnode.service.native.jobs import Job, Places
from termnode.service.native.performing import Done, Perform, Unfinished
from termnode.service.state import State, Work

OnSettled: TypeAlias = Callable[[Go, Sealed], object]
"""Told of each mutation that was carried out, after its answer. Must be quick."""


class Turns:
    """``add`` puts work among the mutations; ``places`` bounds how many of this lane wait there."""

    def __init__(
        self,
        state: State,
        desk: Desk,
        *,
        add: Callable[[Work], None],
        perform: Mapping[str, Perform],
        on_settled: OnSettled,
        places: Places,
    ) -> None:
        self._state = state
        self._desk = desk
        self._add = add
        self._perform = perform
        self._on_settled = on_settled
        self._places = places

    def queue(self, job: Job) -> None:
        """Let it wait for its turn. Raises Refusal RESOURCE_LIMIT (`dispatch_queue_full`)."""
        self._places.take(job.who)
        self._add(partial(self._turn, job))

    async def _turn(self, job: Job) -> None:
        """Its turn has come. Never raises: all others wait for whoever runs this."""
        self._places.leave(job.who)
        try:
            await self._carry_out(job)
        except Exception as error:  # noqa: BLE001  # one request's failure is not the service's
            log_failure("a mutation of the native lane", error)
            self._give_up(job)

    async def _carry_out(self, job: Job) -> None:
        go = self._desk.decide(job)
        if go is None:
            return
        try:
            reservation = self._desk.reserve(go)
        except Refusal as refusal:
            self._desk.refuse(job, refusal)
            return
        with reservation:
            unfinished = self._begin(job, go, reservation)
            if unfinished is not None:
                outcome = await attempt(go.spec.name, unfinished)
                assert not callable(outcome), "what is waited for later has an end"
                self._record(job, go, reservation, outcome)

    def _begin(self, job: Job, go: Go, reservation: Reservation[Sealed]) -> Unfinished | None:
        """What can be done in the step of the decision; what is left to wait for."""
        name, inputs = go.spec.name, self._state.inputs
        job.begun = True
        who = native_summary(go.principal)
        inputs.since, inputs.author = None, Author(who, name, go.principal.peer_pid)
        try:
            done = self._perform[name](self._state, go)
        except Refusal as refusal:
            reservation.cancel()
            self._desk.refuse(job, refusal)
        except Exception as error:  # noqa: BLE001  # one request's failure is not the service's
            log_failure(name, error)
            self._record(job, go, reservation, None)
        else:
            if not isinstance(done, Done):
                return done
            self._record(job, go, reservation, done)
        return None

    def _give_up(self, job: Job) -> None:
        """Answer one that went wrong outside of its verb. When it had begun, its id stays spent."""
        if job.answered:
            return
        refusal = Refusal(
            ErrorCode.UNKNOWN_OUTCOME if job.begun else ErrorCode.UNAVAILABLE,
            "the terminal failed: look at what was done before you go on"
            if job.begun
            else "the terminal failed, and did nothing: send it again",
            reason="abandoned" if job.begun else "failed",
        )
        try:
            self._desk.refuse(job, refusal)
        except Exception as error:  # noqa: BLE001  # as above
            log_failure("an answer of the native lane", error)

    def _record(
        self, job: Job, go: Go, reservation: Reservation[Sealed], did: Done | Reply | None
    ) -> None:
        self._on_settled(go, self._desk.record(job, go, reservation, did))
