"""Requests to this Term's own name, the one that the broker allocated, and who takes them."""

from __future__ import annotations

from typing import Protocol

import trio

from brokerd.client import Bus, LifecycleNotice, Request, forbidden


class NativeLane(Protocol):
    """What is done with them. All but ``run`` is called in the connection's own task: be quick."""

    def take(self, request: Request) -> None:
        """A request has come."""

    def noticed(self, notice: LifecycleNotice) -> None:
        """The broker told of a record."""

    def gapped(self) -> None:
        """Notices may have been missed, or the connection was lost."""

    async def run(self, bus: Bus, task_status: trio.TaskStatus[None]) -> None:
        """Run beside the connection until cancelled; ``started`` before the first request."""


class Refusing:
    """Where no lane is served: every request is refused, and all in the same words."""

    def take(self, request: Request) -> None:
        """Refuse it."""
        request.refuse(forbidden())

    def noticed(self, notice: LifecycleNotice) -> None:
        """Nothing depends on it."""

    def gapped(self) -> None:
        """Nothing depends on it."""

    async def run(self, bus: Bus, task_status: trio.TaskStatus[None]) -> None:
        """Nothing is to be done."""
        del bus
        task_status.started()
        await trio.sleep_forever()
