"""A pane's sidecar: proves who the pane is, keeps that proved, and answers for its shell.

It holds nothing of the pane: no PTY, no shell. It ends when its channel to Term does.
"""

from __future__ import annotations

import signal
import socket
from typing import Final

import trio

from brokerd.client import boottime_ms, where
from termnode.paneshell import loud
from termnode.paneshell.attachment import Attachment
from termnode.paneshell.channel import UNBOUND, SidecarEnd, SidecarState
from termnode.paneshell.descriptor import BadDescriptor, close_all
from termnode.paneshell.identity import Identity, identity_of
from termnode.paneshell.launch import Launch
from termnode.paneshell.operations import Operations
from termnode.paneshell.shell_side import ShellSide
from termnode.paneshell.tasks.client import Tasks
from termnode.paneshell.tasks.starting import Supervisor, start_supervisor

STOP_SECONDS: Final = 3.0
"""For the whole end: revocation and farewell."""


def run(launch: Launch, channel_fd: int, descriptor_fd: int | None) -> None:
    """Be the sidecar until Term says so, is gone, or SIGTERM. Blocks; owns both descriptors."""
    # Before there is a secret, a thread or an event loop: none of them is for a task's ancestors.
    supervisor = start_supervisor(launch.pane, launch.shell_pid)
    try:
        _be(launch, channel_fd, descriptor_fd, supervisor)
    finally:
        if supervisor is not None:
            supervisor.end()


def _be(
    launch: Launch, channel_fd: int, descriptor_fd: int | None, supervisor: Supervisor | None
) -> None:
    try:
        identity, problem = identity_of(launch, descriptor_fd), ""
    except BadDescriptor as error:
        identity, problem = None, str(error)
        close_all()
        loud.say(problem, launch.tty)
    try:
        sock = socket.socket(fileno=channel_fd)
        trio.run(_main, launch, sock, identity, problem, supervisor)
    except Exception as error:
        loud.say(f"it has failed ({where(error)})", None)
        raise


async def _main(
    launch: Launch,
    sock: socket.socket,
    identity: Identity | None,
    problem: str,
    supervisor: Supervisor | None,
) -> None:
    channel = SidecarEnd(sock)
    operations = Operations()
    kind = "sh" if launch.shell is None else launch.shell.kind
    tasks = Tasks(supervisor, kind, operations, boottime_ms)
    shell = ShellSide(launch, channel, operations)
    attachment = None if identity is None else Attachment(launch, channel, identity, shell, tasks)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(channel.send)
        nursery.start_soon(shell.run)  # unbound too: what a shell tells and nobody reads stops it
        if attachment is None:
            channel.tell(SidecarState(UNBOUND, problem))
            _end_soon(supervisor)  # nobody can ask for a task
        else:
            nursery.start_soon(tasks.run)
            nursery.start_soon(attachment.run)
        await _end_asked(channel)
        _end_soon(supervisor)
        if attachment is not None:
            with trio.move_on_after(STOP_SECONDS):
                await attachment.end()
        nursery.cancel_scope.cancel()


def _end_soon(supervisor: Supervisor | None) -> None:
    if supervisor is not None:
        supervisor.ask_end()


async def _end_asked(channel: SidecarEnd) -> None:
    """Wait for the channel's end or for SIGTERM."""
    with trio.open_signal_receiver(signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:

            async def on_signal() -> None:
                async for _ in signals:
                    nursery.cancel_scope.cancel()

            nursery.start_soon(on_signal)
            await channel.wait_end()
            nursery.cancel_scope.cancel()
