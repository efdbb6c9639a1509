"""The bytes of verified sessions: what a key signs, and what a capability set hashes to.

A signature binds exactly these bytes, so there is one way to write each: big-endian numbers,
lengths of 16 bits in front of text, one byte in front of what may be missing. On the wire the same
fields are JSON: ids, hashes and nonces in lowercase hex, u64 numbers as canonical decimal strings.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

CAPABILITIES: Final = (
    "execute",
    "input",
    "manage_layout",
    "read_contents",
    "read_state",
    "terminate",
)
"""All that a record can be allowed, ascending."""

TERM: Final = "term"
PANE_SHELL: Final = "pane-shell"
ROLES: Final = (TERM, PANE_SHELL)

DEFAULT_OPEN: Final = "default-open"
RESTRICTED: Final = "restricted"
POLICIES: Final = (DEFAULT_OPEN, RESTRICTED)

ENROL: Final = "enrol"
RESUME: Final = "resume"
PURPOSES: Final = (ENROL, RESUME)

MAX_U64: Final = 2**64 - 1
MAX_U32: Final = 2**32 - 1
ID_BYTES: Final = 16
HASH_BYTES: Final = 32
KEY_BYTES: Final = 32
NONCE_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64

_PROOF: Final = b"cosmix.native-session.proof\0\0\1"
_ALLOCATE: Final = b"cosmix.native-session.allocate\0\0\1"
_U64: Final = re.compile(r"0|[1-9][0-9]{0,19}")
_HEX: Final = re.compile(r"[0-9a-f]*")


def parse_u64(value: object) -> int | None:
    """The number that a canonical decimal string of a u64 says; None for anything else."""
    if not isinstance(value, str) or _U64.fullmatch(value) is None:
        return None
    number = int(value)
    return number if number <= MAX_U64 else None


def parse_hex(value: object, size: int) -> bytes | None:
    """The ``size`` bytes that lowercase hex says; None for anything else."""
    if not isinstance(value, str) or len(value) != 2 * size or _HEX.fullmatch(value) is None:
        return None
    return bytes.fromhex(value)


def encode_capabilities(capabilities: Iterable[str]) -> bytes:
    """The set in its one encoding, whatever the order given.

    Raises ValueError for an empty set, an unknown token, or one given twice.
    """
    tokens = sorted(capabilities)
    if not tokens or len(set(tokens)) != len(tokens) or not set(tokens) <= set(CAPABILITIES):
        raise ValueError("capabilities are 1 to 6 different ones of the known six")
    return struct.pack("!H", len(tokens)) + b"".join(map(_prefixed, tokens))


def capabilities_hash(capabilities: Iterable[str]) -> bytes:
    """SHA-256 of the set's encoding. Raises ValueError as encode_capabilities does."""
    return hashlib.sha256(encode_capabilities(capabilities)).digest()


def key_hash(public_key: bytes) -> bytes:
    """SHA-256 of a public key."""
    return hashlib.sha256(public_key).digest()


def allocation_transcript(epoch: str, connection: str, public_key: bytes, policy: str) -> bytes:
    """What a key signs to get a Term record on this connection of this broker.

    ``epoch`` and ``connection`` are 32 hex digits. Bound to both, so that a signature is of no use
    anywhere else.
    """
    ids = bytes.fromhex(epoch) + bytes.fromhex(connection)
    return _ALLOCATE + ids + public_key + _prefixed(policy)


