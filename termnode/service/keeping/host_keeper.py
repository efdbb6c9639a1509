"""Keeps a pane host running; programs outlive it, but only a host can start new ones."""

from __future__ import annotations

import logging
from typing import Final

import trio

from brokerd.client import ErrorCode, Refusal
from termnode.panehost.client import HostLost, PaneHost
from termnode.service.keeping.pausing import Pauses

FIRST_PAUSE_S: Final = 0.1
LONGEST_PAUSE_S: Final = 5.0

log = logging.getLogger("termnode.panehost")


def host_lost() -> Refusal:
    """What a caller is told when a program cannot be started because the host has ended."""
    return Refusal(
        ErrorCode.UNAVAILABLE,
        "the process that starts programs is being started again: try again",
        reason="pane_host_lost",
    )


class HostKeeper:
    """The present pane host; `current` raises a typed refusal in the moments without one."""

    def __init__(self) -> None:
        self._host: PaneHost | None = None

    @property
    def latest(self) -> PaneHost | None:
        """The host that was started last, if any; it may have ended."""
        return self._host

    def current(self) -> PaneHost:
        """The live host. Raises Refusal UNAVAILABLE."""
        if self._host is None or self._host.lost:
            raise host_lost()
        return self._host

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Start a host, and another one whenever it ends. On cancellation every program is hung up.

        Raises HostLost when the first does not come up.
        """
        async with PaneHost.start() as host:
            self._host = host
            task_status.started()
            await host.process.wait()
        pauses = Pauses(FIRST_PAUSE_S, LONGEST_PAUSE_S)
        while True:
            log.error("the pane host has ended; programs live on, a new host starts")
            await trio.sleep(pauses.now)
            began = trio.current_time()
            await self._run_again()
            pauses.after(trio.current_time() - began)

    async def _run_again(self) -> None:
        try:
            async with PaneHost.start() as host:
                self._host = host
                await host.process.wait()
        except HostLost as error:
            log.error("%s", error)
        except OSError as error:  # no descriptor, process or memory is left at this moment
            log.error("the pane host cannot be started now (%s)", error.strerror)
