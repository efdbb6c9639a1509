"""Carries out the requests of the native lane: reads at once, mutations one by one, waits beside.

After every wait (for a turn, a lease, a screen) the gate decides anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import trio

from brokerd.client import Request
from termnode.control.native.decisions import Go
from termnode.control.native.request import Ask
from termnode.control.spec import Kind
from termnode.lanes.calls import Reply
from termnode.lanes.native_lane import NativeCall
from termnode.lanes.sealing import abandoned
from termnode.service.attempts import attempt_now, attempt_wait
from termnode.service.native.desk import Desk
from termnode.service.native.jobs import Job, Places
from termnode.service.native.parts import Native
from termnode.service.native.reads import READS, Read, wait
from termnode.service.native.turns import Turns
from termnode.service.state import Result


class NativeDispatcher:
    """See the module. ``subscribe`` begins to tell of events; ``clock`` is that of the desk.

    ``forward`` begins what is for a pane's shell; it may raise a Refusal, as `Turns.queue`.
    """

    def __init__(
        self,
        native: Native,
        desk: Desk,
        turns: Turns,
        *,
        waits: Places,
        subscribe: Callable[[Go], Result],
        clock: Callable[[], float],
        forward: Callable[[Job, Go], None] | None = None,
    ) -> None:
        self._forward = forward
        self._native = native
        self._desk = desk
        self._turns = turns
        self._waits = waits
        self._reads: Final[Mapping[str, Read]] = {
            **READS,
            "term.events": lambda _native, go: subscribe(go),
        }
        self._clock = clock
        self._nursery: trio.Nursery | None = None
        desk.proceed = self._proceed

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Hold the waits; ends by cancellation only."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            task_status.started()
            await trio.sleep_forever()

    def take(self, request: Request) -> None:
        """Judge a request and begin it, without a checkpoint: requests keep their order."""
        ask = Ask(request.principal, request.command, request.raw, request)
        self._proceed(Job(NativeCall(ask, self._clock()), request))

    def _proceed(self, job: Job) -> None:
        """Decide, and begin what comes next."""
        go = self._desk.decide(job)
        if go is not None:
            self._desk.guarded(job, lambda: self._begin(job, go))

    def _begin(self, job: Job, go: Go) -> None:
        if job.reply is not None:
            self._desk.settle(job, go, job.reply)
        elif go.spec.forwarded is not None and self._forward is not None:
            self._forward(job, go)
        elif go.spec.mutates:
            self._turns.queue(job)
        elif go.spec.kind is Kind.WAIT:
            assert self._nursery is not None, "requests are taken while the lane is served"
            self._waits.take(job.who)
            self._nursery.start_soon(self._wait, job, go)
        else:
            self._desk.settle(job, go, self._read(go))

    def _read(self, go: Go) -> Reply:
        name = go.spec.name
        look = partial(self._reads[name], self._native, go)
        return attempt_now(name, look) or abandoned(go.spec)

    async def _wait(self, job: Job, go: Go) -> None:
        """It ends with the process that asked. What it saw is told if that is allowed then."""
        try:
            work = partial(wait, self._native, go)
            found = await attempt_wait(go.spec.name, work, go.principal.peer_pid)
            job.reply = found or abandoned(go.spec)
        finally:
            self._waits.leave(job.who)
        self._proceed(job)
