"""Who a peer is: the kernel's word (or a key's), the broker's stamp of it, and nothing else.

The only way to a principal is a stamp that the broker wrote on a delivered message. There is no
way to one from a name, a pid or anything else a sender can choose. What cannot be represented is
None, never a default: an error must not share a value with a user (least of all with root).

A ``Principal`` is a process of this machine, a ``NodePrincipal`` another machine. They are two
types so that what asks for a ``Principal`` refuses machines without thinking of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import msgpack

from brokerd.binding import SessionBinding
from brokerd.encodings import MAX_U32
from brokerd.peers import NOBODY_UID, NodePeer, Peer, PeerCredentials, parse_peer_address
from brokerd.wire import CONNECTION_ID, NODE_NAME

__all__ = [
    "LOCAL_UNIX",
    "MAX_STAMP_BYTES",
    "NODE",
    "SESSION_BOUND",
    "NodePeer",
    "NodePrincipal",
    "Peer",
    "PeerCredentials",
    "Principal",
    "SessionBinding",
    "parse_peer_address",
    "principal_from_stamp",
]

STAMP_VERSION: Final = 1
LOCAL_UNIX: Final = "local-unix"
SESSION_BOUND: Final = "session-bound"
NODE: Final = "node"
MAX_STAMP_BYTES: Final = 1_024


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The sender of a message, a process of this machine, as the broker stamped it.

    ``unix_uid``, ``unix_gid`` and ``peer_pid`` are those of the process that connected;
    ``broker_epoch`` and ``connection_id`` (32 hex digits each) never repeat. Decide by uid, never
    by pid: a pid may have been reused. ``session`` is the record that its connection held.
    """

    owner_node: str
    unix_uid: int
    unix_gid: int
    peer_pid: int
    broker_epoch: str
    connection_id: str
    session: SessionBinding | None = None

    @property
    def assurance(self) -> str:
        """``session-bound`` when there is a session, else ``local-unix``."""
        return LOCAL_UNIX if self.session is None else SESSION_BOUND

    def to_stamp(self) -> bytes:
        """The stamp that says this (msgpack map). Only the broker has use for it."""
        fields: dict[str, object] = {key: getattr(self, key) for key in self.__slots__}
        fields["session"] = None if self.session is None else self.session.to_fields()
        return _pack(self.assurance, fields)

    @classmethod
    def from_stamp(cls, stamp: bytes) -> Principal | None:
        """The principal in ``stamp``, or None for any stamp that is not exactly one.

        Never raises. An empty stamp (the broker's own messages) is None: no principal. So is that
        of another machine.
        """
        principal = principal_from_stamp(stamp)
        return principal if isinstance(principal, Principal) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePrincipal:
    """The sender of a message that came from another machine: ``owner_node``, and no user."""

    owner_node: str
    broker_epoch: str
    connection_id: str

    @property
    def assurance(self) -> str:
        """Always ``node``."""
        return NODE

    @property
    def unix_uid(self) -> None:
        """No user of this machine."""
        return None

    @property
    def peer_pid(self) -> None:
        """No process of this machine."""
        return None

    @property
    def session(self) -> None:
        """A machine holds no record."""
        return None

    def to_stamp(self) -> bytes:
        """The stamp that says this (msgpack map). Only the broker has use for it."""
        fields: dict[str, object] = {key: getattr(self, key) for key in self.__slots__}
        return _pack(NODE, {**fields, "session": None})


def principal_from_stamp(stamp: bytes) -> Principal | NodePrincipal | None:
    """Whom ``stamp`` is of, or None for any stamp that is not exactly one. Never raises."""
    fields = _unpack(stamp)
    if fields is None:
        return None
    if _complete(fields, _NODE_FIELDS):
        return NodePrincipal(**{key: fields[key] for key in NodePrincipal.__slots__})  # type: ignore[arg-type]
    session = fields.get("session")
    if not _complete(fields, _BARE_FIELDS if session is None else _BOUND_FIELDS):
        return None
    binding = None if session is None else SessionBinding.from_fields(session)
    if session is not None and binding is None:
        return None
    known = {key: fields[key] for key in Principal.__slots__}
    return Principal(**{**known, "session": binding})  # type: ignore[arg-type]


def _pack(assurance: str, fields: Mapping[str, object]) -> bytes:
    raw: bytes = msgpack.packb({"version": STAMP_VERSION, "assurance": assurance, **fields})
    return raw


def _unpack(stamp: bytes) -> dict[str, object] | None:
    if not 0 < len(stamp) <= MAX_STAMP_BYTES:
        return None
    try:
        fields = msgpack.unpackb(stamp, object_pairs_hook=_unique, strict_map_key=True)
    except (ValueError, TypeError, OverflowError, msgpack.exceptions.UnpackException):
        return None
    return fields if isinstance(fields, dict) else None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a key twice")
    return fields


def _complete(fields: Mapping[str, object], tests: Mapping[str, Callable[[object], bool]]) -> bool:
    return fields.keys() == tests.keys() and all(test(fields[key]) for key, test in tests.items())


def _is_u32(value: object) -> bool:
    return type(value) is int and 0 <= value <= MAX_U32


def _is(expected: object) -> Callable[[object], bool]:
    return lambda value: type(value) is type(expected) and value == expected


def _matches(pattern: re.Pattern[str]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


_COMMON: Final[Mapping[str, Callable[[object], bool]]] = {
    "version": _is(STAMP_VERSION),
    "owner_node": _matches(NODE_NAME),
    "broker_epoch": _matches(CONNECTION_ID),
    "connection_id": _matches(CONNECTION_ID),
    "session": lambda _: True,  # SessionBinding.from_fields is its test
}
_LOCAL: Final[Mapping[str, Callable[[object], bool]]] = {
    **_COMMON,
    "unix_uid": lambda value: _is_u32(value) and value != NOBODY_UID,
    "unix_gid": _is_u32,
    "peer_pid": lambda value: _is_u32(value) and value != 0,
}
_BARE_FIELDS: Final = {**_LOCAL, "assurance": _is(LOCAL_UNIX)}
_BOUND_FIELDS: Final = {**_LOCAL, "assurance": _is(SESSION_BOUND)}
_NODE_FIELDS: Final = {**_COMMON, "assurance": _is(NODE), "session": _is(None)}
