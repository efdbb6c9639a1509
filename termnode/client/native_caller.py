"""Asks one Term at its allocated name over one connection, so that nothing is ever done twice.

Mutations go one at a time: their ids rise in the order in which they arrive, so that an answer
that was lost can still be asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, TypeVar

import trio

from brokerd.client import Bus, BusError, DirectedEvents, Reply
from termnode.client.errors import (
    Forbidden,
    ServiceRestarted,
    ServiceUnavailable,
    TermnodeError,
)
from termnode.client.fates import Fate, unsent
from termnode.client.native_attempts import Attempt, Next, Numbers
from termnode.client.native_calls import NativeCall, look
from termnode.client.native_exec_replies import ShellPrompt
from termnode.client.native_replies import NativeSession
from termnode.client.native_shells import Shells
from termnode.client.native_term import Term, term_of
from termnode.client.sending import send_once
from termnode.control.native.targets import Target

R = TypeVar("R")

PATIENCE_S: Final = 10.0
"""How long a request that may have been carried out is asked for again."""

_PAUSE_S: Final = 0.05
_PAUSE_MOST_S: Final = 1.0
"""Between two such questions, while it runs or the Term is away; doubled each time."""


class NativeCaller:
    """The native lane as one connection asks it, of any number of Terms.

    ``sent`` is told the verb and the bytes of each request that goes out.
    """

    def __init__(self, bus: Bus, *, sent: Callable[[str, bytes], object] | None = None) -> None:
        self._bus = bus
        self._sent = sent or _nobody
        self._numbers = Numbers("")
        self._turn = trio.Lock()
        self.shells = Shells(bus)
        """For `termnode.client.native_exec_link`."""
        self.readers: Counter[Target] = Counter()
        """How many read what commands of this connection write in a pane: they share what it is
        subscribed to."""

    @property
    def others_wait(self) -> bool:
        """Whether mutations wait for the one before them."""
        return self._turn.locked()

    async def find(self, name: str) -> Term:
        """The Term of that allocated name. Raises Forbidden for another user's, and
        ServiceUnavailable."""
        try:
            return term_of(name, await self._bus.sessions.list())
        except BusError as error:
            raise ServiceUnavailable(str(error), {"reason": "no_broker"}) from None

    async def look(self, term: Term) -> NativeSession | None:
        """What the caller may see of it, through the first pane that lets it; None when no pane's
        shell has its session. Raises TermnodeError."""
        refused: TermnodeError | None = None
        for target in term.panes:
            try:
                return await self._look(term, target)
            except Forbidden as error:
                refused = error
        if refused is not None:
            raise refused
        return None

    async def _look(self, term: Term, target: Target) -> NativeSession:
        found = await self.ask(term, look(target))
        if found.request_epoch == self._bus.connection_id:
            self._numbers_now().above(found.request_high_water)
        return found

    async def prompt(self, term: Term, target: Target) -> ShellPrompt:
        """What the pane's shell is at. Raises TermnodeError."""
        self.check_epoch(term)
        return await self.shells.prompt(target)

    def events(self, term: Term, capacity: int) -> AbstractAsyncContextManager[DirectedEvents]:
        """All that a Term tells this connection. Raises BusError."""
        return self._bus.subscribe_service(term.name, capacity=capacity)

    async def ask(self, term: Term, call: NativeCall[R]) -> R:
        """What the Term answers. Raises TermnodeError."""
        return call.answer(await self.ask_raw(term, call))

    async def ask_raw(self, term: Term, call: NativeCall[Any]) -> Reply:
        """The reply, refusals included.

        Raises ServiceUnavailable and ServiceRestarted (nothing was sent), UnknownOutcome (a
        mutation whose answer was lost), ConnectionLost (another), InvalidArgument, ResourceLimit.
        """
        if not call.mutates:
            return await self._deliver(term, call, call.reads())
        async with self._turn:
            self.check_epoch(term)
            numbers = self._numbers_now()
            raw = call.mutation(numbers.take(), numbers.epoch)
            reply = await self._deliver(term, call, raw)
            numbers.told(reply)
            return reply

    def _numbers_now(self) -> Numbers:
        """Those of the connection that there is; a new one begins anew."""
        if self._numbers.epoch != self._bus.connection_id:
            self._numbers = Numbers(self._bus.connection_id)
        return self._numbers

    def check_epoch(self, term: Term) -> None:
        """No target outlives the broker that gave it. Raises ServiceRestarted."""
        if self._bus.broker_epoch != term.broker_epoch:
            raise ServiceRestarted(
                "the broker was started anew and its sessions are other ones: find the terminal"
                " again",
                {"reason": "broker_restarted"},
            )

    async def _deliver(self, term: Term, call: NativeCall[Any], raw: bytes) -> Reply:
        """Send the bytes, and the very same again as long as that may help."""
        attempt, connection, pause = Attempt(call), self._bus.connection_id, _PAUSE_S
        end: float | None = None
        while True:
            came = attempt.came(await self._send(term, call, raw, connection, attempt))
            if isinstance(came, Reply):
                return came
            end = end or trio.current_time() + PATIENCE_S
            if came is Next.PAUSE:
                if trio.current_time() >= end:
                    raise attempt.unknown()
                await trio.sleep(pause)
                pause = min(2 * pause, _PAUSE_MOST_S)

    async def _send(
        self, term: Term, call: NativeCall[Any], raw: bytes, connection: str, attempt: Attempt
    ) -> Reply | Fate:
        """One sending; on another connection than the first it would be another request."""
        if self._bus.connection_id != connection or self._bus.broker_epoch != term.broker_epoch:
            if attempt.lost:
                raise attempt.unknown()
            self.check_epoch(term)
            raise ServiceUnavailable("the connection was lost: try again", {"reason": "away"})
        self._sent(call.verb, raw)
        try:
            return await send_once(self._bus, term.name, call.verb, raw, call.timeout)
        except BusError as error:
            raise (attempt.unknown() if attempt.lost else unsent(error)) from None


def _nobody(_verb: str, _raw: bytes) -> None:
    """No one wants to know."""
