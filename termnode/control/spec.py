"""The shape of an entry in the verb table, and of the fields in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, TypeAlias

from brokerd.client import ErrorCode, Json

U64_MAX: Final = 2**64 - 1

Check: TypeAlias = Callable[[Mapping[str, Any]], None]
"""Raises Refusal INVALID_ARGUMENT when fields that are right alone do not go together."""


class Kind(StrEnum):
    """How a verb runs: reads at once, mutations one at a time in order, waits beside both.

    A subscription is answered at once, like a read, and then tells its caller of what happens.
    """

    READ = "read"
    MUTATION = "mutation"
    WAIT = "wait"
    SUBSCRIPTION = "subscription"


class Capability(StrEnum):
    """What a caller must be allowed to do; closed set."""

    READ_STATE = "read_state"
    READ_CONTENTS = "read_contents"
    INPUT = "input"
    EXECUTE = "execute"
    MANAGE_LAYOUT = "manage_layout"
    TERMINATE = "terminate"


class FieldType(StrEnum):
    """The types a field can have; `termnode.control.schema` has one check for each."""

    INTEGER = "integer"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    TITLE = "title"
    PATH = "path"
    ARGV = "array of strings"
    ENVIRONMENT = "object of strings"
    KEYS = "keys"
    KEY_NAMES = "array of key names"
    TEXT = "text"
    CHOICES = "array of words"
    REGEX = "regular expression"
    REQUEST_ID = "request id"
    DECIMAL = "decimal string"
    PAIRS = "array of [name, value] pairs"


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a request body.

    ``low`` and ``high`` bound an integer's value, both included, and the length of anything else.
    ``choices`` maps every accepted word to the one it means. ``default`` holds when the field is
    left out; None means that it then stays out. Words of CHOICES are those of ``choices``.
    """

    name: str
    type: FieldType
    doc: str
    required: bool = False
    low: int = 0
    high: int = U64_MAX
    choices: Mapping[str, str] = field(default_factory=dict)
    default: Json = None


@dataclass(frozen=True, slots=True)
class VerbSpec:
    """Everything there is to know about a verb: its checks, help and docs all come from here.

    ``result`` has (name, meaning) of each field of a successful reply. ``capability`` is None for
    the verbs that anyone with a usable stamp may ask. ``errors`` leaves out those that any verb can
    give (`COMMON_ERRORS` of the table).
    """

    name: str
    summary: str
    kind: Kind
    capability: Capability | None
    fields: tuple[Field, ...]
    result: tuple[tuple[str, str], ...]
    errors: tuple[ErrorCode, ...] = ()
    limits: str = ""
    example: Mapping[str, Json] = field(default_factory=dict)
    check: Check | None = None
    """Run on the checked fields, before anything is spent."""
    always: bool = False
    """Whether strict posture lets it through: it then decides itself who may have what. Never for
    other machines."""

    @property
    def mutates(self) -> bool:
        """Whether a repeat could do harm, so that ``request_id`` means something."""
        return self.kind is Kind.MUTATION
