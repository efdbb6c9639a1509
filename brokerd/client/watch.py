"""What the kernel knows of the broker: whether one listens, whose it is, and when it ends."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import trio

from brokerd.client.errors import ForeignBroker, NotConnected
from brokerd.principal import parse_peer_address


def check_listening(path: Path) -> None:
    """Raise NotConnected unless somebody listens at ``path`` now. Sends nothing, never waits.

    Without this a missing broker would only show as silence.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as probe:
        try:
            probe.connect(os.fspath(path))
        except BlockingIOError:
            return  # its backlog is full: alive, and busy
        except FileNotFoundError:
            raise NotConnected(f"no broker at {path}") from None
        except OSError as error:
            raise NotConnected(f"nobody answers at {path} ({error.strerror})") from None


def check_owner(peer_address: str) -> int:
    """The broker's pid, when its uid is ours or root's. Raises ForeignBroker otherwise.

    ``peer_address`` is libzmq's word (``Peer-Address``), which it has from the kernel.
    """
    peer = parse_peer_address(peer_address)
    if peer is None:
        raise ForeignBroker(None)
    if peer.uid not in (os.geteuid(), 0):
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
