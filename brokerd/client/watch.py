"""What the kernel knows of the broker: whether one listens, whose it is, and when it ends."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from typing import Final

import trio

from brokerd.client.errors import ForeignBroker, NotConnected
from brokerd.client.waiting import background
from brokerd.principal import parse_peer_address

_UCRED: Final = struct.Struct("3i")
"""pid, uid, gid, as SO_PEERCRED gives them."""


def check_listening(path: Path) -> int | None:
    """Raise NotConnected unless somebody listens at ``path`` now; the listener's pid, if known.

    Sends nothing, never waits. Without this a missing broker would only show as silence.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as probe:
        try:
            probe.connect(os.fspath(path))
        except BlockingIOError:
            return None  # its backlog is full: alive, and busy
        except FileNotFoundError:
            raise NotConnected(f"no broker at {path}") from None
        except OSError as error:
            raise NotConnected(f"nobody answers at {path} ({error.strerror})") from None
        credentials = probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
    pid: int = _UCRED.unpack(credentials)[0]
    return pid or None


def check_owner(peer_address: str, owners: Collection[int] | None = None) -> int:
    """The broker's pid, when its uid is of ``owners``. Raises ForeignBroker otherwise.

    None: this user and root.

    ``peer_address`` is libzmq's word (``Peer-Address``), which it has from the kernel.
    """
    peer = parse_peer_address(peer_address)
    if peer is None:
        raise ForeignBroker(None)
    if peer.uid not in ((os.geteuid(), 0) if owners is None else owners):
        raise ForeignBroker(peer.uid)
    return peer.pid


async def wait_process_end(pid: int) -> None:
    """Wait until that process has ended (at once when there is none). It need not be a child."""
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:
        await trio.lowlevel.checkpoint()
        return
    try:
        await trio.lowlevel.wait_readable(descriptor)
    finally:
        os.close(descriptor)


async def while_alive(pid: int | None, work: Callable[[], Awaitable[None]]) -> None:
    """Run ``work`` until it is done or that process has ended. None: until it is done."""
    if pid is None:
        await work()
        return
    process = pid
    with trio.CancelScope() as scope:

        async def watch(_nursery: trio.Nursery) -> None:
            await wait_process_end(process)
            scope.cancel()

        async with background(watch):
            await work()
