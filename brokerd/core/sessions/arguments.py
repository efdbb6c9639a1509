"""Reading the arguments of session commands: each field by its kind, none unknown, none missing.

Every reader raises Refusal (INVALID_ARGUMENT) that names the field, never its value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from brokerd.bodies import Json
from brokerd.core.sessions.model import Ref
from brokerd.encodings import (
    CAPABILITIES,
    ID_BYTES,
    KEY_BYTES,
    SIGNATURE_BYTES,
    parse_hex,
    parse_u64,
)
from brokerd.errors import invalid

Args: TypeAlias = "dict[str, Any]"
Reader: TypeAlias = Callable[[str, Json], Any]
"""Field name and value as JSON to the value it stands for."""


@dataclass(frozen=True, slots=True)
class Form:
    """Which fields a body has: all of them, but what has a default may be absent (not null)."""

    fields: Mapping[str, Reader]
    defaults: Mapping[str, object] = field(default_factory=dict)

    def read(self, body: Mapping[str, Json]) -> Args:
        """The arguments in ``body``."""
        if unknown := body.keys() - self.fields.keys():
            words = f"the body has {len(unknown)} field(s) that this command does not know"
            raise invalid("body", words)
        for name in sorted(self.fields.keys() - self.defaults.keys() - body.keys()):
            raise invalid(name, f"{name} is missing")
        given = {name: self.fields[name](name, value) for name, value in body.items()}
        return {**self.defaults, **given}


def an_id(field: str, value: Json) -> str:
    """32 lowercase hex digits, as text."""
    if parse_hex(value, ID_BYTES) is None:
        raise invalid(field, f"{field} must be {2 * ID_BYTES} lowercase hexadecimal digits")
    return str(value)


def a_number(field: str, value: Json) -> int:
    """A canonical decimal string of a u64."""
    number = parse_u64(value)
    if number is None:
        raise invalid(field, f"{field} must be a decimal string below 2^64, in its shortest form")
    return number


def a_generation(field: str, value: Json) -> int:
    """A number that is not 0."""
    number = a_number(field, value)
    if number == 0:
        raise invalid(field, f"{field} starts at 1")
    return number


def capabilities(field: str, value: Json) -> tuple[str, ...]:
    """1 to 6 of the six, each once, in any order; ascending here."""
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise invalid(field, f"{field} must be a list of text")
    tokens = [each for each in CAPABILITIES if each in value]
    if not tokens or len(tokens) != len(value):
        raise invalid(field, f"{field} must be 1 to 6 of {', '.join(CAPABILITIES)}, each once")
    return tuple(tokens)


def one_of(*allowed: str) -> Reader:
    """One of these words."""

    def read(field: str, value: Json) -> str:
        if not isinstance(value, str) or value not in allowed:
            raise invalid(field, f"{field} must be {' or '.join(allowed)}")
        return value

    return read


def or_null(reader: Reader) -> Reader:
    """What ``reader`` reads, or null."""
    return lambda field, value: None if value is None else reader(field, value)


def a_ref(field: str, value: Json) -> Ref:
    """What names one binding of a record."""
    if not isinstance(value, dict):
        raise invalid(field, f"{field} must be an object")
    if value.keys() != _REF.keys():
        raise invalid(field, f"{field} must have exactly {', '.join(_REF)}")
    parts = {key: reader(f"{field}.{key}", value[key]) for key, reader in _REF.items()}
    return Ref(**parts)


def _bytes(size: int) -> Reader:
    def read(field: str, value: Json) -> bytes:
        raw = parse_hex(value, size)
        if raw is None:
            raise invalid(field, f"{field} must be {2 * size} lowercase hexadecimal digits")
        return raw

    return read


a_key: Final = _bytes(KEY_BYTES)
a_signature: Final = _bytes(SIGNATURE_BYTES)
_REF: Final[Mapping[str, Reader]] = {
    "record_id": an_id,
    "incarnation": an_id,
    "binding_generation": a_number,
}
