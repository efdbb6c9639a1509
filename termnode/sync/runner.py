"""How a plain script's session gets things done: in a thread, while the caller waits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Concatenate, ParamSpec, TypeVar

from termnode.client.link import Link
from termnode.client.portal import Portal

P = ParamSpec("P")
R = TypeVar("R")


class Runner:
    """Waits for what the portal's thread does. May be used from several threads at a time."""

    def __init__(self, portal: Portal) -> None:
        self._portal = portal

    def run(
        self,
        work: Callable[Concatenate[Link, P], Awaitable[R]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> R:
        """What ``work(link, *args)`` gives; an interrupt (Ctrl-C) cancels it at once."""
        job = self._portal.submit(work, *args, **kwargs)
        try:
            return job.future.result()
        finally:
            job.cancel()

    def soon(self, work: Callable[[], object]) -> None:
        """Have ``work`` called over there, from any thread."""
        self._portal.soon(work)
