"""What the broker is told before it runs, and what it tells once it can be reached."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from brokerd.limits import DEFAULTS, Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Tcp:
    """Where other machines come in: an address to bind and the directory of their keys."""

    endpoint: str
    keys: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """How to run.

    ``memory_mb`` 0 is no cap. ``shared`` is the directory of the endpoint for other users, ``tcp``
    that for other machines; None: there is none. ``observable`` are the services that may be
    observed.
    """

    runtime_dir: Path | None
    node: str
    ephemeral: bool = False
    memory_mb: int = 512
    limits: Limits = DEFAULTS
    shared: Path | None = None
    tcp: Tcp | None = None
    observable: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """What is known once the broker accepts connections.

    ``shared`` is the socket for other users, ``tcp`` the address for other machines with its real
    port, ``tcp_public_key`` the key (z85) that they must know. None: there is none.
    """

    runtime_dir: str
    socket: str
    pid: int
    uid: int
    node: str
    broker_epoch: str
    ephemeral: bool
    shared: str | None = None
    tcp: str | None = None
    tcp_public_key: str | None = None
