"""The Trio side of a session: the connection, its waits and its streams of events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, TypeVar

import trio

from brokerd.client import Bus, background
from termnode.client.caller import Caller
from termnode.client.calls import REPLY_S, Call, body_of
from termnode.client.errors import ConnectionLost, ResourceLimit, WaitTimeout, closed, nobody
from termnode.client.following import Taking
from termnode.client.native_caller import NativeCaller
from termnode.client.replies import Details
from termnode.client.seen import Event, Waited
from termnode.client.served import Served
from termnode.client.stream import Connect, Stream
from termnode.client.wait_plan import LONGEST_S, WaitPlan
from termnode.control.spec import Kind

R = TypeVar("R")

MUTATIONS: Final = 32
"""Of one session under way at a time; the service keeps 64 of all its callers waiting, and runs one
after the other anyway. More wait here, in order."""

READS: Final = 64
"""Other questions under way at a time. With waits and mutations that is less than what the broker
takes of one connection (256)."""

AT_ONCE: Final = 48
"""Waits that one session has with the service at a time; it takes 64 of all its callers. More take
turns, so that each is looked after every few seconds."""

UNHURRIED: Final = 32
"""While there are fewer, a wait may stay for as long as it likes."""

TURN_S: Final = 1.0
"""The longest stay of those that take turns."""

FIRST_LOOKS: Final = 8
"""Waits that must queue look once at the beginning, so many at a time: what they wait for may be
gone when it is their turn, and the service searches history only from an anchor on."""

FIRST_LOOK_S: Final = 0.005

FULL_S: Final = 0.25
"""Pause after the service had no room for a wait, because of other callers."""


class Link:
    """What a session asks for, done in its Trio run. Made by `open_link`."""

    def __init__(self, bus: Bus, name: str, connect: Connect, nursery: trio.Nursery) -> None:
        self._served = Served(name)
        self._caller = Caller(bus, self._served)
        self.native = NativeCaller(bus)
        """For `termnode.client.native_link`."""
        self._connect = connect
        self._nursery = nursery
        self._turns = trio.CapacityLimiter(AT_ONCE)
        self._looks = trio.CapacityLimiter(FIRST_LOOKS)
        self._mutations = trio.CapacityLimiter(MUTATIONS)
        self._reads = trio.CapacityLimiter(READS)

    async def find(self, timeout: float) -> None:
        """Hear from the service within ``timeout`` seconds. Raises ServiceUnavailable."""
        with trio.move_on_after(timeout):
            await self._caller.find()
            return
        raise nobody(self._served.name)

    def close(self) -> None:
        """Ask nothing any more: everything raises SessionClosed from now on."""
        self._served.close()

    async def ask(self, call: Call[R]) -> R:
        """As `Caller.ask`, when it is its turn."""
        async with self._room(call):
            return await self._caller.ask(call)

    def _room(self, call: Call[R]) -> trio.CapacityLimiter:
        self.check_open()
        return self._mutations if call.kind is Kind.MUTATION else self._reads

    async def ask_anything(self, call: Call[None]) -> Details:
        """The body of the good reply, as it is."""
        async with self._room(call):
            return body_of(await self._caller.ask_raw(call))

    async def wait(self, call: Call[Waited], timeout: float | None) -> Waited:
        """One wait of any length, as many of the service's as it takes.

        It outlives a broker that comes back. When it is cancelled, the service goes on waiting by
        itself: about as long again as it has waited, and not after this process has ended.
        """
        self.check_open()
        plan = WaitPlan(call, timeout, trio.current_time())
        look_first = self._crowded() and not plan.silence_s
        error = await self._part(plan, self._looks, FIRST_LOOK_S) if look_first else None
        while not plan.over(trio.current_time()):
            if isinstance(error, ResourceLimit):
                await trio.sleep(FULL_S)
            error = await self._part(plan, self._turns)
        if plan.result is None:
            raise error or WaitTimeout("the time ran out before the wait began")
        return plan.result

    def _crowded(self) -> bool:
        return self._turns.available_tokens <= 0

    async def _part(
        self,
        plan: WaitPlan[Call[Waited]],
        turns: trio.CapacityLimiter,
        longest: float | None = None,
    ) -> Exception | None:
        """Ask for one part when it is its turn; the error, where another try may go better."""
        async with turns:
            part = plan.part(trio.current_time(), longest or self._stay())
            return None if part is None else await self._try(plan, part)

    async def _try(self, plan: WaitPlan[Call[Waited]], part: Call[Waited]) -> Exception | None:
        try:
            plan.answered(await self._caller.ask(part), trio.current_time())
        except ConnectionLost as error:
            return error
        except ResourceLimit as error:
            if error.details.get("reason") != "waits":
                raise
            return error
        return None

    def _stay(self) -> float:
        return LONGEST_S if self._turns.borrowed_tokens <= UNHURRIED else TURN_S

    async def open_stream(self, stream: Stream) -> None:
        """Subscribe it. Raises TermnodeError."""
        self.check_open()
        await self._nursery.start(stream.run, self._connect, self._served)

    async def start(self, work: Callable[..., Awaitable[object]], *args: object) -> None:
        """Have a task run beside, as a nursery starts one; it must not raise later."""
        self.check_open()
        await self._nursery.start(work, *args)

    def check_open(self) -> None:
        """Raises SessionClosed when the session is over."""
        if self._served.closed:
            raise closed()

    async def next_event(
        self, stream: Stream, timeout: float | None, taking: Taking
    ) -> Event | None:
        """As `Stream.next`."""
        return await stream.next(timeout, taking)


@asynccontextmanager
async def open_link(
    connect: Connect, name: str, *, timeout: float = REPLY_S
) -> AsyncIterator[Link]:
    """A link to the service called ``name``; ``connect`` opens a connection to its broker.

    Raises ServiceUnavailable when it does not answer in ``timeout`` seconds, and what ``connect``
    raises.
    """
    async with connect() as bus, background(_idle) as nursery:
        link = Link(bus, name, connect, nursery)
        try:
            await link.find(timeout)
            yield link
        finally:
            link.close()


async def _idle(_nursery: trio.Nursery) -> None:
    await trio.sleep_forever()
