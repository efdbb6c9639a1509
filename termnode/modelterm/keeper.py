"""Holds the session with the service, in one task of its own, from the first need to the end."""

from __future__ import annotations

from collections.abc import Callable

import trio

from brokerd.client import BusError
from termnode.client import ServiceUnavailable, TermnodeError
from termnode.modelterm.home import Home, any_home, not_started, running
from termnode.modelterm.results import Settings, TermError


class HomeKeeper:
    """``on_lost`` is called when the service has ended under its terminals."""

    def __init__(
        self, settings: Settings, nursery: trio.Nursery, on_lost: Callable[[], object]
    ) -> None:
        self._settings = settings
        self._nursery = nursery
        self._on_lost = on_lost
        self._turn = trio.Lock()
        self._leave = trio.Event()
        self._left = trio.Event()
        self.home: Home | None = None

    async def find(self) -> None:
        """Hold a session with the service that runs, if one does."""
        async with self._turn:
            if self.home is None:
                try:
                    await self._nursery.start(self._hold, False)
                except ServiceUnavailable:
                    return

    async def need(self) -> Home:
        """The service, started if there is none. Raises TermError UNAVAILABLE."""
        async with self._turn:
            if self.home is None:
                try:
                    await self._nursery.start(self._hold, True)
                except TermnodeError as error:
                    raise not_started(error.message) from None
            assert self.home is not None, "it is held from when the task says so"
            return self.home

    def lose(self) -> None:
        """The service has ended: the next need finds another, or starts one."""
        if self.home is not None:
            self.home = None
            self._leave.set()
            self._on_lost()

    async def close(self) -> None:
        """Let go of the session; a private service ends."""
        async with self._turn:
            if self.home is not None:
                self.home = None
                self._leave.set()
                await self._left.wait()

    async def _hold(
        self, start: bool, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Own one session. Raises what opening it raises; its end is nobody's error."""
        leave, left = trio.Event(), trio.Event()
        held: Home | None = None
        try:
            async with any_home(self._settings) if start else running(self._settings) as held:
                self.home, self._leave, self._left = held, leave, left
                task_status.started()
                await leave.wait()
        except (TermnodeError, TermError, BusError, OSError):
            if held is None:
                raise
            if self.home is held:  # there may be another by now
                self.lose()
        finally:
            left.set()
