"""A wait that tells its caller each second how far it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import outcome
import trio
from anyio import BrokenResourceError, ClosedResourceError

from termnode.mcp.call import Call
from termnode.mcp.limits import PROGRESS_S

T = TypeVar("T")


async def patiently(call: Call, total: float, words: str, work: Callable[[], Awaitable[T]]) -> T:
    """What ``work`` comes to; meanwhile progress is reported. ``total`` is in seconds."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_tick, call, total, words)
        # Raised only behind the nursery, which would wrap it into a group.
        came = await outcome.acapture(work)
        nursery.cancel_scope.cancel()
    return came.unwrap()


async def _tick(call: Call, total: float, words: str) -> None:
    start = trio.current_time()
    while True:
        await trio.sleep(PROGRESS_S)
        try:
            await call.report(min(trio.current_time() - start, total), total, words)
        except (BrokenResourceError, ClosedResourceError):
            return  # the client is going away: its calls are cancelled next
