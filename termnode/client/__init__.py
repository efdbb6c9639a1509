"""Termnode for Python programs that run under Trio.

::

    from termnode.client import connect

    async with connect() as session:
        tab = await session.new_tab("bash")
        pane = await tab.active_pane
        await pane.send_keys("make test")
        match = await pane.wait_for("^(passed|failed)", timeout=600)
        print(match.text, await pane.capture())

``termnode.sync`` is the same without ``await`` for plain scripts, ``termnode.aio`` the same for
asyncio. Attributes of tabs and panes (``pane.title``) are as of the last look; what has to be asked
for is awaited, properties too (``await session.panes``).

A mutation whose answer was lost is asked for again once, with the same request id, of the same
service: it never runs twice. (The service remembers the last 128 mutations. Only if so many of
others came in between could it be taken for a new one.) When that fails too, UnknownOutcome says
that nobody knows. Whatever else goes wrong is a `TermnodeError` with ``code``, ``details`` and
``remedy``.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from termnode.client import public
from termnode.client.events import Events
from termnode.client.native import Native
from termnode.client.native_operations import Execution, Task
from termnode.client.native_output import Output
from termnode.client.native_pane import NativePane
from termnode.client.opening import Where
from termnode.client.pane import Pane
from termnode.client.public import *  # noqa: F403  # one list of names for the three packages
from termnode.client.runner import Direct
from termnode.client.session import Session
from termnode.client.tab import Tab

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
    where = Where.of(runtime_dir, name, start=start, timeout=timeout)
    async with where.link() as link:
        yield Session(Direct(link))
