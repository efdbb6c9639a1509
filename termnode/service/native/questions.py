"""Questions about what was passed on to panes' shells: results, waited for, and cancellations.

They wait for no turn, and nobody waits for them. What was found is told if that is allowed then.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from brokerd.client import RC_OK, BusError, Refusal
from termnode.control.native import answers
from termnode.control.native.decisions import Go
from termnode.control.native.forwards import Forward, Forwards
from termnode.control.native.ledger import Ledger
from termnode.control.spec import Kind
from termnode.lanes.calls import Reply, Sealed
from termnode.lanes.sealing import abandoned
from termnode.service.attempts import attempt_wait
from termnode.service.identity.words import BoundShell
from termnode.service.native import refusing, relaying
from termnode.service.native.desk import Desk
from termnode.service.native.jobs import Job, Places
from termnode.service.native.line import Line, Ways, command, family
from termnode.service.state import Result

OF_RESULT: Final = "shell.execute.result"
"""What is asked after a command that was taken."""


class Questions:
    """See the module."""

    def __init__(
        self, line: Line, ledger: Ledger[Sealed], forwards: Forwards, desk: Desk, ways: Ways
    ) -> None:
        self._line = line
        self._ledger = ledger
        self._forwards = forwards
        self._desk = desk
        self._ways = ways

    def begin(self, job: Job, go: Go) -> None:
        """Ask, in the step of its decision. Raises Refusal, when nothing was asked."""
        forward, tasks = self._owned(go), self._line.tasks
        gone = self._gone(go, forward) if self._line.find(go.target.pane_id) is None else None
        if gone is not None:
            self._desk.settle(job, go, gone)
            return
        self._line.shell(go)
        places = self._line.waits if relaying.wait_ms(go) else self._line.calls
        places.take(job.who)
        tasks.start_soon(self._look, job, go, forward, places)

    def _owned(self, go: Go) -> Forward:
        operation = go.request.operation_id
        assert operation is not None, "the gate lets no question without an operation through"
        now = self._ways.clock()
        found = self._forwards.owned(go.actor, go.target, operation, family(go), now)
        if found is None:
            raise answers.unknown_operation(self._ledger.high_water(go.actor))
        return found

    async def end_of(self, go: Go, forward: Forward, wait: int) -> Result:
        """What a command that was taken has come to, within ``wait`` milliseconds. Raises Refusal,
        when nobody knows: it may still run."""
        if forward.operation is None:
            raise refusing.lost("the command is not remembered")
        try:
            shell = self._line.still(go)
            target = relaying.child_target(shell.record, shell.ref)
            body = relaying.result_question(target, forward.operation, wait)
            return await self._put(OF_RESULT, forward, shell, body, wait)
        except Refusal:
            gone = self._ended_with(go, forward)
            if gone is None:
                raise
            return gone

    def _gone(self, go: Go, forward: Forward) -> Reply | None:
        """The result of a command with which its shell ended, when that cannot tell it any more."""
        found = self._ended_with(go, forward) if go.spec.kind is Kind.WAIT else None
        return None if found is None else Reply.ok(**found, target=go.target.to_json())

    def _ended_with(self, go: Go, forward: Forward) -> Result | None:
        ended = self._ways.ended(go.target.pane_id)
        if ended is None or not (forward.operation and forward.at_the_prompt):
            return None
        return relaying.ended_with(forward.operation, ended, forward.sent)

    async def _look(self, job: Job, go: Go, forward: Forward, places: Places) -> None:
        """It ends with the process that asked."""
        try:
            work = partial(self._ask, go, forward)
            found = await attempt_wait(go.spec.name, work, go.principal.peer_pid)
        finally:
            places.leave(job.who)
        found = found or abandoned(go.spec)
        gone = None if found.rc == RC_OK else self._gone(go, forward)
        job.reply = gone or found
        self._desk.proceed(job)

    async def _ask(self, go: Go, forward: Forward) -> Result:
        shell = self._line.still(go)
        body = relaying.question(go, relaying.child_target(shell.record, shell.ref))
        found = await self._put(command(go), forward, shell, body, relaying.wait_ms(go))
        return {**found, "target": go.target.to_json()}

    async def _put(
        self, what: str, forward: Forward, shell: BoundShell, body: dict[str, object], wait: int
    ) -> Result:
        """Ask it of the shell. Raises Refusal."""
        try:
            reply = await self._line.request(what, shell, body, wait)
        except BusError as error:
            raise refusing.not_answered(error, submits=False) from None
        found = relaying.told(reply)
        if relaying.is_over(found):
            self._forwards.ended(forward, self._ways.clock())
        return found
