"""Who is at the other end of a connection, as the transport vouches for it."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final, TypeAlias

from brokerd.encodings import MAX_U32

NOBODY_UID: Final = 65_534
"""What the kernel says for a user it cannot represent here (another user namespace)."""

_TRIPLE: Final = re.compile(r".*:([0-9]{1,10}):([0-9]{1,10}):([0-9]{1,10})", re.DOTALL | re.ASCII)


@dataclass(frozen=True, slots=True)
class PeerCredentials:
    """Who connected, as the kernel reported it when the connection was made."""

    uid: int
    gid: int
    pid: int

    @property
    def owner(self) -> Hashable:
        """Whom its connection is charged to, and whose its topics are."""
        return self.uid


@dataclass(frozen=True, slots=True)
class NodePeer:
    """Another machine: the ``node`` whose public ``key`` (Z85) the handshake has proved."""

    node: str
    key: str

    @property
    def owner(self) -> Hashable:
        """Whom its connection is charged to: never equal to a uid."""
        return f"node:{self.node}"

    @property
    def uid(self) -> None:
        """No user of this machine."""
        return None

    @property
    def pid(self) -> None:
        """No process of this machine."""
        return None


Peer: TypeAlias = PeerCredentials | NodePeer


def parse_peer_address(address: str) -> PeerCredentials | None:
    """The credentials at the right end of libzmq's ``localhost:uid:gid:pid``, else None.

    None when the triple is missing, out of 32-bit range, of uid 65534, or of pid 0: the last two
    mean that the kernel cannot say who it is from where this process stands.
    """
    found = _TRIPLE.fullmatch(address)
    if found is None:
        return None
    uid, gid, pid = (int(digits) for digits in found.groups())
    known = max(uid, gid, pid) <= MAX_U32 and uid != NOBODY_UID and pid != 0
    return PeerCredentials(uid, gid, pid) if known else None
