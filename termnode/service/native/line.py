"""The way from a Term to its panes' shells: whom to ask, on which connection, how many at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, Protocol, TypeAlias

import trio

from brokerd.client import ErrorCode, Refusal, Reply, forbidden
from termnode.control.native.decisions import Go
from termnode.control.native.limits import (
    FORWARDED_ANSWER_MS,
    FORWARDED_CALLS,
    FORWARDED_WAITS,
)
from termnode.control.native.spec import Forwarded
from termnode.service.identity.words import BoundShell
from termnode.service.native import refusing, relaying
from termnode.service.native.jobs import Places
from termnode.service.native.turns import OnSettled
from termnode.service.state import Work

ANSWER_S: Final = FORWARDED_ANSWER_MS / 1000


class Asks(Protocol):
    """The Term's own connection; `brokerd.client.Bus` is one."""

    async def request(
        self, to: str, command: str, body: dict[str, object], *, timeout: float
    ) -> Reply:
        """Ask and wait. Raises BusError."""


FindShell: TypeAlias = Callable[[int], BoundShell | None]
"""The shell that is bound to a pane; None while there is none that may be asked."""


class Ways(NamedTuple):
    """What of the running service is used. ``clock`` is that of the ledger, in seconds.

    ``add`` puts work among the mutations of all lanes, ``queue`` bounds how many of this lane wait
    there. ``find`` finds shells. ``on_settled`` is told of each submission, after its answer.
    ``ended`` tells how a pane's program has ended; None while it runs. ``accepted`` is told which
    operation of its shell a command is. ``stands`` says whether what was let go would be now.
    """

    add: Callable[[Work], None]
    queue: Places
    find: FindShell
    on_settled: OnSettled
    clock: Callable[[], float]
    ended: Callable[[int], relaying.Ended | None] = lambda _pane: None
    accepted: Callable[[Go, int], object] = lambda _go, _operation: None
    stands: Callable[[Go], bool] = lambda _go: True


class Line:
    """The connection while there is one. ``calls`` and ``waits`` bound what is under way."""

    def __init__(self, find: FindShell, stands: Callable[[Go], bool]) -> None:
        self.find: Final = find
        self._stands = stands
        self.calls: Final = _places("forwarded_calls", FORWARDED_CALLS)
        self.waits: Final = _places("forwarded_waits", FORWARDED_WAITS)
        self._bus: Asks | None = None
        self._nursery: trio.Nursery | None = None

    async def run(
        self, bus: Asks, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Hold what is under way; ends by cancellation only."""
        try:
            async with trio.open_nursery() as nursery:
                self._bus, self._nursery = bus, nursery
                task_status.started()
                await trio.sleep_forever()
        finally:
            self._nursery = None

    @property
    def tasks(self) -> trio.Nursery:
        """Where it goes on. Raises Refusal DISCONNECTED while there is no connection."""
        if self._nursery is None:
            raise Refusal(ErrorCode.DISCONNECTED, "the terminal has lost its broker: ask again")
        return self._nursery

    def shell(self, go: Go) -> BoundShell:
        """The shell that the target names. Raises Refusal FORBIDDEN when it is not there."""
        found = self._named(go)
        if found is None:
            raise forbidden()
        return found

    def still(self, go: Go) -> BoundShell:
        """The same in the step of the sending. Raises Refusal UNAVAILABLE when what was decided a
        step before holds no more: why not, the gate says when it is asked again."""
        found = self._named(go)
        if found is None or not self._stands(go):
            raise refusing.not_passed_on()
        return found

    def _named(self, go: Go) -> BoundShell | None:
        found = self.find(go.target.pane_id)
        there = found is not None and found.record.pane_generation == go.target.pane_generation
        return found if there else None

    async def request(
        self, command: str, shell: BoundShell, body: dict[str, object], wait_ms: int = 0
    ) -> Reply:
        """Ask it, and wait for ANSWER_S beyond what it was asked to wait. Raises BusError.

        Nothing is awaited before it is sent.
        """
        assert self._bus is not None, "requests are taken while the lane is served"
        wait_s = wait_ms / 1000
        return await self._bus.request(shell.record.name, command, body, timeout=ANSWER_S + wait_s)


def family(go: Go) -> str:
    """What its operation is read as."""
    return _forwarded(go).family


def command(go: Go) -> str:
    """What the pane's shell is asked for."""
    return _forwarded(go).command


def _forwarded(go: Go) -> Forwarded:
    assert go.spec.forwarded is not None, "only what is forwarded gets here"
    return go.spec.forwarded


def _places(what: str, most: int) -> Places:
    return Places(most, what, f"{what}_share", "requests are with panes' shells")
