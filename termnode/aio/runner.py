"""How an asyncio program's session gets things done: in the session's thread."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Concatenate, ParamSpec, TypeVar

from termnode.client.link import Link
from termnode.client.portal import Portal

P = ParamSpec("P")
R = TypeVar("R")


class Runner:
    """Awaits what the portal's thread does; for any number of tasks of one event loop."""

    def __init__(self, portal: Portal) -> None:
        self._portal = portal

    async def run(
        self,
        work: Callable[Concatenate[Link, P], Awaitable[R]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> R:
        """What ``work(link, *args)`` gives; cancelling the task cancels it."""
        job = self._portal.submit(work, *args, **kwargs)
        try:
            return await asyncio.wrap_future(job.future)
        finally:
            job.cancel()

    def soon(self, work: Callable[[], object]) -> None:
        """Have ``work`` called over there, from any thread."""
        self._portal.soon(work)
