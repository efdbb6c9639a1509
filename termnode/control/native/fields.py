"""The fields that only the native lane has, and what the fields around a verb's own mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from termnode.control.fields import EVENT_KINDS, TEXT, same
from termnode.control.native.limits import AFFECTED_MOST
from termnode.control.spec import Field, FieldType

TARGET: Final = "target"
AFFECTED: Final = "affected"
REQUEST_ID: Final = "request_id"
REQUEST_EPOCH: Final = "request_epoch"
FOREGROUND: Final = "foreground_generation"
OPERATION_ID: Final = "operation_id"

ENVELOPE: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        TARGET: ("target", "the pane, by instance, incarnation, id and generation"),
        AFFECTED: (
            f"array of at most {AFFECTED_MOST} targets",
            "the other panes that may be resized, moved, shown, hidden or closed by this",
        ),
        REQUEST_ID: (
            "decimal string from 1",
            (
                "higher than any before it of the same caller; sent again with the very same bytes "
                "it gives the recorded reply and runs nothing"
            ),
        ),
        REQUEST_EPOCH: (
            "32 hex digits",
            (
                "the connection on which the request id counts: the caller's own. May be left out "
                "in open posture, by callers without a record, for input and layout without argv"
            ),
        ),
        FOREGROUND: (
            "decimal string",
            "as read last: input is refused when a person or another program came in between",
        ),
        OPERATION_ID: ("decimal string", "as it was replied to the mutation"),
    }
)
"""Type and meaning of the fields around a verb's own."""

CONTENTS: Final = Field(
    "contents",
    FieldType.BOOLEAN,
    "also what the pane shows; without it the other fields mean nothing and are refused",
    default=False,
)
WITH: Final = Field(
    "with",
    FieldType.DECIMAL,
    "id of the pane to change places with, named in affected",
    required=True,
)
BESIDE: Final = Field(
    "beside",
    FieldType.DECIMAL,
    "id of the pane whose room is halved, of any tab, named in affected",
    required=True,
)


READABLE: Final = Field(
    "property",
    FieldType.CHOICE,
    "state is term.session, contents is term.snapshot with contents",
    required=True,
    choices=same("state", "contents"),
)
WRITABLE: Final = Field(
    "property",
    FieldType.CHOICE,
    "selected is term.pane.select, input is term.type",
    required=True,
    choices=same("selected", "input"),
)
EXEC_OUTPUT: Final = "exec.output"
"""The kind of event that tells what a command of the caller's writes."""

KINDS: Final = replace(
    EVENT_KINDS,
    doc=f"which; all but {EXEC_OUTPUT} if left out",
    choices={**EVENT_KINDS.choices, **same(EXEC_OUTPUT)},
)
VALUE: Final = Field(
    "value",
    TEXT.type,
    "of selected true, of input the text",
    required=True,
    low=TEXT.low,
    high=TEXT.high,
)
