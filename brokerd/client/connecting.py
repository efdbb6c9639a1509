"""How a program comes to a bus: through a runtime directory, a shared one, or from afar."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from brokerd.client.bus import Bus
from brokerd.client.session import Session
from brokerd.client.waiting import background
from brokerd.limits import DEFAULTS, Limits

if TYPE_CHECKING:
    from brokerd.client.target import Target


@asynccontextmanager
async def connect(
    runtime_dir: str | os.PathLike[str] | None = None,
    *,
    shared: str | os.PathLike[str] | None = None,
    account: int | str | None = None,
    limits: Limits = DEFAULTS,
    timeout: float = 5.0,
    wait: bool = False,
) -> AsyncIterator[Bus]:
    """A connection to the broker of ``runtime_dir`` (None: the user's own, see specs/bus.md).

    With ``shared``, to the one that shares that directory; it must be root's, this user's or that
    of ``account`` (a user's name or uid). Raises NotConnected when there is no broker: at once
    when nobody listens, or, with ``wait``, after ``timeout`` seconds. Raises ForeignBroker when it
    is another user's, RuntimeDirError when the directory cannot be trusted, ValueError when there
    is no such account. Once connected, it reconnects for as long as the block runs. Exceptions of
    the block come out as they are.
    """
    from brokerd.client.target import SharedTarget, local  # late: as in _connected

    if shared is not None:
        target: Target = SharedTarget(shared, account)
    else:
        target = local(runtime_dir, make=wait)
    async with _connected(target, limits, timeout, wait=wait) as bus:
        yield bus


@asynccontextmanager
async def connect_node(
    endpoint: str,
    *,
    server_key: str,
    secret_key: str,
    limits: Limits = DEFAULTS,
    timeout: float = 10.0,
    wait: bool = False,
) -> AsyncIterator[Bus]:
    """A connection to the broker of another machine, at ``tcp://HOST:PORT``.

    ``server_key`` is that broker's public key, ``secret_key`` this machine's own (Z85, see
    `brokerd keys`). Raises NotConnected: nobody answers there, or not who has that key, or this
    machine's is not known there. Raises ValueError for what is no endpoint or no key. A broker
    that is silent for 15 s is lost. Once connected, it reconnects for as long as the block runs.
    """
    from brokerd.client.target import NodeTarget  # late: as in _connected

    target = NodeTarget(endpoint, server_key, secret_key)
    async with _connected(target, limits, timeout, wait=wait) as bus:
        yield bus


def preload() -> None:
    """Import now what ``connect`` would: for a process that forks those that will connect."""
    import brokerd.client.link
    import brokerd.client.target  # noqa: F401  # both as in _connected


@asynccontextmanager
async def _connected(
    target: Target, limits: Limits, timeout: float, *, wait: bool
) -> AsyncIterator[Bus]:
    from brokerd.client.link import linked  # late: pyzmq, which an in-memory bus does not need

    session = Session(limits)
    async with (
        linked(target, session, limits, timeout=timeout, wait=wait) as link,
        background(link.run),
    ):
        yield Bus(session)
