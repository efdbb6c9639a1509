"""``termnode mcp``: runs the server until its client or a signal ends it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing

import trio

from brokerd.client import resolve_runtime_dir
from termnode.mcp import http, logs, stdio
from termnode.mcp.address import Address, listen
from termnode.mcp.house import household
from termnode.mcp.settings import Options
from termnode.mcp.standard import claimed
from termnode.mcp.token import token_file


def serve_stdio(options: Options) -> None:
    """Be the server of the client on the standard streams, until its input ends.

    Nothing but the protocol is written to standard output, by anybody.
    """
    logs.to_standard_error()
    with claimed() as streams:

        async def serve(_stop: trio.Event) -> None:
            async with household(options) as home:
                await stdio.serve(home.server(lambda _context: stdio.CLIENT), streams)

        trio.run(_until_told, serve, True)


def serve_http(options: Options, wanted: Address) -> None:
    """Be the server of many clients at a loopback address.

    Prints one line when it listens: where, and which file has the token. Raises OSError,
    RuntimeDirError.
    """
    logs.to_standard_error()
    directory = resolve_runtime_dir(options.runtime_dir)
    listening, address = listen(wanted)
    with closing(listening), token_file(directory, address.port) as token:

        async def serve(stop: trio.Event) -> None:
            async with household(options) as home:
                server = home.server(http.client_of)
                print(
                    f"listening on {address.origin}/mcp; the token is in "
                    f"{directory}/mcp-{address.port}.token",
                    file=sys.stderr,
                    flush=True,
                )
                await http.serve(server, home, http.Place(listening, address, token), stop)

        trio.run(_until_told, serve, False)


async def _until_told(serve: Callable[[trio.Event], Awaitable[None]], at_once: bool) -> None:
    """Serve until it is over, or a signal comes: then ``stop`` is set, and with ``at_once`` all
    that is under way is cancelled."""
    stop = trio.Event()
    async with trio.open_nursery() as nursery:
        await nursery.start(_signals, stop, nursery.cancel_scope if at_once else None)
        await serve(stop)
        nursery.cancel_scope.cancel()


async def _signals(
    stop: trio.Event,
    scope: trio.CancelScope | None,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    ending = [signal.SIGTERM, signal.SIGINT]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as nohup(1) leaves it
        ending.append(signal.SIGHUP)
    with trio.open_signal_receiver(*ending) as signals:
        task_status.started()
        async for _number in signals:
            stop.set()
            if scope is not None:
                scope.cancel()
