"""Targets: the pane that a request is bound to, by ids that are never given twice."""

from __future__ import annotations

import re
from typing import Final, NamedTuple, TypeGuard

from brokerd.client import Json, Refusal, invalid, parse_u64

TARGET_FIELDS: Final = ("instance_id", "incarnation", "pane_id", "pane_generation")

_KEYS: Final = frozenset(TARGET_FIELDS)
_ID: Final = re.compile(r"[0-9a-f]{32}")


class Target(NamedTuple):
    """One pane of one instance. Ids are 32 lowercase hex digits, numbers are those of a u64.

    ``pane_generation`` is that of the pane's verified session, not of its program.
    """

    instance_id: str
    incarnation: str
    pane_id: int
    pane_generation: int

    def to_json(self) -> dict[str, Json]:
        """As it is on the wire: numbers are canonical decimal strings."""
        return {
            "instance_id": self.instance_id,
            "incarnation": self.incarnation,
            "pane_id": str(self.pane_id),
            "pane_generation": str(self.pane_generation),
        }


def parse_target(value: Json, field: str = "target") -> Target:
    """The target that ``value`` says. Raises Refusal INVALID_ARGUMENT for anything else."""
    if not isinstance(value, dict) or value.keys() != _KEYS:
        raise _malformed(field)
    pane, generation = parse_u64(value["pane_id"]), parse_u64(value["pane_generation"])
    instance, incarnation = value["instance_id"], value["incarnation"]
    if pane is None or generation is None or not (_is_id(instance) and _is_id(incarnation)):
        raise _malformed(field)
    return Target(instance, incarnation, pane, generation)


def parse_id(value: Json, field: str) -> str:
    """32 lowercase hex digits. Raises Refusal INVALID_ARGUMENT for anything else."""
    if not _is_id(value):
        raise invalid(field, f"{field} takes 32 lowercase hex digits")
    return value


def parse_number(value: Json, field: str) -> int:
    """A canonical decimal string of a u64. Raises Refusal INVALID_ARGUMENT for anything else."""
    number = parse_u64(value)
    if number is None:
        raise invalid(field, f"{field} takes a decimal number as a string, without sign or zeros")
    return number


def _is_id(value: Json) -> TypeGuard[str]:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _malformed(field: str) -> Refusal:
    return invalid(
        field,
        f"{field} takes exactly {', '.join(TARGET_FIELDS)}: ids of 32 lowercase hex digits, "
        "numbers as decimal strings",
    )
