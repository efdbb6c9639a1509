"""The grammar of headers: what each key may be, and which keys each message type has.

Everything the codec in ``brokerd.wire`` accepts or refuses stands in the tables at the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from brokerd.errors import RETURN_CODES
from brokerd.limits import MAX_ID_LENGTH

VERSION: Final = 1
REQUEST: Final = "request"
RESPONSE: Final = "response"
EVENT: Final = "event"
BROKER: Final = "brokerd"
"""Both the broker's address and the ``from`` of its own messages."""

TOPIC_COMMAND: Final = "broker.topic"
"""``command`` of a topic event; only the broker sends it."""

BROKER_ONLY: Final = frozenset({"from", "topic", "seq", "gap"})

SERVICE_NAME: Final = re.compile(r"[a-z][a-z0-9-]{1,30}")
ALLOCATED_NAME: Final = re.compile(r"[tc][0-9a-z]{1,7}-[a-z2-7]{22}")
"""Names that only the broker gives, to records; nobody registers one."""

NODE_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
CONNECTION_ID: Final = re.compile(r"[0-9a-f]{32}")
COMMAND: Final = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,63}")
TOPIC_NAME: Final = re.compile(r"[a-z][a-z0-9._-]{0,63}")
_REQUEST_ID: Final = re.compile(rf"[\x21-\x7e]{{1,{MAX_ID_LENGTH}}}")
_ADDRESS: Final = re.compile(
    rf"{SERVICE_NAME.pattern}(?:\.{NODE_NAME.pattern})?|{CONNECTION_ID.pattern}"
)
_MAX_SEQ: Final = 2**64 - 1


def _is_version(value: object) -> bool:
    return type(value) is int and value == VERSION


def _is_rc(value: object) -> bool:
    return type(value) is int and value in RETURN_CODES


def _is_seq(value: object) -> bool:
    return type(value) is int and 0 <= value <= _MAX_SEQ


def _is_true(value: object) -> bool:
    return value is True


# A test may be a pattern's fullmatch: it raises TypeError for what is not text.
VALUES: Final[Mapping[str, tuple[Callable[[Any], object], str]]] = {
    "v": (_is_version, "1"),
    "type": (re.compile("request|response|event").fullmatch, "request, response or event"),
    "id": (
        _REQUEST_ID.fullmatch,
        f"1 to {MAX_ID_LENGTH} printable ASCII characters without spaces",
    ),
    "to": (_ADDRESS.fullmatch, "a service name, name.node or a connection id"),
    "command": (COMMAND.fullmatch, "a letter and up to 63 letters, digits, dots, dashes"),
    "rc": (_is_rc, "0, 5, 10 or 20"),
    "recipient_connection": (CONNECTION_ID.fullmatch, "32 lowercase hexadecimal digits"),
    "from": (
        re.compile(f"{BROKER}|{CONNECTION_ID.pattern}").fullmatch,
        "a connection id or brokerd",
    ),
    "topic": (TOPIC_NAME.fullmatch, "a topic name"),
    "seq": (_is_seq, "a sequence number"),
    "gap": (_is_true, "true"),
}


@dataclass(frozen=True, slots=True)
class Shape:
    """Which keys a message must have, and the test of each that it may have."""

    required: frozenset[str]
    tests: Mapping[str, Callable[[Any], object]]


def _shape(required: str, optional: str = "") -> Shape:
    allowed = required.split() + optional.split()
    return Shape(frozenset(required.split()), {key: VALUES[key][0] for key in allowed})


PEER_SHAPES: Final[Mapping[str, Shape]] = {
    REQUEST: _shape("v type id to command"),
    RESPONSE: _shape("v type id to rc"),
    EVENT: _shape("v type command recipient_connection"),
}
BROKER_SHAPES: Final[Mapping[str, Shape]] = {
    REQUEST: _shape("v type id to command from", "gap"),
    RESPONSE: _shape("v type id to rc from", "gap"),
    EVENT: _shape("v type command from", "recipient_connection topic seq gap"),
}
PEER_KEYS: Final = frozenset(VALUES) - BROKER_ONLY
"""The only keys that a peer may send."""
