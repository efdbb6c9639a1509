"""What a session is told of the output of its commands, taken on its link in its Trio run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

import trio

from brokerd.client import BusError, DirectedEvent, DirectedEvents
from termnode.client.decode import Decimal, decode
from termnode.client.errors import (
    BadReply,
    ServiceUnavailable,
    TermnodeError,
    WaitTimeout,
    closed,
)
from termnode.client.link import Link
from termnode.client.native_calls import NativeCall, native_call
from termnode.client.native_exec_calls import Submitted, exec_result, has_ended
from termnode.client.native_exec_link import patiently
from termnode.client.native_link import ask
from termnode.client.native_term import Term
from termnode.client.seen import Subscribed
from termnode.control.native.fields import EXEC_OUTPUT
from termnode.control.native.targets import Target

EVENT: Final = "term.event"

CAPACITY: Final = 256
"""Pieces that wait for their reader; of what finds no place it is told how much it was."""

LOOK_S: Final = 2.0
"""Without a piece for so long it is asked whether the command has ended: its end may be lost."""

FIRST_LOOK_S: Final = 0.25
"""The same for the first time; doubled each time."""

LATE_S: Final = 0.5
"""What is told of a command comes so long after its end at most, with a quick line."""


@dataclass(frozen=True, slots=True)
class Told:
    """One event about output."""

    operation_id: Decimal
    offset: int
    bytes: int
    text: str
    over: bool = False


class Source:
    """The output of one command, for one reader. Pieces are of the connection of its submission."""

    def __init__(self, term: Term, operation: Submitted) -> None:
        self._term = term
        self._operation = operation
        self._events: DirectedEvents | None = None
        self._over = False
        self._pause = FIRST_LOOK_S
        self._scope = trio.CancelScope()

    async def open(self, link: Link) -> None:
        """Begin. Raises TermnodeError."""
        try:
            await link.start(self._run, link)
        except BusError as error:
            raise ServiceUnavailable(str(error)) from None

    def close(self) -> None:
        """End it. Call it from the Trio run that it is in."""
        self._scope.cancel()

    async def _run(
        self, link: Link, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        target = self._operation.target
        async with link.native.events(self._term, CAPACITY) as self._events:
            with _reading(link.native.readers, target):
                await ask(link, self._term, _subscription(target, stop=False))
                task_status.started()
                with self._scope:
                    await trio.sleep_forever()
            # Nothing is awaited before it is sent, so that it is not for who begins after it.
            if target not in link.native.readers:
                with trio.move_on_after(LATE_S), suppress(TermnodeError):
                    await ask(link, self._term, _subscription(target, stop=True))

    async def next(self, link: Link, timeout: float | None) -> Told | None:
        """The next piece; None when nothing follows. Raises WaitTimeout, and as `ask`."""
        end = trio.current_time() + (float("inf") if timeout is None else timeout)
        while not self._over:
            with trio.move_on_at(min(end, trio.current_time() + self._pause)):
                return await self._take()
            self._pause = min(2 * self._pause, LOOK_S)
            if trio.current_time() >= end:
                raise WaitTimeout("nothing came in time")
            await self._look(link)
        return None

    async def _look(self, link: Link) -> None:
        """Whether it has ended all the same."""
        state = await patiently(link, self._term, exec_result(self._operation, 0))
        if has_ended(state) and not self._events:
            await trio.sleep(LATE_S)
            self._over = not self._events

    async def _take(self) -> Told:
        if self._events is None or self._scope.cancel_called:
            raise closed()
        try:
            while True:
                told = self._read(await anext(self._events))
                if told is not None:
                    self._over = told.over
                    return told
        except BusError as error:
            raise ServiceUnavailable(str(error)) from None

    def _read(self, event: DirectedEvent) -> Told | None:
        """None for what is not about this command."""
        body: Any = event.body
        if event.command != EVENT or body is None or body.get("kind") != EXEC_OUTPUT:
            return None
        try:
            told = decode(Told, body)
        except BadReply:
            return None
        return told if told.operation_id == self._operation.number else None


async def open_source(link: Link, source: Source) -> None:
    """As `Source.open`."""
    await source.open(link)


async def next_told(link: Link, source: Source, timeout: float | None) -> Told | None:
    """As `Source.next`."""
    return await source.next(link, timeout)


@contextmanager
def _reading(readers: Counter[Target], target: Target) -> Iterator[None]:
    readers[target] += 1
    try:
        yield
    finally:
        readers[target] -= 1
        if not readers[target]:
            del readers[target]


def _subscription(target: Target, *, stop: bool) -> NativeCall[Subscribed]:
    return native_call("term.events", Subscribed, target, {"kinds": [EXEC_OUTPUT], "stop": stop})
