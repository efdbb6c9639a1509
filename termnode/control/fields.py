"""The fields that verbs of the global lane take, each described once (facts 3.4 and 3.7)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from termnode.control.spec import Field, FieldType

_WORDS: Final = MappingProxyType({"h": "h", "horizontal": "h", "v": "v", "vertical": "v"})


def same(*words: str) -> Mapping[str, str]:
    """Choices of which each means itself."""
    return MappingProxyType({word: word for word in words})


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
BACKGROUND: Final = Field(
    "background",
    FieldType.BOOLEAN,
    "leave what is active as it is: for whoever shares the terminal",
    default=False,
)
WITH_CALLER: Final = Field(
    "with_caller",
    FieldType.BOOLEAN,
    "close the pane when the process that asks has ended, however it ended",
    default=False,
)
CLEAN_ENV: Final = Field(
    "clean_env",
    FieldType.BOOLEAN,
    "env is the whole environment: nothing of the service's own is under it but TERM",
    default=False,
)
OWN_COLS: Final = Field(
    "cols",
    FieldType.INTEGER,
    "columns that the tab keeps, whatever views there are; those of the terminal if left out",
    low=2,
    high=1000,
)
OWN_ROWS: Final = Field("rows", FieldType.INTEGER, "rows that it keeps, as cols", low=1, high=500)
CLOSED_WAIT: Final = Field(
    "wait",
    FieldType.BOOLEAN,
    "answer when the program has ended, and say how",
    default=False,
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
CONFIRM: Final = Field(
    "confirm",
    FieldType.BOOLEAN,
    "watch for the text on the screen, two seconds at most, and press Enter only then, as a key of "
    "its own: the outcome is the strongest that was seen",
    default=False,
)
KEYS: Final = Field(
    "keys",
    FieldType.KEY_NAMES,
    "keys as tmux names them (Enter, Up, F5, C-c, M-x, C-S-Left, KP5); one that is unknown "
    "refuses the whole list and presses nothing",
    required=True,
    low=1,
    high=200,
)
PASTED: Final = Field(
    "text",
    FieldType.TEXT,
    "any text; control characters but Tab and newlines are left out, and so are paste markers",
    required=True,
    low=0,
    high=8192,
)
PLAIN: Final = Field(
    "plain",
    FieldType.BOOLEAN,
    "as if typed: never in brackets, and newlines press Enter",
    default=False,
)
WITHIN: Final = Field(
    "within_ms",
    FieldType.INTEGER,
    "how long the program may take to read; of a paste, from one piece to the next",
    low=100,
    high=10_000,
)
OPERATION: Final = Field(
    "operation", FieldType.TITLE, "of the paste that this goes on with", low=1, high=64
)
PASTE_OFFSET: Final = Field(
    "offset", FieldType.INTEGER, "with operation: how many bytes of it were received so far"
)
MORE: Final = Field(
    "more",
    FieldType.BOOLEAN,
    "more text follows under the same operation; nothing is written before the last of it",
    default=False,
)
ACTION: Final = Field(
    "action",
    FieldType.CHOICE,
    "click is press and release",
    required=True,
    choices=same("press", "release", "click", "move", "drag", "wheel-up", "wheel-down"),
)
BUTTON: Final = Field(
    "button",
    FieldType.CHOICE,
    "of press, release, click and drag",
    choices=same("left", "middle", "right"),
    default="left",
)
X: Final = Field("x", FieldType.INTEGER, "column, from 0", required=True, high=999)
Y: Final = Field("y", FieldType.INTEGER, "row, from 0", required=True, high=499)
MODIFIERS: Final = Field(
    "modifiers",
    FieldType.CHOICES,
    "held meanwhile",
    high=3,
    choices=same("shift", "alt", "ctrl"),
)
UNTIL: Final = Field(
    "until",
    FieldType.REGEX,
    "a row matches: RE2 syntax, searched for in each row without its trailing blanks, in the "
    "cursor's row also with the blanks before the cursor, and in lines that are wrapped over rows",
    low=1,
    high=1024,
)
QUIET: Final = Field(
    "quiet_ms",
    FieldType.INTEGER,
    "the program has written nothing for so long",
    low=50,
    high=45_000,
)
PROMPT: Final = Field("prompt", FieldType.BOOLEAN, "the shell waits for a command", default=False)
CHANGED: Final = Field(
    "changed", FieldType.BOOLEAN, "anything on the screen has changed", default=False
)
EXIT: Final = Field("exit", FieldType.BOOLEAN, "the program has ended", default=False)
ALTERNATE: Final = Field(
    "alternate",
    FieldType.BOOLEAN,
    "a program has taken the whole screen, or given it back",
    default=False,
)
AFTER: Final = Field(
    "after",
    FieldType.INTEGER,
    "a revision: what stood there already at that revision does not count",
)
SINCE: Final = Field(
    "since", FieldType.INTEGER, "a revision: give only the rows that are newer than that"
)
FORMAT: Final = Field(
    "format",
    FieldType.CHOICE,
    "plain rows, rows as runs of one style, rows with SGR sequences, or a page",
    choices=same("text", "styled", "ansi", "html"),
    default="text",
)
OFFSET: Final = Field(
    "offset", FieldType.INTEGER, "begin so many rows above the top of the screen", high=1_000_000
)
LINE: Final = Field("line", FieldType.INTEGER, "begin with this line: first_line or next_line")
LINES: Final = Field("lines", FieldType.INTEGER, "at most so many rows", low=1, high=100_000)
COMMAND: Final = Field(
    "command",
    FieldType.BOOLEAN,
    "what the last command wrote, in a shell that marks its prompts",
    default=False,
)
EVENT_KINDS: Final = Field(
    "kinds",
    FieldType.CHOICES,
    "which; all if left out",
    low=1,
    high=16,
    choices=same("quiet", "prompt", "command", "title", "bell", "exit", "layout", "input"),
)
ONLY_PANE: Final = Field("pane", FieldType.INTEGER, "of this pane alone; of all if left out")
AFTER_EVENT: Final = Field(
    "after",
    FieldType.INTEGER,
    "the seq of the last event seen: later ones that are still known are sent again",
)
STOP: Final = Field("stop", FieldType.BOOLEAN, "send no more", default=False)
COLS: Final = Field("cols", FieldType.INTEGER, "columns", low=2, high=1000)
ROWS: Final = Field("rows", FieldType.INTEGER, "rows", low=1, high=500)
NEW_TITLE: Final = Field(
    "title",
    FieldType.TITLE,
    "the name; empty goes back to the title that the program sets",
    required=True,
    high=256,
)
WITH: Final = Field("with", FieldType.INTEGER, "the pane to change places with", required=True)
BESIDE: Final = Field(
    "beside", FieldType.INTEGER, "the pane whose room is halved, of any tab", required=True
)
ON: Final = Field("on", FieldType.BOOLEAN, "false lays the panes out again", default=True)
LAYOUT: Final = Field(
    "layout",
    FieldType.CHOICE,
    "how to arrange the panes",
    required=True,
    choices=same("even-horizontal", "even-vertical", "main-horizontal", "main-vertical", "tiled"),
)
TIMEOUT: Final = Field(
    "timeout_ms", FieldType.INTEGER, "how long to wait", low=1, high=45_000, default=30_000
)
LIMIT: Final = Field("limit", FieldType.INTEGER, "how many entries", low=1, high=1000, default=100)

PROGRAM: Final = (ARGV, CWD, ENV, TITLE, REMAIN, BACKGROUND, CLEAN_ENV, WITH_CALLER)
"""What a new pane takes."""
QUESTION_TITLE: Final = Field(
    "title", FieldType.TITLE, "what is asked, in a few words", required=True, low=1, high=120
)
QUESTION: Final = Field(
    "text",
    FieldType.TEXT,
    "the question; control characters are shown as U+FFFD",
    required=True,
    low=1,
    high=4_096,
)
PATIENCE: Final = Field(
    "timeout_ms",
    FieldType.INTEGER,
    "how long the person has to answer",
    low=1,
    high=120_000,
    default=120_000,
)
TICKET: Final = Field(
    "ticket",
    FieldType.TEXT,
    "as `termnode up` printed it; needed in strict posture",
    high=128,
)
