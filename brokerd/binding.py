"""The session part of a stamp: which record the sender's connection held when it was made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from brokerd.encodings import CAPABILITIES, ID_BYTES, ROLES, TERM, parse_hex, parse_u64


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionBinding:
    """The record that the sender's connection held, attached, when its message was queued.

    Ids are 32 hex digits. ``role`` is ``term`` or ``pane-shell``; the four parent and pane fields
    are None for a Term and never for a pane shell. ``capabilities`` are 1 to 6, ascending.
    ``lease_remaining_ms`` is the least of the record's lease and of its ancestors': count it from
    before your own question to the broker, never from the arrival of the message.
    """

    record_id: str
    instance_id: str
    incarnation: str
    role: str
    parent_instance: str | None
    parent_incarnation: str | None
    pane_id: int | None
    pane_generation: int | None
    binding_generation: int
    capabilities: tuple[str, ...]
    lease_remaining_ms: int

    def to_fields(self) -> dict[str, object]:
        """The map that says this in a stamp: numbers are canonical decimal strings."""
        return {key: _plain(getattr(self, key)) for key in self.__slots__}

    @classmethod
    def from_fields(cls, raw: object) -> SessionBinding | None:
        """The binding in a decoded map, or None for anything that is not exactly one."""
        if not isinstance(raw, dict) or raw.keys() != _READERS.keys():
            return None
        try:
            binding = cls(**{key: read(raw[key]) for key, read in _READERS.items()})
        except ValueError:
            return None
        return binding if _consistent(binding) else None


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, int) else value


def _consistent(binding: SessionBinding) -> bool:
    """A pane shell has a parent and a pane of generation 1 or more; a Term has neither."""
    place = (
        binding.parent_instance,
        binding.parent_incarnation,
        binding.pane_id,
        binding.pane_generation,
    )
    if binding.role == TERM:
        return place == (None, None, None, None)
    return None not in place and binding.pane_generation != 0


def _id(raw: object) -> str:
    if not isinstance(raw, str) or parse_hex(raw, ID_BYTES) is None:
        raise ValueError("not an id")
    return raw


def _role(raw: object) -> str:
    if not isinstance(raw, str) or raw not in ROLES:
        raise ValueError("not a role")
    return raw


def _number(raw: object) -> int:
    if (number := parse_u64(raw)) is None:
        raise ValueError("not a number")
    return number


def _generation(raw: object) -> int:
    if (number := _number(raw)) == 0:
        raise ValueError("nothing was bound yet")
    return number


def _capabilities(raw: object) -> tuple[str, ...]:
    """Only the one order, each once: so that equal sets are equal stamps."""
    if not isinstance(raw, list) or not raw:
        raise ValueError("not capabilities")
    if raw != [each for each in CAPABILITIES if each in raw]:
        raise ValueError("not capabilities, ascending, each once")
    return tuple(raw)


def _or_none(read: Callable[[object], Any]) -> Callable[[object], Any]:
    return lambda raw: None if raw is None else read(raw)


_READERS: Final[Mapping[str, Callable[[object], Any]]] = {
    "record_id": _id,
    "instance_id": _id,
    "incarnation": _id,
    "role": _role,
    "parent_instance": _or_none(_id),
    "parent_incarnation": _or_none(_id),
    "pane_id": _or_none(_number),
    "pane_generation": _or_none(_number),
    "binding_generation": _generation,
    "capabilities": _capabilities,
    "lease_remaining_ms": _number,
}
