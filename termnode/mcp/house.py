"""Everything that one server has, put together, and taken down in order."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import trio
from mcp.server import Server, ServerRequestContext

from termnode.mcp.app import App
from termnode.mcp.call import House
from termnode.mcp.desk import Desks, Open
from termnode.mcp.limits import CLOSE_S
from termnode.mcp.pane_memory import PaneMemory
from termnode.mcp.questions import Questions
from termnode.mcp.reach import Reach
from termnode.mcp.settings import Options
from termnode.mcp.watching import Watching
from termnode.modelterm import Settings, open_terminals


class Household:
    """One server's parts."""

    def __init__(self, options: Options, nursery: trio.Nursery, opener: Open) -> None:
        settings = Settings(
            root=options.root,
            environment=options.environment,
            runtime_dir=options.runtime_dir,
            name=options.name,
            call_log=options.call_log,
        )
        self.house = House(
            options,
            Desks(settings, nursery, opener),
            Reach(options, nursery),
            Questions(time.monotonic),
            PaneMemory(),
        )
        self.watching = Watching(self.house, nursery)

    def server(self, client_of: Callable[[ServerRequestContext[Any, Any]], str]) -> Server[Any]:
        """The protocol's side of it."""
        return App(self.house, self.watching, client_of).server()

    async def client_gone(self, client: str) -> None:
        """Close what was the client's own."""
        self.watching.end_client(client)
        await self.house.desks.end(client)


@asynccontextmanager
async def household(options: Options, opener: Open = open_terminals) -> AsyncIterator[Household]:
    """One server's parts; in the end everybody's terminals are closed, however it ends."""
    async with trio.open_nursery() as nursery:
        made = Household(options, nursery, opener)
        try:
            yield made
        finally:
            with trio.CancelScope(shield=True), trio.move_on_after(CLOSE_S):
                await made.house.desks.end_all()
            nursery.cancel_scope.cancel()
