"""The session part of a stamp: which record the sender's connection held when it was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from brokerd import fields
from brokerd.encodings import ROLES, TERM
from brokerd.fields import BadField, Reader, read_fields


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
        return {key: fields.plain(getattr(self, key)) for key in self.__slots__}

    @classmethod
    def from_fields(cls, raw: object) -> SessionBinding | None:
        """The binding in a decoded map, or None for anything that is not exactly one."""
        try:
            binding = cls(**read_fields(_READERS, raw))
        except BadField:
            return None
        return binding if _consistent(binding) else None


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


def _generation(raw: object) -> int:
    if (generation := fields.number(raw)) == 0:
        raise BadField("something that was bound")
    return generation


_READERS: Final[Mapping[str, Reader]] = {
    "record_id": fields.identifier,
    "instance_id": fields.identifier,
    "incarnation": fields.identifier,
    "role": fields.one_of(ROLES),
    "parent_instance": fields.or_none(fields.identifier),
    "parent_incarnation": fields.or_none(fields.identifier),
    "pane_id": fields.or_none(fields.number),
    "pane_generation": fields.or_none(fields.number),
    "binding_generation": _generation,
    "capabilities": fields.capabilities,
    "lease_remaining_ms": fields.number,
}
