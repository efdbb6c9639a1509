"""The Trio side of one stream of events: a connection of its own, and a task that follows it.

A connection has one subscription, so each stream has a connection. What is not taken in time waits
in this process, then with the broker and the service; what was lost on the way is asked for again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from typing import Final, TypeAlias

import trio

from brokerd.client import Bus, BusError, DirectedEvents, background
from termnode.client.caller import Caller
from termnode.client.calls import Call
from termnode.client.errors import ServiceUnavailable, TermnodeError, closed
from termnode.client.following import Follower, Given, Lost, Taking
from termnode.client.seen import Event, Subscribed
from termnode.client.served import Served

Connect: TypeAlias = Callable[[], AbstractAsyncContextManager[Bus]]

WAITING: Final = 1_024
"""Events that wait in this process for being taken."""

ASK_AGAIN_S: Final = 20.0
"""After so long without an event the subscription is asked for again: the service may have let go
of it without a word."""

BYE_S: Final = 0.5

LOOK_S: Final = 0.01
"""What is waited for an event at least: without any time one that is here could not be taken."""


class Stream:
    """Events as ``call`` (of `termnode.client.watching.events`) asks for them, for one reader.

    It may be made in any thread; all else happens in the session's Trio run.
    """

    def __init__(self, call: Call[Subscribed]) -> None:
        after = call.body.get("after")
        self._call = call
        self._seen = Follower(after if isinstance(after, int) else None)
        self._scope = trio.CancelScope()
        self._turn = trio.CancelScope()
        self._stale = False
        self._error: TermnodeError | None = None
        # The bus keeps what waits; here one event is on its way to the reader.
        self._give, self._taken = trio.open_memory_channel[Event](0)
        self._given = Given()
        self._reading = trio.Lock()

    async def next(self, timeout: float | None, taking: Taking) -> Event | None:
        """The next event; None when none came within ``timeout`` seconds.

        One that was given to a ``taking`` that was given up comes first. Raises what ended the
        stream, SessionClosed after `close`.
        """
        patience = math.inf if timeout is None else max(LOOK_S, timeout)
        with trio.move_on_after(patience):
            async with self._reading:
                event = self._given.again() or await self._receive()
                return self._given.give(taking, event)
        return None

    async def _receive(self) -> Event:
        with suppress(trio.EndOfChannel):
            return await self._taken.receive()
        raise self._error or closed()

    def close(self) -> None:
        """End it. Call it from the Trio run that it is in."""
        self._scope.cancel()

    async def run(
        self,
        connect: Connect,
        served: Served,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Follow until closed; ``started`` once it is subscribed. Raises TermnodeError until then.

        Afterwards an error goes to the reader.
        """
        started = False

        def subscribed() -> None:
            nonlocal started
            started = True
            task_status.started()

        with self._give:
            try:
                await self._follow(connect, served, subscribed)
            except (TermnodeError, BusError) as error:
                self._error = _ours(error)
                if not started:
                    raise self._error from None

    async def _follow(
        self, connect: Connect, served: Served, subscribed: Callable[[], None]
    ) -> None:
        async with (
            connect() as bus,
            bus.subscribe_service(served.name, capacity=WAITING) as events,
        ):
            caller = Caller(bus, served)
            await caller.find()
            await self._subscribe(caller)
            subscribed()
            with self._scope:
                await self._give_all(bus, caller, events)
            self._give.close()
            # The service does not notice that a connection of a process that lives has gone.
            with trio.move_on_after(BYE_S), suppress(TermnodeError):
                await caller.ask(self._call.with_fields(stop=True))

    async def _give_all(self, bus: Bus, caller: Caller, events: DirectedEvents) -> None:
        async with background(partial(self._watch_epochs, bus)):
            while True:
                event = await self._next(events)
                if event is None:
                    await self._subscribe(caller)
                elif isinstance(event, Event):
                    await self._give.send(event)

    async def _next(self, events: DirectedEvents) -> Event | bool | None:
        """The next event; True for one that was seen before, None when it is time to ask again."""
        with trio.move_on_after(ASK_AGAIN_S) as self._turn:
            if self._stale:
                self._stale = False
                return None
            message = await anext(events)
            with suppress(Lost):
                return self._seen.take(message.body or {}) or True
        self._stale = False
        return None

    async def _subscribe(self, caller: Caller) -> None:
        call = self._call
        if self._seen.after is not None:
            call = call.with_fields(after=self._seen.after)
        self._seen.subscribed(await caller.ask(call))

    async def _watch_epochs(self, bus: Bus, _nursery: trio.Nursery) -> None:
        """A new broker delivers nothing before it is asked to."""
        epoch = bus.broker_epoch
        while True:
            epoch = await bus.wait_epoch_change(epoch)
            self._stale = True
            self._turn.cancel()


def _ours(error: Exception) -> TermnodeError:
    return error if isinstance(error, TermnodeError) else ServiceUnavailable(str(error))
