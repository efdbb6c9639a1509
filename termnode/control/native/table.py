"""The verbs of the native lane: one table, made from that of the global lane (specs/control.md).

The gate, help and the pages in `specs/` read this table; a verb that is not here does not exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from brokerd.client import ErrorCode
from termnode.control.fields import (
    CLOSED_WAIT,
    CONFIRM,
    EVENT_KINDS,
    MORE,
    OPERATION,
    PASTE_OFFSET,
    WITHIN,
)
from termnode.control.native import results
from termnode.control.native.deriving import (
    INPUT,
    LAYOUT,
    MUTATION,
    check_contents,
    derived,
    layout,
    own_fields,
    typed,
    with_other,
)
from termnode.control.native.exec_table import EXEC_VERBS
from termnode.control.native.fields import (
    BESIDE,
    CONTENTS,
    KINDS,
    OPERATION_ID,
    READABLE,
    VALUE,
    WITH,
    WRITABLE,
)
from termnode.control.native.spec import NativeSpec, Upgrade
from termnode.control.spec import Capability, Kind
from termnode.control.verbs import COMMON_ERRORS, MUTATION_ERRORS

__all__ = ["NATIVE", "NativeSpec", "Upgrade", "errors_of"]

_EXECUTES: Final = Upgrade("argv", Capability.EXECUTE, replaces=False)
_SHOWS: Final = Upgrade(CONTENTS.name, Capability.READ_CONTENTS, replaces=True)

_READS: Final = (
    *(derived(name, results.SESSION, summary=results.LISTS, fields=(), example={}, limits="")
      for name in ("term.session", "term.tabs", "term.panes")),
    NativeSpec(
        "term.list", results.LISTS, Kind.READ, Capability.READ_STATE, (), results.SESSION,
        errors=(ErrorCode.DISCONNECTED,),
    ),
    derived(
        "term.snapshot", results.SNAPSHOT,
        fields=(CONTENTS, *own_fields("term.snapshot")),
        capability=Capability.READ_STATE,
        upgrade=_SHOWS,
        check=check_contents,
        example={"contents": True, "since": 118},
    ),
    derived("term.wait", results.with_target("term.wait"), of_ended=True),
    derived("term.events", results.EVENTS, fields=(KINDS, *own_fields("term.events", EVENT_KINDS))),
    NativeSpec(
        "term.operation",
        "What became of a mutation.",
        Kind.READ,
        Capability.READ_STATE,
        (),
        results.OPERATION,
        envelope=frozenset({OPERATION_ID}),
        errors=(ErrorCode.UNKNOWN_OUTCOME, ErrorCode.DISCONNECTED),
        limits="for 15 minutes, to the caller of the mutation",
    ),
)  # fmt: skip

_MUTATIONS: Final = (
    typed("term.type", results.ACCEPTED, CONFIRM),
    typed("term.keys", results.ACCEPTED, WITHIN),
    typed("term.paste", results.ACCEPTED, MORE, OPERATION, PASTE_OFFSET, WITHIN),
    typed("term.mouse", results.ACCEPTED),
    layout("term.tab.new", results.OPENED_TAB, upgrade=_EXECUTES, opens=True),
    layout("term.pane.split", results.OPENED_PANE, upgrade=_EXECUTES, opens=True),
    layout("term.tab.select", results.SELECTED),
    layout(
        "term.pane.select", results.SELECTED, summary="Make a pane, and its tab, the active one."
    ),
    layout("term.tab.close", results.CLOSED),
    layout(
        "term.pane.close", results.CLOSED, fields=own_fields("term.pane.close", CLOSED_WAIT)
    ),
    *(
        layout(name, results.with_target(name))
        for name in (
            "term.pane.resize", "term.pane.rename", "term.pane.break", "term.pane.zoom",
            "term.tab.rename", "term.tab.layout",
        )
    ),
    with_other("term.pane.swap", results.with_target("term.pane.swap"), WITH),
    with_other("term.pane.join", results.with_target("term.pane.join"), BESIDE, dir="v"),
    derived("term.pane.restart", results.RESTARTED, envelope=MUTATION, needs_epoch=True,
            of_ended=True),
)  # fmt: skip

_PROPERTIES: Final = (
    NativeSpec(
        "term.props.get",
        "Read a property of a pane: another name for another verb, with its capability.",
        Kind.READ,
        Capability.READ_STATE,
        (READABLE,),
        results.PROPERTY,
        errors=(ErrorCode.DISCONNECTED,),
        stands_for={"state": "term.session", "contents": "term.snapshot"},
        example={"property": "state"},
    ),
    NativeSpec(
        "term.props.set",
        "Set a property of a pane: another name for another verb, with its fields and capability.",
        Kind.MUTATION,
        Capability.INPUT,
        (WRITABLE, VALUE),
        results.PROPERTY,
        envelope=LAYOUT | INPUT,
        errors=(ErrorCode.STALE_GENERATION, ErrorCode.BUSY, ErrorCode.DISCONNECTED),
        stands_for={"selected": "term.pane.select", "input": "term.type"},
        example={"property": "selected", "value": True},
    ),
)

NATIVE: Final[Mapping[str, NativeSpec]] = MappingProxyType(
    {spec.name: spec for spec in (*_READS, *_MUTATIONS, *EXEC_VERBS, *_PROPERTIES)}
)


def errors_of(spec: NativeSpec) -> tuple[ErrorCode, ...]:
    """Every code that the verb can be refused with."""
    extra = MUTATION_ERRORS if spec.mutates else ()
    return tuple(dict.fromkeys((*COMMON_ERRORS, *extra, *spec.errors)))
