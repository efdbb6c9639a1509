"""The fields that verbs of the global lane take, each described once (facts 3.4 and 3.7)."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from termnode.control.spec import Field, FieldType

_WORDS: Final = MappingProxyType({"h": "h", "horizontal": "h", "v": "v", "vertical": "v"})

REQUEST_ID: Final = Field(
    "request_id",
    FieldType.REQUEST_ID,
    "on a mutation: the same id with the same arguments gives the recorded reply and runs nothing",
    low=1,
    high=128,
)
ID: Final = Field("id", FieldType.INTEGER, "the tab or pane", required=True)
TAB: Final = Field("id", FieldType.INTEGER, "the tab; the active one if left out")
PANE: Final = Field(
    "pane", FieldType.INTEGER, "the pane; the active one of the active tab if left out"
)
ARGV: Final = Field(
    "argv", FieldType.ARGV, "program and arguments; the person's shell if left out", low=1, high=256
)
CWD: Final = Field(
    "cwd", FieldType.PATH, "absolute directory to start in; the active pane's if known", high=4096
)
ENV: Final = Field(
    "env", FieldType.ENVIRONMENT, "variables set on top of the service's own", high=64
)
TITLE: Final = Field("title", FieldType.TITLE, "a name for the pane", high=256)
REMAIN: Final = Field(
    "remain",
    FieldType.INTEGER,
    "seconds that the pane stays to be read after its program ended",
    high=86_400,
    default=600,
)
DIR: Final = Field(
    "dir",
    FieldType.CHOICE,
    "h puts the new pane to the right, v below",
    required=True,
    choices=_WORDS,
)
TEXT: Final = Field(
    "text",
    FieldType.KEYS,
    "printable ASCII, Enter (CR or LF), Tab, Backspace, Ctrl-C and Ctrl-D; the whole body must "
    "stay within 8,192 bytes",
    required=True,
    low=1,
    high=8192,
)
ENTER: Final = Field("enter", FieldType.BOOLEAN, "press Enter after the text", default=False)
UNTIL: Final = Field(
    "until",
    FieldType.REGEX,
    "what to wait for: RE2 syntax, searched for in each row without its trailing blanks, in the "
    "cursor's row also with the blanks before the cursor",
    required=True,
    low=1,
    high=1024,
)
TIMEOUT: Final = Field(
    "timeout_ms", FieldType.INTEGER, "how long to wait", low=1, high=45_000, default=30_000
)
LIMIT: Final = Field("limit", FieldType.INTEGER, "how many entries", low=1, high=1000, default=100)

PROGRAM: Final = (ARGV, CWD, ENV, TITLE, REMAIN)
"""What a new pane takes."""
