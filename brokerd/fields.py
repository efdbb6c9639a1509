"""Strict readers of what the broker says of sessions: one per kind, each raises BadField."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from brokerd.encodings import CAPABILITIES, HASH_BYTES, ID_BYTES, MAX_U32, parse_hex, parse_u64
from brokerd.grammar import ALLOCATED_NAME, NODE_NAME


class BadField(Exception):
    """A value that is not of its field's kind. It says which kind, never the value."""


Reader: TypeAlias = Callable[[object], Any]


def read_fields(readers: Mapping[str, Reader], raw: object) -> dict[str, Any]:
    """The values of an object that has exactly these fields. Raises BadField."""
    if not isinstance(raw, Mapping) or raw.keys() != readers.keys():
        raise BadField("exactly the agreed fields")
    return {key: read(raw[key]) for key, read in readers.items()}


def plain(value: object) -> object:
    """A field as it is on the wire: numbers are canonical decimal strings."""
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, int) else value


def identifier(raw: object) -> str:
    """128 bits as 32 hex digits."""
    return _hex(raw, ID_BYTES)


def digest(raw: object) -> str:
    """A hash or a public key as 64 hex digits."""
    return _hex(raw, HASH_BYTES)


def number(raw: object) -> int:
    """A u64, as a canonical decimal string."""
    value = parse_u64(raw)
    if value is None:
        raise BadField("a canonical decimal string")
    return value


def uid(raw: object) -> int:
    """A user, as a JSON number."""
    if type(raw) is not int or not 0 <= raw <= MAX_U32:
        raise BadField("a uid")
    return raw


def flag(raw: object) -> bool:
    """A JSON boolean."""
    if not isinstance(raw, bool):
        raise BadField("a boolean")
    return raw


def node(raw: object) -> str:
    """The name of a machine."""
    return _text(raw, NODE_NAME.fullmatch)


def allocated_name(raw: object) -> str:
    """The name of a record."""
    return _text(raw, ALLOCATED_NAME.fullmatch)


def capabilities(raw: object) -> tuple[str, ...]:
    """1 to 6 of the known ones, ascending, each once."""
    if not isinstance(raw, list) or not raw or raw != [one for one in CAPABILITIES if one in raw]:
        raise BadField("capabilities")
    return tuple(raw)


def one_of(allowed: tuple[str, ...]) -> Reader:
    """A reader of one of these words."""
    return lambda raw: _text(raw, allowed.__contains__)


def or_none(read: Reader) -> Reader:
    """A reader of what may be null."""
    return lambda raw: None if raw is None else read(raw)


def _hex(raw: object, size: int) -> str:
    if not isinstance(raw, str) or parse_hex(raw, size) is None:
        raise BadField("text of its kind")
    return raw


def _text(raw: object, fits: Callable[[str], object]) -> str:
    if not isinstance(raw, str) or not fits(raw):
        raise BadField("text of its kind")
    return raw


REF: Final[Mapping[str, Reader]] = {
    "record_id": identifier,
    "incarnation": identifier,
    "binding_generation": number,
}
