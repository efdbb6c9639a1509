"""The terminals of one set, the service they live in, and their end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import trio

from termnode.client import Disconnected, NotFound, Pane, TermnodeError
from termnode.modelterm.environment import clean
from termnode.modelterm.home import Home
from termnode.modelterm.keeper import HomeKeeper
from termnode.modelterm.looking import look
from termnode.modelterm.openings import Openings
from termnode.modelterm.record import Terminal
from termnode.modelterm.refusals import gone, is_over, told
from termnode.modelterm.results import Settings, TermError
from termnode.modelterm.table import Table
from termnode.modelterm.tmux import TmuxDirectory

LOST: Final = "closed, its service ended"


class Holding:
    """``nursery`` has the task that holds the session with the service."""

    def __init__(self, settings: Settings, nursery: trio.Nursery) -> None:
        self._settings = settings
        self._limits = settings.limits
        self._table = Table(settings.limits)
        tmux_environment = clean(settings.environment)
        self._tmux = TmuxDirectory(tmux_environment, settings.limits, settings.place)
        self._swept = False
        self._openings = Openings()
        self._keeper = HomeKeeper(settings, nursery, self._lost)

    @property
    def home(self) -> Home | None:
        """Where the terminals live, once that is known."""
        return self._keeper.home

    async def find(self) -> None:
        """Look for a service that runs."""
        await self._keeper.find()

    async def _prepare(self) -> None:
        """Before the first terminal: clear away what sets left that were killed."""
        if not self._swept:
            self._swept = True
            await self._tmux.sweep()

    async def close_all(self) -> None:
        """Hang up all at once, end the private tmux, leave the service. Never raises.

        What is not hung up in time ends with this process, or with the private service.
        """
        with trio.move_on_after(self._limits.end_s):
            await self._openings.end()
            async with trio.open_nursery() as nursery:
                for terminal in self._table.all():
                    nursery.start_soon(self._hang_up, terminal)
        await self._tmux.close()
        await self._keeper.close()

    async def _hang_up(self, terminal: Terminal) -> None:
        try:
            if terminal.pane is not None:
                await terminal.pane.end()
        except TermnodeError:
            return
        finally:
            self._table.closed(terminal, "closed")

    @asynccontextmanager
    async def _on(self, id_: str) -> AsyncIterator[tuple[Terminal, Pane]]:
        """An open terminal and its pane; what the service refuses in the block becomes a TermError.

        Raises TermError NOT_FOUND when there is none.
        """
        terminal = self._table.find(id_)
        assert terminal.pane is not None, "it was found open"
        try:
            yield terminal, terminal.pane
        except NotFound:  # a person closed it, or it was no longer kept
            self._table.closed(terminal, "closed")
            raise gone(terminal.id, terminal.state) from None
        except Disconnected as error:
            raise await self._ended(terminal, terminal.pane, error) from None
        except TermnodeError as error:
            raise self._refusal(error) from None

    async def _ended(self, terminal: Terminal, pane: Pane, error: TermnodeError) -> TermError:
        """Why input to a program that has ended is refused: how it ended."""
        try:
            terminal.state = (await look(terminal, pane)).state
        except TermnodeError:
            return self._refusal(error)
        return gone(terminal.id, terminal.state)

    def _refusal(self, error: TermnodeError) -> TermError:
        if is_over(error):
            self._keeper.lose()
        return told(error)

    def _lost(self) -> None:
        for terminal in self._table.all():
            if terminal.pane is not None:
                self._table.closed(terminal, LOST)
