"""Carries out what the lane decided: reads at once, mutations one by one, waits beside both."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

import trio

from brokerd.client import (
    BrokerLost,
    Bus,
    BusError,
    NotConnected,
    Refusal,
    Request,
    RequestTimeout,
    wait_process_end,
    where,
)
from termnode.control.spec import Kind
from termnode.lanes.calls import Admitted, Answer, Call, Reply, Sealed, Settled, Ticket
from termnode.lanes.global_lane import GlobalLane
from termnode.service.mutations import MUTATIONS
from termnode.service.reads import READS
from termnode.service.state import Later, Result, State
from termnode.service.waits import wait

TO_RUN: Final = 256
"""Room for admitted mutations; the lane admits fewer."""

NAME_RETRY_S: Final = 1.0
FIRST_RETRY_S: Final = 0.1

log = logging.getLogger("termnode.service")


class Dispatcher:
    """Answers the requests for one service name from one lane."""

    def __init__(self, lane: GlobalLane, state: State, clock: Callable[[], float]) -> None:
        self._lane = lane
        self._state = state
        self._clock = clock
        self._to_run, self._runs = trio.open_memory_channel[Ticket](TO_RUN)

    async def run(
        self, bus: Bus, name: str, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Serve ``name`` for ever; ``started`` once it is registered.

        Raises NameTaken when another connection holds the name from the start, and Refused when
        the broker will not have it. A broker that dies meanwhile ends nothing: it comes back.
        """
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._run_mutations, nursery)
            await self._first_listen(bus, name, nursery, task_status)
            while True:
                await trio.sleep(NAME_RETRY_S)
                try:
                    await self._listen(bus, name, nursery, _nobody)
                except BusError as error:
                    log.warning("the name %s is not served now: %s", name, error)

    async def _first_listen(
        self, bus: Bus, name: str, nursery: trio.Nursery, task_status: trio.TaskStatus[None]
    ) -> None:
        """As `_listen`; begins again while the broker goes away before it has answered."""
        while True:
            try:
                await self._listen(bus, name, nursery, task_status.started)
            except (BrokerLost, NotConnected, RequestTimeout):
                log.warning("the broker went away while the name was being registered")
                await trio.sleep(FIRST_RETRY_S)
            else:
                return

    async def _listen(
        self, bus: Bus, name: str, nursery: trio.Nursery, when_served: Callable[[], None]
    ) -> None:
        """Take requests until the name is lost for good, or to somebody else, under a new broker.

        Raises only before ``when_served`` is called: NameTaken, Refused, or the bus's own errors.
        """
        async with bus.attend(name, lambda request: self._take(request, nursery)) as attendance:
            when_served()
            try:
                await attendance.wait_lost()
            except BusError as error:
                log.error("the name %s was lost; trying to get it back: %s", name, error)

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
            self._settle(ticket, self._read(ticket))
        elif ticket.spec.kind is Kind.WAIT:
            nursery.start_soon(self._wait, ticket)
        else:
            self._to_run.send_nowait(ticket)

    def _read(self, ticket: Ticket) -> Reply | None:
        try:
            return Reply.ok(**READS[ticket.spec.name](self._state, ticket.args))
        except Refusal as refusal:
            return Reply.refused(refusal)
        except Exception as error:  # noqa: BLE001  # one request's failure is not the service's
            _log_failure(ticket, error)
            return None

    async def _run_mutations(self, nursery: trio.Nursery) -> None:
        async for ticket in self._runs:
            if self._forbidden_since(ticket):
                continue
            work = partial(MUTATIONS[ticket.spec.name], self._state, ticket.args)
            outcome = await self._attempt(ticket, work)
            if callable(outcome):
                nursery.start_soon(self._finish, ticket, outcome)
            else:
                self._settle(ticket, outcome)

    async def _wait(self, ticket: Ticket) -> None:
        """Carry out a wait; it ends with the process that asked, to make room for others."""
        outcome: Reply | Later | None = None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_cancel_with_requester, ticket, nursery.cancel_scope)
            outcome = await self._attempt(ticket, partial(wait, self._state, ticket.args))
            nursery.cancel_scope.cancel()
        if not self._forbidden_since(ticket):
            assert not callable(outcome), "a wait has nothing later"
            self._settle(ticket, outcome)

    def _forbidden_since(self, ticket: Ticket) -> bool:
        """Whether the posture forbids by now what it allowed when the request came."""
        settled = self._lane.recheck(ticket, self._clock())
        if settled is not None:
            _send_all(settled)
        return settled is not None

    async def _finish(self, ticket: Ticket, work: Later) -> None:
        outcome = await self._attempt(ticket, work)
        assert not callable(outcome), "what is waited for later has an end"
        self._settle(ticket, outcome)

    async def _attempt(
        self, ticket: Ticket, work: Callable[[], Awaitable[Result | Later]]
    ) -> Reply | Later | None:
        """What the work came to; None when it failed in a way that nobody foresaw."""
        try:
            result = await work()
        except Refusal as refusal:
            return Reply.refused(refusal)
        except Exception as error:  # noqa: BLE001  # as in _read
            _log_failure(ticket, error)
            return None
        return result if callable(result) else Reply.ok(**result)

    def _settle(self, ticket: Ticket, reply: Reply | None) -> None:
        now = self._clock()
        settled = (
            self._lane.abandon(ticket, now)
            if reply is None
            else self._lane.settle(ticket, reply, now)
        )
        _send_all(settled)


async def _cancel_with_requester(ticket: Ticket, scope: trio.CancelScope) -> None:
    pid = None if ticket.principal is None else ticket.principal.peer_pid
    if pid is not None:
        await wait_process_end(pid)
        scope.cancel()


def _nobody() -> None:
    """Nobody waits for the name to be served again."""


def _send_all(settled: Settled) -> None:
    for call in settled.calls:
        _send(call, settled.reply)


def _send(call: Call, reply: Sealed) -> None:
    assert isinstance(call.reply_to, Request)
    # False means that nobody is there to hear it any more; the record has it.
    call.reply_to.respond(reply.rc, reply.raw)


def _log_failure(ticket: Ticket, error: Exception) -> None:
    log.error("%s failed: %s", ticket.spec.name, where(error))
