"""Tells subscribers that a resource changed, at most twice a second. One task for each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import NamedTuple, TypeAlias

import trio

from brokerd.client import ErrorCode
from termnode.mcp.call import House
from termnode.mcp.limits import WATCH_S, WATCHED
from termnode.mcp.outcome import ToolError, refusal
from termnode.mcp.resources import named, revision

Tell: TypeAlias = Callable[[str], Awaitable[None]]
"""Told the address of a resource that has changed."""


class Subscriber(NamedTuple):
    """A client, and which of its streams is told; "" is the one that it has anyway."""

    client: str
    stream: str = ""


class Watching:
    """Who is told of what; ``nursery`` has a task for each address of a subscriber."""

    def __init__(self, house: House, nursery: trio.Nursery) -> None:
        self._house = house
        self._nursery = nursery
        self._scopes: dict[tuple[Subscriber, str], trio.CancelScope] = {}

    def begin(self, who: Subscriber, uri: str, tell: Tell) -> None:
        """Tell it from now on; instead of what was told before. Raises ToolError."""
        what = named(uri)
        self.end(who, uri)
        if sum(other.client == who.client for other, _ in self._scopes) >= WATCHED:
            raise ToolError(
                ErrorCode.RESOURCE_LIMIT,
                f"{WATCHED} resources are watched for you already: unsubscribe from one",
            )
        scope = self._scopes[who, uri] = trio.CancelScope()
        look_at = partial(revision, self._house, who.client, what)
        self._nursery.start_soon(self._run, (who, uri), look_at, partial(tell, uri), scope)

    def end(self, who: Subscriber, uri: str) -> None:
        """Tell it no more."""
        scope = self._scopes.pop((who, uri), None)
        if scope is not None:
            scope.cancel()

    def end_stream(self, who: Subscriber) -> None:
        """That stream is over."""
        for key in [key for key in self._scopes if key[0] == who]:
            self.end(*key)

    def end_client(self, client: str) -> None:
        """The client is gone."""
        for key in [key for key in self._scopes if key[0].client == client]:
            self.end(*key)

    async def _run(
        self,
        key: tuple[Subscriber, str],
        look_at: Callable[[], Awaitable[int]],
        tell: Callable[[], Awaitable[None]],
        scope: trio.CancelScope,
    ) -> None:
        """Look until it is gone: that is the last that is told."""
        with scope:
            seen = await _revision(look_at)
            while seen is not None:
                await trio.sleep(WATCH_S)
                now = await _revision(look_at)
                if now != seen:
                    await tell()
                seen = now
        if self._scopes.get(key) is scope:
            del self._scopes[key]


async def _revision(look_at: Callable[[], Awaitable[int]]) -> int | None:
    """None when it is not there any more."""
    try:
        return await look_at()
    except Exception as error:
        if refusal(error) is None:
            raise
        return None
