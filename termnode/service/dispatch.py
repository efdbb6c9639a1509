"""Carries out what the lane decided: reads at once, mutations one by one, waits beside both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final, NamedTuple, TypeAlias

import trio

from brokerd.client import Bus, Request, limit_reached
from termnode.control.spec import Kind
from termnode.lanes.calls import Admitted, Answer, Call, Caller, Reply, Sealed, Settled, Ticket
from termnode.lanes.global_lane import GlobalLane
from termnode.lanes.who import summary
from termnode.service.attempts import attempt, attempt_now, attempt_wait
from termnode.service.events.subscribing import subscribe
from termnode.service.input.authors import Author
from termnode.service.keeping.name_keeper import serve_name
from termnode.service.looking.reads import READS
from termnode.service.mutations import MUTATIONS
from termnode.service.state import Args, Later, Result, State, Work
from termnode.service.viewing.asked import ask
from termnode.service.viewing.opening import open_view
from termnode.service.waiting.waits import wait

TO_RUN: Final = 256
"""Room for mutations of both lanes and of people; they admit fewer."""

SUBSCRIPTIONS: Final[Mapping[str, Callable[[Caller | None, State, Args], Result]]] = {
    "term.events": subscribe,
    "term.view.open": open_view,
}

PEOPLE_WAITING: Final = 64
"""Commands of people that wait among the mutations; more are refused."""

OnSettled: TypeAlias = Callable[[Ticket, Reply | None, Sealed], None]
"""Told of each mutation that was carried out, or given up (without a reply), after its answer."""


class _Queued(NamedTuple):
    """A mutation that waits for its turn, and how many human inputs there were when it came."""

    ticket: Ticket
    human_inputs: int


class Dispatcher:
    """Answers the requests for one service name from one lane."""

    def __init__(
        self, lane: GlobalLane, state: State, clock: Callable[[], float], on_settled: OnSettled
    ) -> None:
        self._lane = lane
        self._state = state
        self._clock = clock
        self._on_settled = on_settled
        self._to_run, self._runs = trio.open_memory_channel[_Queued | Work](TO_RUN)
        self._people_waiting = 0
        self._questions: Counter[int] = Counter()
        state.enqueue = self.enqueue

    async def run(
        self, bus: Bus, name: str, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Serve ``name`` for ever; ``started`` once it is registered.

        Raises NameTaken when another connection holds the name from the start, and Refused when
        the broker will not have it. A broker that dies meanwhile ends nothing: it comes back.
        """
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._run_mutations, nursery)
            await serve_name(
                bus, name, lambda request: self._take(request, nursery), task_status=task_status
            )

    def enqueue(self, work: Work) -> None:
        """A person's command, behind the mutations that came before. Raises Refusal."""
        if self._people_waiting >= PEOPLE_WAITING:
            message = f"{PEOPLE_WAITING} commands already wait: try again when they are done"
            raise limit_reached("commands", PEOPLE_WAITING, message)
        self._people_waiting += 1
        self.add(partial(self._for_person, work))

    def add(self, work: Work) -> None:
        """Behind the mutations that came before; its owner bounds how many of its own wait."""
        self._to_run.send_nowait(work)

    async def _for_person(self, work: Work) -> None:
        self._people_waiting -= 1
        await work()

    def _take(self, request: Request, nursery: trio.Nursery) -> None:
        """Judge one request and begin it, without a checkpoint: requests keep their order."""
        call = Call(request.principal, request.command, request.raw, request)
        verdict = self._lane.admit(call, self._clock())
        if isinstance(verdict, Answer):
            _send(call, verdict.reply)
        elif isinstance(verdict, Admitted):
            self._begin(verdict.ticket, nursery)

    def _begin(self, ticket: Ticket, nursery: trio.Nursery) -> None:
        if ticket.spec.kind is Kind.READ:
            self._settle(ticket, self._at_once(ticket, READS[ticket.spec.name]))
        elif ticket.spec.kind is Kind.SUBSCRIPTION:
            begin = partial(SUBSCRIPTIONS[ticket.spec.name], ticket.principal)
            self._settle(ticket, self._at_once(ticket, begin))
        elif ticket.spec.kind is Kind.WAIT:
            nursery.start_soon(self._wait, ticket)
        else:
            self._to_run.send_nowait(_Queued(ticket, self._state.people.inputs))

    def _at_once(self, ticket: Ticket, look: Callable[[State, Args], Result]) -> Reply | None:
        return attempt_now(ticket.spec.name, partial(look, self._state, ticket.args))

    async def _run_mutations(self, nursery: trio.Nursery) -> None:
        async for queued in self._runs:
            if not isinstance(queued, _Queued):
                await queued()
                continue
            ticket, self._state.inputs.since = queued
            if self._forbidden_since(ticket):
                continue
            ticket.pane = _pane(ticket.args, self._state)
            self._state.inputs.author = _author(ticket)
            work = partial(MUTATIONS[ticket.spec.name], self._state, ticket.args)
            outcome = await attempt(ticket.spec.name, work)
            if callable(outcome):
                nursery.start_soon(self._finish, ticket, outcome)
            else:
                self._settle(ticket, outcome)

    async def _wait(self, ticket: Ticket) -> None:
        """Carry out a wait; it ends with the process that asked, to make room for others."""
        pid = None if ticket.principal is None else ticket.principal.peer_pid
        outcome = await attempt_wait(ticket.spec.name, self._waits(ticket), pid)
        if not self._forbidden_since(ticket):
            self._settle(ticket, outcome)

    def _waits(self, ticket: Ticket) -> Callable[[], Awaitable[Result]]:
        if ticket.spec.name == "term.ask":
            return partial(ask, ticket.principal, self._state, ticket.args, open_of=self._questions)
        return partial(wait, self._state, ticket.args)

    def _forbidden_since(self, ticket: Ticket) -> bool:
        """Whether the posture forbids by now what it allowed when the request came."""
        settled = self._lane.recheck(ticket, self._clock())
        if settled is not None:
            _send_all(settled)
        return settled is not None

    async def _finish(self, ticket: Ticket, work: Later) -> None:
        outcome = await attempt(ticket.spec.name, work)
        assert not callable(outcome), "what is waited for later has an end"
        self._settle(ticket, outcome)

    def _settle(self, ticket: Ticket, reply: Reply | None) -> None:
        now = self._clock()
        settled = (
            self._lane.abandon(ticket, now)
            if reply is None
            else self._lane.settle(ticket, reply, now)
        )
        _send_all(settled)
        if ticket.spec.mutates:
            self._on_settled(ticket, reply, settled.reply)


def _author(ticket: Ticket) -> Author:
    principal = ticket.principal
    pid = None if principal is None else principal.peer_pid
    return Author(summary(principal), ticket.spec.name, pid)


def _pane(args: Args, state: State) -> int | None:
    """The pane that a verb acts on now, as far as its arguments say."""
    begun = state.inputs.pastes.pane_of(args.get("operation", ""))
    pane: int | None = args.get("pane", begun or state.workspace.active_pane)
    return pane


def _send_all(settled: Settled) -> None:
    for call in settled.calls:
        _send(call, settled.reply)


def _send(call: Call, reply: Sealed) -> None:
    assert isinstance(call.reply_to, Request)
    # False means that nobody is there to hear it any more; the record has it.
    call.reply_to.respond(reply.rc, reply.raw)
