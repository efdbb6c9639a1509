"""The envelope: the one codec of headers that both ends use.

Size is checked before decoding, shape before use. Each message type has a closed set of keys; the
tables in ``brokerd.grammar`` say which. Keys that only the broker may write are dropped from what a
peer sends, in any letter case, so that nothing a peer claims can be mistaken for the broker's word.

Invariant (property-tested): any bytes either decode to a ``Header`` or raise ``HeaderError``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import msgpack

from brokerd.errors import Refusal, invalid
from brokerd.grammar import (
    ALLOCATED_NAME,
    BROKER,
    BROKER_ONLY,
    BROKER_SHAPES,
    COMMAND,
    CONNECTION_ID,
    EVENT,
    NODE_NAME,
    PEER_KEYS,
    PEER_SHAPES,
    REQUEST,
    RESPONSE,
    SERVICE_NAME,
    TOPIC_COMMAND,
    TOPIC_NAME,
    VALUES,
    VERSION,
    Shape,
)
from brokerd.limits import MAX_HEADER_BYTES

__all__ = [
    "ALLOCATED_NAME",
    "BROKER",
    "BROKER_ONLY",
    "COMMAND",
    "CONNECTION_ID",
    "EVENT",
    "NODE_NAME",
    "REQUEST",
    "RESPONSE",
    "SERVICE_NAME",
    "TOPIC_COMMAND",
    "TOPIC_NAME",
    "VERSION",
    "Header",
    "HeaderError",
    "decode_header",
    "encode_header",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """A checked header. Fields are named as on the wire (``from_`` is ``from``); None is absent."""

    type: str
    v: int = VERSION
    id: str | None = None
    to: str | None = None
    command: str | None = None
    rc: int | None = None
    recipient_connection: str | None = None
    from_: str | None = None
    topic: str | None = None
    seq: int | None = None
    gap: bool | None = None


class HeaderError(Exception):
    """The header cannot be used.

    ``request_id`` is set when the bytes are a request whose id can be read, that is, when the
    sender can be told; ``refusal`` is what to tell. Neither carries any other part of the header.
    """

    def __init__(self, field: str, message: str, request_id: str | None = None) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message
        self.request_id = request_id

    @property
    def refusal(self) -> Refusal:
        """The INVALID_ARGUMENT that answers it."""
        return invalid(self.field, self.message)


def encode_header(fields: Mapping[str, object]) -> bytes:
    """The msgpack map of ``fields`` (wire names). Raises HeaderError when over 4,096 bytes."""
    raw: bytes = msgpack.packb(fields)
    if len(raw) > MAX_HEADER_BYTES:
        raise HeaderError("header", f"the header is over {MAX_HEADER_BYTES} bytes")
    return raw


def decode_header(raw: bytes, *, from_broker: bool) -> Header:
    """The header in ``raw``, checked against the contract of the side that sent it.

    ``from_broker`` says who wrote the bytes: a peer's broker-only keys are dropped, the broker's
    are checked. Raises HeaderError and nothing else, whatever the bytes.
    """
    fields = _unpack(raw)
    if not from_broker and not fields.keys() <= PEER_KEYS:
        fields = _strip(fields)
    kind = fields.get("type")
    shapes = BROKER_SHAPES if from_broker else PEER_SHAPES
    shape = shapes.get(kind) if isinstance(kind, str) else None
    if shape is None or not _fits(fields, shape):
        raise _explain(fields, shape)
    if "from" in fields:
        fields["from_"] = fields.pop("from")
    return Header(**fields)  # type: ignore[arg-type]  # checked just above, field by field


def _unpack(raw: bytes) -> dict[str, object]:
    if len(raw) > MAX_HEADER_BYTES:
        raise HeaderError("header", f"the header is over {MAX_HEADER_BYTES} bytes")
    try:
        fields = _unpackb(raw)
    except _UNPACK_ERRORS:
        raise HeaderError("header", "the header is not a msgpack map of known keys") from None
    if not isinstance(fields, dict):
        raise HeaderError("header", "the header must be a map")
    if len(fields) != _declared_pairs(raw):
        raise HeaderError("header", "the header has a duplicate key", _id_given_once(raw))
    return fields


# No header has an array, a binary, an extension or more keys than this.
_unpackb: Final = partial(
    msgpack.unpackb,
    raw=False,
    strict_map_key=True,
    max_map_len=32,
    max_array_len=0,
    max_bin_len=0,
    max_ext_len=0,
)
# ValueError covers every malformed input; TypeError a map key that cannot be hashed.
_UNPACK_ERRORS: Final = (
    ValueError,
    TypeError,
    OverflowError,
    msgpack.exceptions.UnpackException,
)


def _declared_pairs(raw: bytes) -> int:
    """How many pairs the map in ``raw`` says it has: more than were decoded means duplicates."""
    first = raw[0]
    if first <= 0x8F:  # fixmap: the low four bits
        return first & 0x0F
    return int.from_bytes(raw[1:3] if first == 0xDE else raw[1:5], "big")  # map 16, map 32


def _id_given_once(raw: bytes) -> str | None:
    """The request id of a header with a duplicate key, unless that is what was given twice."""
    pairs = _unpackb(raw, object_pairs_hook=list)
    keys = [key for key, _ in pairs]
    if keys.count("id") != 1 or keys.count("type") != 1:
        return None
    return _readable_id(dict(pairs))


def _strip(fields: Mapping[str, object]) -> dict[str, object]:
    # With strict_map_key, a key is text or bytes; both can be lowered, and bytes never match.
    return {key: value for key, value in fields.items() if key.lower() not in BROKER_ONLY}


def _readable_id(fields: Mapping[str, object]) -> str | None:
    request_id = fields.get("id")
    if fields.get("type") == REQUEST and _passes("id", request_id):
        return str(request_id)
    return None


def _fits(fields: Mapping[str, object], shape: Shape) -> bool:
    """Whether every field is allowed and valid, and none is missing. The fast way: no reasons."""
    tests = shape.tests
    try:
        for key, value in fields.items():
            if not tests[key](value):
                return False
    except (KeyError, TypeError):  # an unknown key; not text where a pattern is to match
        return False
    return shape.required <= fields.keys()


def _explain(fields: Mapping[str, object], shape: Shape | None) -> HeaderError:
    """What is wrong with fields that do not fit, for the sender to correct."""
    field, message = "type", "type must be request, response or event"
    if shape is not None:
        field, message = _fault(fields, shape)
    return HeaderError(field, message, _readable_id(fields))


def _fault(fields: Mapping[str, object], shape: Shape) -> tuple[str, str]:
    for key, value in fields.items():
        if key not in shape.tests:
            return "header", "the header has a key that this type of message may not have"
        if not _passes(key, value):
            return key, f"{key} must be {VALUES[key][1]}"
    missing = min(shape.required - fields.keys())
    return missing, f"{missing} is missing"


def _passes(key: str, value: object) -> bool:
    try:
        return bool(VALUES[key][0](value))
    except TypeError:
        return False
