"""The ends of commands, told in the answers to their submissions when their callers wait for them.

That a command was taken is recorded before anything is waited for here; from then on nothing but
the caller's own place is held. Who may not be told the result any more, or cannot, is told that it
was taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from brokerd.client import RC_OK, Refusal
from termnode.control.native.decisions import Go
from termnode.control.native.forwards import Forward
from termnode.lanes.calls import Reply, Sealed
from termnode.service.attempts import attempt_wait
from termnode.service.native import relaying
from termnode.service.native.desk import Desk
from termnode.service.native.jobs import Job
from termnode.service.native.line import Line, Ways
from termnode.service.native.questions import Questions
from termnode.service.state import Result


class Taken(NamedTuple):
    """A submission that its shell took, and that is recorded; ``sealed`` is ``reply``."""

    job: Job
    go: Go
    forward: Forward
    reply: Reply
    sealed: Sealed


class Ends:
    """See the module."""

    def __init__(self, line: Line, questions: Questions, desk: Desk, ways: Ways) -> None:
        self._line = line
        self._questions = questions
        self._desk = desk
        self._ways = ways

    def allowed(self, go: Go, reply: Reply | None) -> tuple[Reply | None, Reply | None]:
        """What may be told now of the answer to a submission; and its acceptance alone, when there
        is more to it."""
        if reply is None or relaying.RESULT not in reply.body:
            return reply, None
        short = Reply(reply.rc, relaying.without_result(reply.body))
        return (reply, short) if self._ways.stands(go) else (short, None)

    def left_ms(self, go: Go, reply: Reply | None) -> int:
        """How much of its wait is left of a submission with that answer; 0 when it is answered."""
        taken = reply is not None and reply.rc == RC_OK and not relaying.is_over(reply.body)
        return relaying.wait_ms(go) - relaying.first_wait_ms(go) if taken else 0

    async def answer(self, taken: Taken, wait: int) -> None:
        """Wait for the end, for ``wait`` milliseconds, and answer: with it, or the acceptance.

        The wait ends with the process that asked; without a place there is none.
        """
        job, go, forward = taken.job, taken.go, taken.forward
        try:
            self._line.waits.take(job.who)
        except Refusal:
            job.send(taken.sealed)
            return
        try:
            work = partial(self._questions.end_of, go, forward, wait)
            found = await attempt_wait(go.spec.name, work, go.principal.peer_pid)
        finally:
            self._line.waits.leave(job.who)
        told = {} if found is None or found.rc != RC_OK else self._told(go, found.body)
        self._desk.tell(job, go, Reply.ok(**{**taken.reply.body, **told}), taken.sealed)

    def _told(self, go: Go, found: Mapping[str, object]) -> Result:
        allowed = self._ways.stands(go)
        names = ("state", relaying.RESULT) if allowed else ("state",)
        return {name: found[name] for name in names if name in found}
