"""How a session gets things done on its Trio side: here, at once, in the same Trio run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar

import trio

from termnode.client.link import Link

P = ParamSpec("P")
R = TypeVar("R")


class Runner(Protocol):
    """Runs what a session asks for where its link is."""

    async def run(
        self,
        work: Callable[Concatenate[Link, P], Awaitable[R]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> R:
        """What ``work(link, *args)`` gives. Cancelling it cancels the work."""

    def soon(self, work: Callable[[], object]) -> None:
        """Have ``work`` called over there; from any thread, also from a finalizer."""


class Direct:
    """For a program that runs under Trio itself."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._token = trio.lowlevel.current_trio_token()

    async def run(
        self,
        work: Callable[Concatenate[Link, P], Awaitable[R]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> R:
        """See Runner."""
        return await work(self._link, *args, **kwargs)

    def soon(self, work: Callable[[], object]) -> None:
        """See Runner."""
        soon(self._token, work)


def soon(token: trio.lowlevel.TrioToken, work: Callable[[], object]) -> None:
    """Have ``work`` called in that Trio run; nothing happens when it is over."""
    try:
        token.run_sync_soon(work)
    except trio.RunFinishedError:
        return
