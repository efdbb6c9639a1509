"""The session with the service that runs: made when it is first needed, and again when it ended."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

import trio

from termnode.client import (
    Native,
    Pane,
    ServiceRestarted,
    ServiceUnavailable,
    Session,
    SessionClosed,
    TermnodeError,
    connect,
)
from termnode.mcp.limits import CONNECT_S
from termnode.mcp.settings import Options

log = logging.getLogger("termnode.mcp")

T = TypeVar("T")


class Reach:
    """One session for all clients of this server; ``nursery`` has the task that holds it."""

    def __init__(self, options: Options, nursery: trio.Nursery) -> None:
        self._options = options
        self._nursery = nursery
        self._turn = trio.Lock()
        self._held: tuple[Session, trio.Event] | None = None
        self._native: tuple[Session, Native] | None = None

    async def session(self) -> Session:
        """The session. Raises TermnodeError: ServiceUnavailable when no service runs."""
        async with self._turn:
            if self._held is None:
                self._held = await self._nursery.start(self._hold)
            return self._held[0]

    async def use(self, work: Callable[[Session], Awaitable[T]]) -> T:
        """What ``work`` comes to with the session. Raises TermnodeError.

        When that session is over, the next call has a new one; this one is not repeated: the panes
        of another service are other ones.
        """
        session = await self.session()
        try:
            return await work(session)
        except (ServiceRestarted, SessionClosed, ServiceUnavailable):
            self._drop(session)
            raise

    async def native(self) -> Native:
        """Control that is bound to panes, in one session: results are that session's alone."""

        async def begin(session: Session) -> Native:
            if self._native is None or self._native[0] is not session:
                self._native = (session, await session.native())
            return self._native[1]

        return await self.use(begin)

    async def pane(self, pane: int) -> Pane:
        """A pane of that service, as it is now. Raises TermnodeError."""
        return await self.use(lambda session: session.pane(pane))

    def _drop(self, session: Session) -> None:
        if self._held is not None and self._held[0] is session:
            self._held[1].set()
            self._held = None

    async def _hold(
        self, task_status: trio.TaskStatus[tuple[Session, trio.Event]] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Hold one session until it is dropped. What ends it early shows at its next use."""
        options, dropped, begun = self._options, trio.Event(), False
        try:
            async with connect(
                options.runtime_dir, name=options.name, timeout=CONNECT_S
            ) as session:
                begun = True
                task_status.started((session, dropped))
                await dropped.wait()
        except TermnodeError:
            if not begun:
                raise
            log.warning("the session with the service ended")
