"""Asks the shells of panes at their own allocated names; where each is reached is remembered."""

from __future__ import annotations

from typing import Final, TypeVar

from brokerd.client import Bus, BusError, Reply
from termnode.client.errors import ServiceUnavailable
from termnode.client.native_exec_replies import ShellPrompt
from termnode.client.native_shell import STATUS, ShellAddress, address_of, prompt_in
from termnode.control.native.targets import Target

V = TypeVar("V")

MAX_KNOWN: Final = 256
"""Panes of whose shells something is remembered."""

STATUS_S: Final = 5.0
"""For the answer of a shell."""


class Shells:
    """The shells of one user's panes, as one connection asks them."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._known: dict[Target, ShellAddress] = {}
        self._next: dict[Target, int] = {}

    async def prompt(self, target: Target) -> ShellPrompt:
        """What the shell of a pane is at. An attachment that is another one by now, or gone, is
        looked up again, once. Raises TermnodeError."""
        known = self._known.pop(target, None)
        reply = None if known is None else await self._ask(known)
        if known is None or reply is None or not reply.ok:
            known = await self._find(target)
            reply = await self._ask(known)
        if reply.ok:
            _put(self._known, target, known)
        return prompt_in(reply)

    def take_next(self, target: Target) -> int | None:
        """The prompt that should be there when nothing else ran since the last command of this
        connection, which saves the look; once, as long as nobody says `ran_at` again."""
        return self._next.pop(target, None)

    def ran_at(self, target: Target, generation: int) -> None:
        """A command was taken at that prompt."""
        _put(self._next, target, generation + 1)

    async def _find(self, target: Target) -> ShellAddress:
        try:
            return address_of(target, await self._bus.sessions.list())
        except BusError as error:
            raise _away(error) from None

    async def _ask(self, shell: ShellAddress) -> Reply:
        try:
            return await self._bus.request(shell.name, STATUS, shell.body, timeout=STATUS_S)
        except BusError as error:
            raise _away(error) from None


def _put(table: dict[Target, V], target: Target, value: V) -> None:
    """The oldest gives way."""
    table.pop(target, None)
    if len(table) >= MAX_KNOWN:
        del table[next(iter(table))]
    table[target] = value


def _away(error: BusError) -> ServiceUnavailable:
    return ServiceUnavailable(f"the pane's shell did not say what it is at: {error}")
