"""Termnode for asyncio programs.

::

    import termnode.aio

    async with termnode.aio.connect() as session:
        tab = await session.new_tab("bash")
        pane = await tab.active_pane
        await pane.send_keys("make test")
        match = await pane.wait_for("^(passed|failed)", timeout=600)
        async with session.events(kinds=["exit"]) as events:
            async for event in events:
                print(event.pane, event.exit)

The classes are those of ``termnode.client``, and so are the errors. The connection lives in a
thread of its own that ends with the block. Cancelling a task cancels what it asked for.
"""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from termnode.aio.runner import Runner
from termnode.client import (
    Events,
    Execution,
    Native,
    NativePane,
    Output,
    Pane,
    Session,
    Tab,
    Task,
    public,
)
from termnode.client.opening import Where
from termnode.client.portal import Portal
from termnode.client.public import *  # noqa: F403  # one list of names for the three packages

__all__ = [
    "Events",
    "Execution",
    "Native",
    "NativePane",
    "Output",
    "Pane",
    "Session",
    "Tab",
    "Task",
    "connect",
]
__all__ += public.__all__


@asynccontextmanager
async def connect(
    runtime_dir: str | os.PathLike[str] | None = None,
    *,
    name: str | None = None,
    start: bool = False,
    timeout: float = 5.0,
) -> AsyncIterator[Session]:
    """A session with the service ``name`` (None: $TERMNODE_NAME, or "term") of ``runtime_dir``
    (None: the user's own).

    ``start`` starts one where none answers; it goes on after the block. ``timeout`` is how many
    seconds the connection may take. Raises ServiceUnavailable.
    """
    portal = Portal(Where.of(runtime_dir, name, start=start, timeout=timeout))
    try:
        await asyncio.wrap_future(portal.opened)
        session = Session(Runner(portal))
        # For who closes the loop before the block has ended.
        weakref.finalize(session._asking, portal.stop).atexit = False
        yield session
    finally:
        portal.stop()
        await _ended(portal)


async def _ended(portal: Portal) -> None:
    """Wait until its thread has ended, also when the task is cancelled meanwhile."""
    over = asyncio.wrap_future(portal.closed)
    cancelled: asyncio.CancelledError | None = None
    while not over.done():
        try:
            await asyncio.wait([over])
        except asyncio.CancelledError as error:
            cancelled = error
    portal.close()
    if cancelled is not None:
        raise cancelled
