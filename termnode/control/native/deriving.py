"""How an entry of the native table is made from one of the global lane."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from brokerd.client import ErrorCode, invalid
from termnode.control.native.fields import (
    AFFECTED,
    CONTENTS,
    FOREGROUND,
    REQUEST_EPOCH,
    REQUEST_ID,
)
from termnode.control.native.results import NAMED
from termnode.control.native.spec import NativeSpec
from termnode.control.spec import Field, VerbSpec
from termnode.control.verbs import BY_NAME
from termnode.control.verbs.checks import one_part

MUTATION: Final = frozenset({REQUEST_ID, REQUEST_EPOCH})
LAYOUT: Final = MUTATION | {AFFECTED}
INPUT: Final = MUTATION | {FOREGROUND}

Rows = tuple[tuple[str, str], ...]

_PLACE: Final = frozenset({"pane", "id"})
"""Fields of the global lane in whose place the target stands."""

_OF_CONTENTS: Final = ("since", "offset", "line", "lines", "command", "format")


def derived(name: str, result: Rows, **rest: Any) -> NativeSpec:  # noqa: ANN401 - of NativeSpec
    """The verb of that name with the target in the place of its pane or tab.

    ``rest`` are fields of NativeSpec that differ from what the global lane says.
    """
    base = BY_NAME[name]
    fields: tuple[Field, ...] = rest.setdefault("fields", own_fields(name))
    names = {field.name for field in fields}
    example = {key: value for key, value in base.example.items() if key in names}
    made: dict[str, Any] = {
        "name": name,
        "summary": base.summary,
        "kind": base.kind,
        "capability": base.capability,
        "result": result,
        "base": base,
        "limits": base.limits,
        "example": example,
        "errors": _errors(base),
        "check": base.check,
    }
    return NativeSpec(**{**made, **rest})


def layout(name: str, result: Rows, **rest: Any) -> NativeSpec:  # noqa: ANN401 - of NativeSpec
    """A verb that changes which panes there are, where they are, or which is active."""
    return derived(name, (*result, *NAMED), **{"envelope": LAYOUT, "layout": True, **rest})


def with_other(name: str, result: Rows, other: Field, **example: str) -> NativeSpec:
    """A layout verb about a second pane, which the field ``other`` names."""
    fields = tuple(other if each.name == other.name else each for each in own_fields(name))
    return layout(
        name, result, fields=fields, other=other.name, example={other.name: "1", **example}
    )


def typed(name: str, result: Rows, *without: Field) -> NativeSpec:
    """A verb of input. It is answered at once, so what needs its end is left out."""
    return derived(
        name,
        result,
        envelope=INPUT,
        fields=own_fields(name, *without),
        check=None,
        errors=(ErrorCode.STALE_GENERATION, ErrorCode.BUSY, ErrorCode.DISCONNECTED),
        limits="two seconds to reach the terminal; 65,536 bytes wait per pane",
    )


def own_fields(name: str, *without: Field) -> tuple[Field, ...]:
    """The fields of a verb of the global lane, but for its pane or tab and ``without``."""
    left_out = _PLACE | {field.name for field in without}
    return tuple(field for field in BY_NAME[name].fields if field.name not in left_out)


def check_contents(args: Mapping[str, Any]) -> None:
    """What is asked of contents needs `contents`."""
    if args[CONTENTS.name]:
        one_part(args)
        return
    for name in _OF_CONTENTS:
        given = args.get(name)
        if given is not None and given is not False and given != "text":
            raise invalid(name, f"{name} is of contents: add contents", reason="not_together")


def _errors(base: VerbSpec) -> tuple[ErrorCode, ...]:
    """Those of the global lane, but that what is not there is FORBIDDEN here."""
    kept = [code for code in base.errors if code is not ErrorCode.NOT_FOUND]
    return tuple(dict.fromkeys((*kept, ErrorCode.DISCONNECTED)))
