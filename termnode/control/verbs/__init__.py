"""The verbs of the global lane: the one table that everything else is made from.

The lane's checks, HELP, the command line's help and `specs/verbs.md` read this table; a verb that
is not here does not exist. Source: the seed's first two paragraphs; facts 3.3 and 3.7.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from brokerd.client import ErrorCode
from termnode.control.spec import VerbSpec
from termnode.control.verbs.about import ABOUT, HELP, INFO
from termnode.control.verbs.input import INPUT_VERBS
from termnode.control.verbs.layout import LAYOUT_VERBS
from termnode.control.verbs.look import LOOK_VERBS

__all__ = [
    "BY_NAME",
    "COMMON_ERRORS",
    "HELP",
    "INFO",
    "MUTATION_ERRORS",
    "TABLE",
    "errors_of",
    "find",
]

COMMON_ERRORS: Final = (
    ErrorCode.FORBIDDEN,
    ErrorCode.UNSUPPORTED,
    ErrorCode.INVALID_ARGUMENT,
    ErrorCode.RESOURCE_LIMIT,
    ErrorCode.UNAVAILABLE,
)
"""Any verb can be refused with these."""

MUTATION_ERRORS: Final = (ErrorCode.CONFLICT, ErrorCode.UNKNOWN_OUTCOME)
"""Any mutation can be refused with these too."""

TABLE: Final[tuple[VerbSpec, ...]] = (*ABOUT, *LAYOUT_VERBS, *INPUT_VERBS, *LOOK_VERBS)

BY_NAME: Final = MappingProxyType({spec.name: spec for spec in TABLE})

_SPELLINGS: Final = MappingProxyType(
    {spelling: name for name in (INFO, HELP) for spelling in (name, name.lower())}
)


def find(name: str) -> VerbSpec | None:
    """The verb's entry, or None. INFO and HELP may be in all upper or all lower case."""
    return BY_NAME.get(_SPELLINGS.get(name, name))


def errors_of(spec: VerbSpec) -> tuple[ErrorCode, ...]:
    """Every code that the verb can be refused with."""
    extra = MUTATION_ERRORS if spec.mutates else ()
    return tuple(dict.fromkeys((*COMMON_ERRORS, *extra, *spec.errors)))
