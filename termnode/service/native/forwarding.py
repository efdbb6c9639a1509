"""Passes requests on to panes' shells, each to exactly the shell that its target names.

A submission takes its turn among the mutations, so that its caller's ids keep their order; there
it is decided, its id is spent and noted, and nobody waits for what follows: it is sent and its
answer is taken beside.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import trio

from brokerd.client import BusError, ErrorCode, Refusal, Reply
from termnode.control.native.decisions import Go
from termnode.control.native.exec_table import EXECUTE
from termnode.control.native.forwards import Forward, Forwards
from termnode.control.native.ledger import Ledger, Reservation
from termnode.control.native.targets import Target
from termnode.control.native.world import World
from termnode.lanes.calls import OK, Sealed
from termnode.service.attempts import attempt
from termnode.service.native import refusing, relaying
from termnode.service.native.desk import Desk
from termnode.service.native.ends import Ends, Taken
from termnode.service.native.jobs import Job
from termnode.service.native.line import Asks, Line, Ways, command, family
from termnode.service.native.questions import Questions
from termnode.service.state import Result

_REMEMBERED: Final = frozenset({OK, str(ErrorCode.UNKNOWN_OUTCOME)})
"""Outcomes of submissions after which they are remembered: others ran nothing, and are recorded."""

TASK_END_S: Final = 30.0
"""After its timeout a task is ended, in the hard way, and its last words are read."""


class Forwarding:
    """See the module. It asks over the connection that ``run`` is given."""

    def __init__(
        self, world: World, ledger: Ledger[Sealed], forwards: Forwards, desk: Desk, ways: Ways
    ) -> None:
        self._world = world
        self._forwards = forwards
        self._desk = desk
        self._ways = ways
        self._line = Line(ways.find, ways.stands)
        self._questions = Questions(self._line, ledger, forwards, desk, ways)
        self._ends = Ends(self._line, self._questions, desk, ways)

    async def run(
        self, bus: Asks, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Hold what is under way; ends by cancellation only."""
        await self._line.run(bus, task_status)

    def begin(self, job: Job, go: Go) -> None:
        """Begin it, in the step of its decision. Raises Refusal, having spent nothing."""
        if go.spec.mutates:
            self._ways.queue.take(job.who)
            self._ways.add(partial(self._turn, job))
        else:
            self._questions.begin(job, go)

    # -- submissions ---------------------------------------------------------------------------

    async def _turn(self, job: Job) -> None:
        """Its turn has come: nothing is waited for in it. Never raises."""
        self._ways.queue.leave(job.who)
        go = self._desk.decide(job)
        if go is not None:
            self._desk.guarded(job, lambda: self._submit(job, go))

    def _submit(self, job: Job, go: Go) -> None:
        tasks = self._line.tasks
        self._line.shell(go)
        self._line.calls.take(job.who)
        try:
            forward, reservation = self._reserve(go)
        except Refusal:
            self._line.calls.leave(job.who)
            raise
        tasks.start_soon(self._carry_out, job, go, forward, reservation)

    def _reserve(self, go: Go) -> tuple[Forward, Reservation[Sealed]]:
        """Spend the id and note it, both or neither; of a repeat it is the one noted before."""
        forwards, now, request = self._forwards, self._ways.clock(), go.request
        assert request.request_id is not None, "the gate lets no mutation without an id through"
        key = (go.actor, request.request_id)
        known = forwards.find(key, request.digest, now)
        if known is not None:
            return known, self._desk.reserve(go, again=True)
        forwards.check_room(now, self._is_there)
        reservation = self._desk.reserve(go)
        return forwards.add(key, request.digest, go.target, family(go), now), reservation

    async def _carry_out(
        self,
        job: Job,
        go: Go,
        forward: Forward,
        reservation: Reservation[Sealed],
    ) -> None:
        with reservation:
            try:
                found = await attempt(go.spec.name, partial(self._send, go, forward))
                assert not callable(found), "what is passed on has nothing later"
            finally:
                self._line.calls.leave(job.who)
            told, short = self._ends.allowed(go, found)
            wait = self._ends.left_ms(go, told)
            sealed = self._desk.keep(job, go, reservation, told, short)
        if not wait:
            job.send(sealed)
        if not (sealed.about_load or sealed.outcome in _REMEMBERED):
            self._forwards.forget(forward)
        self._ways.on_settled(go, sealed)
        if wait and told is not None:
            await self._ends.answer(Taken(job, go, forward, told, sealed), wait)

    async def _send(self, go: Go, forward: Forward) -> Result:
        shell = self._line.still(go)
        again = bool(forward.number)
        number = self._forwards.sending(forward, self._ways.clock())
        body = relaying.submission(go, relaying.child_target(shell.record, shell.ref), number)
        try:
            # Nothing is awaited before it is sent: ids at the shell rise in the order of sending.
            wait = relaying.first_wait_ms(go)
            reply = await self._line.request(command(go), shell, body, wait)
        except BusError as error:
            raise refusing.not_answered(error, submits=True) from None
        return {**self._taken(go, forward, reply, again=again), "target": go.target.to_json()}

    def _taken(self, go: Go, forward: Forward, reply: Reply, *, again: bool) -> Result:
        now = self._ways.clock()
        try:
            operation, body = relaying.taken(reply, again=again)
        except Refusal as refusal:
            perhaps = relaying.operation_of(refusal.details)
            if perhaps is not None:
                self._forwards.accepted(forward, perhaps, now, _within(go))
            raise
        self._forwards.accepted(forward, operation, now, _within(go))
        over = relaying.is_over(body)
        if over:
            self._forwards.ended(forward, now)
        if forward.family == EXECUTE and not (over and again):  # what it wrote may still wait
            self._ways.accepted(go, operation)
        return body

    def _is_there(self, target: Target) -> bool:
        facts = self._world.pane(target.pane_id)
        return facts is not None and facts.generation == target.pane_generation


def _within(go: Go) -> float | None:
    """Seconds within which it will have ended; None for a command at the prompt."""
    timeout = go.args.get("timeout_ms")
    return timeout / 1000 + TASK_END_S if isinstance(timeout, int) else None
