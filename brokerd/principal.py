"""Who a peer is: the kernel's word, the broker's stamp of it, and nothing else.

The only way to a ``Principal`` is a stamp that the broker wrote on a delivered message. There is no
way to one from a name, a pid or anything else a sender can choose. What cannot be represented is
None, never a default: an error must not share a value with a user (least of all with root).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import msgpack

from brokerd.wire import CONNECTION_ID, NODE_NAME

STAMP_VERSION: Final = 1
LOCAL_UNIX: Final = "local-unix"
MAX_STAMP_BYTES: Final = 1_024
NOBODY_UID: Final = 65_534
"""What the kernel says for a user it cannot represent here (another user namespace)."""

_MAX_U32: Final = 2**32 - 1
_TRIPLE: Final = re.compile(r".*:([0-9]{1,10}):([0-9]{1,10}):([0-9]{1,10})", re.DOTALL | re.ASCII)


@dataclass(frozen=True, slots=True)
class PeerCredentials:
    """Who connected, as the kernel reported it when the connection was made."""

    uid: int
    gid: int
    pid: int


def parse_peer_address(address: str) -> PeerCredentials | None:
    """The credentials at the right end of libzmq's ``localhost:uid:gid:pid``, else None.

    None when the triple is missing, out of 32-bit range, of uid 65534, or of pid 0: the last two
    mean that the kernel cannot say who it is from where this process stands.
    """
    found = _TRIPLE.fullmatch(address)
    if found is None:
        return None
    uid, gid, pid = (int(digits) for digits in found.groups())
    known = max(uid, gid, pid) <= _MAX_U32 and uid != NOBODY_UID and pid != 0
    return PeerCredentials(uid, gid, pid) if known else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The sender of a message, as the broker stamped it.

    ``unix_uid``, ``unix_gid`` and ``peer_pid`` are those of the process that connected;
    ``broker_epoch`` and ``connection_id`` (32 hex digits each) never repeat. Decide by uid, never
    by pid: a pid may have been reused.
    """

    owner_node: str
    unix_uid: int
    unix_gid: int
    peer_pid: int
    broker_epoch: str
    connection_id: str
    assurance: str = LOCAL_UNIX

    def to_stamp(self) -> bytes:
        """The stamp that says this (msgpack map). Only the broker has use for it."""
        fields: dict[str, object] = {key: getattr(self, key) for key in self.__slots__}
        raw: bytes = msgpack.packb({"version": STAMP_VERSION, **fields, "session": None})
        return raw

    @classmethod
    def from_stamp(cls, stamp: bytes) -> Principal | None:
        """The principal in ``stamp``, or None for any stamp that is not exactly one.

        Never raises. An empty stamp (the broker's own messages) is None: no principal.
        """
        fields = _unpack(stamp)
        if fields is None or not _complete(fields):
            return None
        return cls(**{key: fields[key] for key in cls.__slots__})  # type: ignore[arg-type]


def _unpack(stamp: bytes) -> dict[str, object] | None:
    if not 0 < len(stamp) <= MAX_STAMP_BYTES:
        return None
    try:
        pairs = msgpack.unpackb(stamp, object_pairs_hook=list, strict_map_key=True)
        fields = dict(pairs)
    except (ValueError, TypeError, OverflowError, msgpack.exceptions.UnpackException):
        return None
    return fields if len(fields) == len(pairs) else None


def _complete(fields: Mapping[str, object]) -> bool:
    return fields.keys() == _FIELDS.keys() and all(
        test(fields[key]) for key, test in _FIELDS.items()
    )


def _is_u32(value: object) -> bool:
    return type(value) is int and 0 <= value <= _MAX_U32


def _is(expected: object) -> Callable[[object], bool]:
    return lambda value: type(value) is type(expected) and value == expected


def _matches(pattern: re.Pattern[str]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


_FIELDS: Final[Mapping[str, Callable[[object], bool]]] = {
    "version": _is(STAMP_VERSION),
    "assurance": _is(LOCAL_UNIX),
    "owner_node": _matches(NODE_NAME),
    "unix_uid": lambda value: _is_u32(value) and value != NOBODY_UID,
    "unix_gid": _is_u32,
    "peer_pid": lambda value: _is_u32(value) and value != 0,
    "broker_epoch": _matches(CONNECTION_ID),
    "connection_id": _matches(CONNECTION_ID),
    # No session binding exists yet, so a stamp that claims one is not ours.
    "session": lambda value: value is None,
}
