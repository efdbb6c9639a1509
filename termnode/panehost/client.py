"""The Trio side of the pane host, for the Term service.

Terminal signals do not reach the host, which has its own session; nobody but this process has its
socket. Promises: specs/pane-host.md.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Final, Self

import trio

from termnode.panehost.exchange import Exchange
from termnode.panehost.launch import launch
from termnode.panehost.outcomes import HostBusy, HostLost, Spawned, SpawnFailed
from termnode.panehost.protocol import (
    MAX_MESSAGE,
    ExitStatus,
    Failure,
    SpawnRequest,
    UserSettings,
)
from termnode.sideprocess.records import RecordTooLarge
from termnode.sideprocess.starting import wait_or_kill

__all__ = [
    "ExitStatus",
    "HostBusy",
    "HostLost",
    "PaneHost",
    "SpawnFailed",
    "Spawned",
    "UserSettings",
]

START_TIMEOUT: Final = 20.0
"""Seconds for the host to answer its first ping."""

STOP_TIMEOUT: Final = 7.0
"""Seconds for the host to hang up every session and end; then it is killed."""


class PaneHost:
    """A running pane host. Make one with ``async with PaneHost.start() as host``."""

    def __init__(self, sock: socket.socket, process: trio.Process) -> None:
        self.process = process
        self._exchange = Exchange(sock)

    @classmethod
    @asynccontextmanager
    async def start(cls, user: UserSettings | None = None) -> AsyncIterator[Self]:
        """Start a host in its own session; on leaving, it hangs up every program and ends.

        ``user`` is what programs get as umask and descriptor limit (default: this process's own).
        Raises HostLost when the host does not come up.
        """
        sock, process = await launch(user or UserSettings.capture())
        host = cls(sock, process)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(host._exchange.receive)
                nursery.start_soon(host._exchange.send)
                await host._await_ready()
                yield host
                nursery.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            if len(group.exceptions) > 1:
                raise
            raise group.exceptions[0] from None  # what the caller's block raised, as it was
        finally:
            await host._stop()

    @property
    def lost(self) -> bool:
        """Whether the host has ended."""
        return self._exchange.lost

    async def spawn(
        self, argv: Sequence[str], cwd: str, env: Mapping[str, str], cols: int, rows: int
    ) -> Spawned:
        """Start a program on a new pseudo-terminal of ``cols`` by ``rows``.

        Raises SpawnFailed or HostLost. A caller that is cancelled leaves no program behind.
        """
        fields = {"argv": list(argv), "cwd": cwd, "env": dict(env), "cols": cols, "rows": rows}
        with _as_spawn_failed():
            SpawnRequest.from_message(fields)
            made: Spawned = await self._exchange.request({"type": "spawn", **fields})
        return made

    async def ping(self) -> None:
        """Return when the host has answered; raises HostLost."""
        with _as_spawn_failed():
            await self._exchange.request({"type": "ping"})

    def signal(self, pid: int, number: int) -> None:
        """Signal the process group of a program that is not forgotten.

        Raises HostLost, or HostBusy when too many records wait for the host.
        """
        self._exchange.signal(pid, number)

    def forget(self, pid: int) -> None:
        """Be done with a program: one that lives is hung up. Without effect when unknown."""
        self._exchange.forget(pid)

    async def wait_exit(self, pid: int) -> ExitStatus:
        """Wait for the end of a program. Raises KeyError when unknown, HostLost."""
        status: ExitStatus = await self._exchange.exits[pid].wait()
        return status

    def exit_status(self, pid: int) -> ExitStatus | None:
        """How a program ended; None while it lives. Raises KeyError when unknown."""
        status: ExitStatus | None = self._exchange.exits[pid].value
        return status

    async def _await_ready(self) -> None:
        try:
            with trio.fail_after(START_TIMEOUT):
                await self.ping()
        except trio.TooSlowError:
            raise HostLost("the pane host did not start in time: try again") from None

    async def _stop(self) -> None:
        """Close the socket, which makes the host end; kill it when it does not."""
        self._exchange.lose()
        await wait_or_kill(self.process, STOP_TIMEOUT)


@contextmanager
def _as_spawn_failed() -> Iterator[None]:
    try:
        yield
    except Failure as failure:
        raise SpawnFailed(failure.code, failure.message, failure.details) from None
    except RecordTooLarge:
        text = (
            f"argv, cwd and the environment have at most {MAX_MESSAGE} bytes together: shorten "
            "argv, or start the service with fewer or smaller variables"
        )
        raise SpawnFailed("RESOURCE_LIMIT", text, {"field": "env"}) from None