def _prefixed(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("!H", len(raw)) + raw


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What a key signs to hold a record: every fact that the broker will stamp or decide by.

    Ids are 32 hex digits, the nonce and the hashes 32 bytes; ``owner_uid`` is 32 bits, other
    numbers 64. Times are milliseconds of the broker's clock: whoever signs does not read them.
    The order of the fields is the order of the transcript.
    """

    purpose: str
    broker_epoch: str
    connection_id: str
    challenge_id: str
    nonce: bytes
    grant_id: str | None
    record_id: str
    instance_id: str
    incarnation: str
    owner_uid: int
    parent_instance: str | None
    parent_incarnation: str | None
    parent_key_hash: bytes | None
    pane_id: int | None
    pane_generation: int | None
    role: str
    public_key_hash: bytes
    capabilities_hash: bytes
    binding_generation: int
    """The one that the record will have once proved."""
    grant_expires_ms: int | None
    challenge_expires_ms: int

    def transcript(self) -> bytes:
        """The bytes to sign. Raises ValueError or struct.error for fields out of their range."""
        return _PROOF + b"".join(kind.pack(getattr(self, key)) for key, kind in _FIELDS.items())

    def to_json(self) -> dict[str, object]:
        """Every field by its name, as it is on the wire."""
        return {key: kind.write(getattr(self, key)) for key, kind in _FIELDS.items()}

    @classmethod
    def from_json(cls, fields: Mapping[str, object]) -> Proof | None:
        """The proof that exactly these fields say; None for one too many, missing or bad."""
        if fields.keys() != _FIELDS.keys():
            return None
        try:
            return cls(**{key: kind.read(fields[key]) for key, kind in _FIELDS.items()})
        except _BadField:
            return None


class _BadField(Exception):
    """A field of a proof that is not what its kind allows."""


class _Kind(NamedTuple):
    """How a field is signed, written as JSON and read from it (raises _BadField)."""

    pack: Callable[[Any], bytes]
    write: Callable[[Any], object]
    read: Callable[[object], Any]


def _sound(parse: Callable[[object], Any]) -> Callable[[object], Any]:
    def read(value: object) -> Any:  # noqa: ANN401 - text, bytes or a number, as the kind says
        if (found := parse(value)) is None:
            raise _BadField
        return found

    return read


def _parse_id(value: object) -> str | None:
    return str(value) if parse_hex(value, ID_BYTES) is not None else None


def _parse_uid(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= MAX_U32 else None


def _one_of(allowed: tuple[str, ...]) -> Callable[[object], str | None]:
    return lambda value: value if isinstance(value, str) and value in allowed else None


def _optional(kind: _Kind) -> _Kind:
    return _Kind(
        lambda value: b"\0" if value is None else b"\1" + kind.pack(value),
        lambda value: None if value is None else kind.write(value),
        lambda value: None if value is None else kind.read(value),
    )


def _exactly_32(raw: bytes) -> bytes:
    if len(raw) != HASH_BYTES:
        raise ValueError("a hash or nonce is 32 bytes")
    return raw


def _pack_id(text: str) -> bytes:
    if (raw := parse_hex(text, ID_BYTES)) is None:
        raise ValueError("an id is 32 lowercase hex digits")
    return raw


def _pack_purpose(purpose: str) -> bytes:
    return bytes((PURPOSES.index(purpose) + 1,))


_PURPOSE: Final = _Kind(_pack_purpose, str, _sound(_one_of(PURPOSES)))
_ROLE: Final = _Kind(_prefixed, str, _sound(_one_of(ROLES)))
_ID: Final = _Kind(_pack_id, str, _sound(_parse_id))
_HASH: Final = _Kind(_exactly_32, bytes.hex, _sound(lambda value: parse_hex(value, HASH_BYTES)))
_UID: Final = _Kind(struct.Struct("!I").pack, int, _sound(_parse_uid))
_NUMBER: Final = _Kind(struct.Struct("!Q").pack, str, _sound(parse_u64))

_FIELDS: Final[Mapping[str, _Kind]] = {
    "purpose": _PURPOSE,
    "broker_epoch": _ID,
    "connection_id": _ID,
    "challenge_id": _ID,
    "nonce": _HASH,
    "grant_id": _optional(_ID),
    "record_id": _ID,
    "instance_id": _ID,
    "incarnation": _ID,
    "owner_uid": _UID,
    "parent_instance": _optional(_ID),
    "parent_incarnation": _optional(_ID),
    "parent_key_hash": _optional(_HASH),
    "pane_id": _optional(_NUMBER),
    "pane_generation": _optional(_NUMBER),
    "role": _ROLE,
    "public_key_hash": _HASH,
    "capabilities_hash": _HASH,
    "binding_generation": _NUMBER,
    "grant_expires_ms": _optional(_NUMBER),
    "challenge_expires_ms": _NUMBER,
}
