"""Asks one service over one connection, so that nothing is ever done twice.

A mutation has a request id of its own, so that a lost answer can be asked for again: the service
remembers the last 128 and repeats the answer. It is asked again once, and only of the same process:
a service that was started anew remembers nothing, and its panes are other ones.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from typing import Final, TypeVar

import trio

from brokerd.client import Bus, BusError, Reply
from termnode.client.calls import Call
from termnode.client.errors import (
    UNREACHABLE,
    InvalidArgument,
    ServiceUnavailable,
    TermnodeError,
    closed,
    nobody,
)
from termnode.client.fates import AWAY, Fate, doubtful, lost_reply, reason_of, restarted, unsent
from termnode.client.requests import info
from termnode.client.sending import send_once
from termnode.client.served import Served
from termnode.control.spec import Kind

R = TypeVar("R")

PATIENCE_S: Final = 10.0
"""How long a broker that died, and the service's name with it, may take to come back."""

_PAUSE_S: Final = 0.05
"""Between two looks for them, while they are away and at no other time."""


class Caller:
    """One connection's questions to the service that is ``served``."""

    def __init__(
        self, bus: Bus, served: Served, *, new_id: Callable[[], str] = lambda: secrets.token_hex(12)
    ) -> None:
        self._bus = bus
        self._served = served
        self._new_id = new_id
        self._sure = ""
        """The broker epoch under which it was last heard, and nothing was lost since."""

    async def ask(self, call: Call[R]) -> R:
        """What the service answers. Raises TermnodeError."""
        return call.answer(await self.ask_raw(call))

    async def ask_raw(self, call: Call[R]) -> Reply:
        """The reply, refusals included.

        Raises ServiceUnavailable (nothing was sent), UnknownOutcome (a mutation whose answer was
        lost twice, or whose service was replaced), ConnectionLost (another), InvalidArgument.
        """
        body = self._encoded(call)
        lost = 0
        while True:
            await self._make_sure(call, lost)
            came = await self._send(call, body, lost)
            if isinstance(came, Reply):
                self._check_same(came, call)
                if lost and doubtful(call, came):
                    raise lost_reply(call)
                return came
            if came is Fate.NOBODY:
                self._stop_if_it_went(lost, call)
            self._sure = ""
            lost += came is Fate.LOST
            if lost > (0 if call.kind is Kind.WAIT else 1):
                raise lost_reply(call)

    async def _send(self, call: Call[R], body: bytes, lost: int) -> Reply | Fate:
        """One attempt, after so many that were lost."""
        try:
            return await send_once(self._bus, self._served.name, call.verb, body, call.timeout)
        except BusError as error:
            raise (lost_reply(call) if lost else unsent(error)) from None

    async def find(self) -> None:
        """Hear from the service for the first time on this connection.

        Raises ServiceUnavailable when nobody answers, ServiceRestarted when another one does.
        """
        if not self._answered(await self._who()):
            raise nobody(self._served.name)
        if self._served.replaced:
            raise restarted(info(), 0)

    def _encoded(self, call: Call[R]) -> bytes:
        body = dict(call.body)
        if call.kind is Kind.MUTATION:
            body.setdefault("request_id", self._new_id())
        try:
            return json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
        except ValueError:  # half of a surrogate pair, or NaN
            raise InvalidArgument("an argument cannot be said in UTF-8 and JSON") from None

    # -- is it still the same service? --------------------------------------------------------

    async def _make_sure(self, call: Call[R], lost: int) -> None:
        """Return when the connection stands and the service behind the name is the known one."""
        if not self._is_sure():
            with trio.move_on_after(PATIENCE_S):
                await self._hear()
        if self._served.replaced:
            raise restarted(call, lost)
        if not self._is_sure():
            raise lost_reply(call) if lost else self._absent()

    def _is_sure(self) -> bool:
        return (
            self._bus.connected
            and self._sure == self._bus.broker_epoch
            and not (self._served.replaced or self._served.closed or self._served.ended())
        )

    async def _hear(self) -> None:
        """Ask until it is sure, or sure that it will never be."""
        while not (self._is_sure() or self._served.replaced or self._served.closed):
            in_doubt = self._served.ended()
            came = await self._who()
            if self._answered(came, in_doubt=in_doubt):
                continue
            if in_doubt and came is not None and reason_of(came) == UNREACHABLE:
                return  # the process has ended, and the name with it
            await trio.sleep(_PAUSE_S)

    async def _who(self) -> Reply | None:
        """Ask who is there; None when no answer came."""
        question, epoch = info(), self._bus.broker_epoch
        self._sure = ""
        try:
            reply = await self._bus.request_raw(
                self._served.name, question.verb, b"{}", timeout=question.timeout
            )
        except BusError:
            return None
        if reply.sender is not None:
            self._sure = epoch
        return reply

    def _answered(self, reply: Reply | None, *, in_doubt: bool = False) -> bool:
        """Whether a service answered; the broker's own word says nothing of it."""
        if reply is None or reply.sender is None:
            return False
        self._served.heard(reply.sender.peer_pid, in_doubt=in_doubt)
        return True

    def _absent(self) -> TermnodeError:
        """Why nothing was sent."""
        if self._served.closed:
            return closed()
        if self._served.ended():
            return nobody(self._served.name)
        return ServiceUnavailable(AWAY, {"reason": "away"})

    def _check_same(self, reply: Reply, call: Call[R]) -> None:
        """One that took the name between two requests answered in its place."""
        self._answered(reply)
        if self._served.replaced:
            raise restarted(call, 1)

    def _stop_if_it_went(self, lost: int, call: Call[R]) -> None:
        """Under the broker that knew it, a name that is not served stays so; a new one is told."""
        if self._sure == self._bus.broker_epoch and self._sure:
            raise lost_reply(call) if lost else nobody(self._served.name)
