"""What each tool takes: checked here for shape and size, and by who carries it out for sense."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

Word: TypeAlias = Annotated[str, Field(max_length=4_096, pattern=r"^[^\x00]*$")]
Key: TypeAlias = Annotated[str, Field(min_length=1, max_length=64)]
Keys: TypeAlias = Annotated[
    list[Key],
    Field(
        min_length=1,
        max_length=200,
        description="keys as tmux names them (Enter, Escape, Up, PageDown, F5, C-w, M-x, BTab) "
        "or single characters; a wrong one presses nothing",
    ),
]
Pane: TypeAlias = Annotated[int, Field(ge=1, description="the pane's number, as panes has it")]
Terminal: TypeAlias = Annotated[
    str, Field(min_length=1, max_length=16, description="the terminal, as term_open named it: t1")
]
Cols: TypeAlias = Annotated[int, Field(ge=2, le=500, description="columns")]
Rows: TypeAlias = Annotated[int, Field(ge=2, le=300, description="rows")]
Seconds: TypeAlias = Annotated[
    float,
    Field(ge=0.1, le=60.0, description="how long at most; past 44 it says still waiting"),
]
Pattern: TypeAlias = Annotated[
    str | None,
    Field(max_length=1_024, description="RE2: wait until a row matches; else until it is quiet"),
]
Since: TypeAlias = Annotated[
    int | None, Field(ge=0, description="a revision that was told before: only what is newer")
]
FromLine: TypeAlias = Annotated[
    int, Field(ge=1, le=2_000, description="first line of a long text, as next says")
]
Offset: TypeAlias = Annotated[
    int, Field(ge=0, le=100_000, description="so many rows back in the history")
]
Style: TypeAlias = Annotated[bool, Field(description="say which columns are coloured, bold, ...")]


class Arguments(BaseModel):
    """Of one tool. Nothing else is taken, and nothing is converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Nothing(Arguments):
    """No argument."""


class TermOpen(Arguments):
    """Of ``term_open``."""

    cmd: Annotated[Word, Field(min_length=1, description="the program")]
    args: list[Word] = Field(default=[], max_length=255, description="its arguments, one each")
    cols: Cols = 100
    rows: Rows = 30


class OfTerminal(Arguments):
    """Of a tool about one terminal."""

    id: Terminal


class TermType(OfTerminal):
    """Of ``term_type``."""

    text: str = Field(max_length=16_384, description="16 KiB at most; a newline presses Enter")
    paste: bool = Field(default=False, description="as one paste: for text with indentation")
    since: Since = None


class TermKeys(OfTerminal):
    """Of ``term_keys``."""

    keys: Keys
    since: Since = None


class TermScreen(OfTerminal):
    """Of ``term_screen``."""

    offset: Offset = 0
    since: Since = None
    style: Style = False
    from_line: FromLine = 1


class TermWait(OfTerminal):
    """Of ``term_wait``."""

    seconds: Seconds = 10.0
    until: Pattern = None
    since: Since = None


class TermResize(OfTerminal):
    """Of ``term_resize``."""

    cols: Cols
    rows: Rows


class TermClick(OfTerminal):
    """Of ``term_click``."""

    row: int = Field(ge=1, le=300, description="from 1")
    col: int = Field(ge=1, le=500, description="from 1")
    button: Literal["left", "middle", "right"] = "left"
    since: Since = None


class OfPane(Arguments):
    """Of a tool about one pane."""

    pane: Pane


class PaneScreen(OfPane):
    """Of ``screen``."""

    offset: Offset = 0
    since: Since = None
    style: Style = False
    from_line: FromLine = 1


class PaneWait(OfPane):
    """Of ``wait``."""

    seconds: Seconds = 10.0
    until: Pattern = None
    since: Since = None


class PaneType(OfPane):
    """Of ``type``."""

    text: str = Field(
        min_length=1,
        max_length=4_096,
        description="printable ASCII; a newline presses Enter; other text: paste",
    )
    enter: bool = Field(default=False, description="press Enter after it")


class PaneKeys(OfPane):
    """Of ``keys``."""

    keys: Keys


class PanePaste(OfPane):
    """Of ``paste``."""

    text: str = Field(min_length=1, max_length=262_144)


class Program(Arguments):
    """What runs in a new pane."""

    argv: Annotated[
        list[Word] | None,
        Field(min_length=1, max_length=256, description="program and arguments; else the shell"),
    ] = None
    cwd: Annotated[
        str | None,
        Field(max_length=4_096, pattern=r"^/[^\x00]*$", description="absolute directory"),
    ] = None


class Split(Program):
    """Of ``split``."""

    pane: Pane
    below: bool = Field(default=False, description="below it; else to its right")


class NewTab(Program):
    """Of ``new_tab``."""

    title: Annotated[str | None, Field(max_length=256, description="a name for it")] = None
