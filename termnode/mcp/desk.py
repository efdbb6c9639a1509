"""One client's own terminals: opened with the first, closed when the client is gone."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import trio

from brokerd.client import ErrorCode
from termnode.mcp.limits import SESSIONS
from termnode.mcp.outcome import ToolError
from termnode.modelterm import ProgressGuard, Settings, Shown, Terminals, open_terminals

Open = Callable[[Settings], AbstractAsyncContextManager[Terminals]]


class Desk:
    """What one client has. `run` owns the terminals; everything else only uses them."""

    def __init__(self, settings: Settings, opener: Open = open_terminals) -> None:
        self.guard = ProgressGuard()
        self.ids: list[str] = []
        self._settings = settings
        self._opener = opener
        self._terminals: Terminals | None = None
        self._over = trio.Event()
        self.ended = trio.Event()
        """Set once everything of it is closed."""

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Hold the terminals until `end`, then close them."""
        try:
            async with self._opener(self._settings) as self._terminals:
                task_status.started()
                await self._over.wait()
        finally:
            self._terminals = None
            self.ended.set()

    @property
    def terminals(self) -> Terminals:
        """The set. Raises ToolError when the client is gone."""
        if self._terminals is None:
            raise ToolError(ErrorCode.CANCELLED, "this session is over: begin a new one")
        return self._terminals

    def end(self) -> None:
        """Close what is open; `ended` says when that is done."""
        self._over.set()

    def opened(self, shown: Shown) -> Shown:
        """A terminal is there now."""
        self.ids.append(shown.id)
        return shown

    def closed(self, name: str) -> None:
        """It is not, any more."""
        if name in self.ids:
            self.ids.remove(name)


class Desks:
    """The desks of all clients, by the name that their session has."""

    def __init__(
        self, settings: Settings, nursery: trio.Nursery, opener: Open = open_terminals
    ) -> None:
        self._settings = settings
        self._nursery = nursery
        self._opener = opener
        self._desks: dict[str, Desk] = {}
        self._turn = trio.Lock()

    async def of(self, client: str) -> Desk:
        """The client's desk, made when it is first asked for. Raises ToolError, TermError."""
        async with self._turn:
            found = self._desks.get(client)
            if found is not None and not found.ended.is_set():
                return found
            if len(self._desks) >= SESSIONS:
                raise ToolError(
                    ErrorCode.RESOURCE_LIMIT,
                    f"{SESSIONS} clients have terminals already: one of them must end first",
                )
            desk = Desk(self._settings, self._opener)
            await self._nursery.start(desk.run)
            self._desks[client] = desk
            return desk

    def known(self, client: str) -> Desk | None:
        """The client's desk if it has one."""
        return self._desks.get(client)

    async def end(self, client: str) -> None:
        """The client is gone: close its terminals."""
        desk = self._desks.pop(client, None)
        if desk is not None:
            desk.end()
            await desk.ended.wait()

    async def end_all(self) -> None:
        """The server ends: close everybody's."""
        async with trio.open_nursery() as nursery:
            for client in list(self._desks):
                nursery.start_soon(self.end, client)
