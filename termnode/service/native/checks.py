"""Checks of callers' leases, outside of everything else: a slow one holds up nobody but its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, TypeAlias

import trio

from brokerd.client import BusError, Ref, limit_reached
from termnode.control.native.leases import LeaseCache
from termnode.control.native.limits import LEASE_CHECK_MS, LEASE_CHECKS, share

CHECK_S: Final = LEASE_CHECK_MS / 1000

AskBroker: TypeAlias = Callable[[Ref], Awaitable[int]]
"""Milliseconds left of a lease, counted from before the question. Raises BusError."""

Then: TypeAlias = Callable[[bool], object]
"""Called in the step of the answer: False when it was refused or did not come in time. With True
everything is to be evaluated again, which may need another check."""


class LeaseChecks:
    """Asks the broker; those who need the same lease share a question.

    ``now_ms`` is the clock of leases. ``most`` may wait at a time, half of them for one lease.
    """

    def __init__(
        self,
        leases: LeaseCache,
        ask: AskBroker,
        now_ms: Callable[[], int],
        most: int = LEASE_CHECKS,
    ) -> None:
        self._leases = leases
        self._ask = ask
        self._now_ms = now_ms
        self._most = most
        self._waiting: dict[Ref, list[Then]] = {}
        self._nursery: trio.Nursery | None = None

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Hold the tasks that ask; ends by cancellation only, and may be run again after that."""
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                task_status.started()
                await trio.sleep_forever()
        finally:
            # Who waited has lost its connection too; nobody would answer who joined it later.
            self._waiting.clear()

    def want(self, ref: Ref, then: Then) -> None:
        """Have a lease checked. Raises Refusal RESOURCE_LIMIT when too many wait."""
        if len(self) >= self._most:
            message = f"{self._most} requests already wait for the check of a lease: send it again"
            raise limit_reached("lease_checks", self._most, message)
        most = share(self._most)
        if len(self._waiting.get(ref, ())) >= most:
            message = (
                f"{most} of your requests, half of all there may be, already wait for the check "
            )
            message += "of your lease: wait for their replies"
            raise limit_reached("lease_checks_share", most, message)
        assert self._nursery is not None, "leases are checked while the lane is served"
        if ref in self._waiting:
            self._waiting[ref].append(then)
            return
        self._waiting[ref] = [then]
        self._nursery.start_soon(self._check, ref)

    async def _check(self, ref: Ref) -> None:
        check = self._leases.begin(ref, self._now_ms())
        remaining = await self._remaining(ref)
        if remaining is None:
            self._leases.failed(check)
        else:
            self._leases.put(check, remaining)
        for then in self._waiting.pop(ref):
            then(remaining is not None)

    async def _remaining(self, ref: Ref) -> int | None:
        with suppress(BusError), trio.move_on_after(CHECK_S):
            return await self._ask(ref)
        return None
