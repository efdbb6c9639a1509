"""What input, looks, waits and subscriptions answer with; see `termnode.client.replies`."""

from __future__ import annotations

from dataclasses import dataclass

from termnode.client.replies import Details, Exit, TypedLast


@dataclass(frozen=True, slots=True)
class Typed:
    """term.type. ``outcome`` is written, echoed or submitted (specs/input.md)."""

    pane: int
    generation: int
    outcome: str
    bytes: int
    revision: int
    echo: bool | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """term.keys and term.mouse"""

    pane: int
    generation: int
    outcome: str
    bytes: int
    revision: int


@dataclass(frozen=True, slots=True)
class Pasted:
    """term.paste. ``outcome`` is received (more is to follow) or written."""

    pane: int
    generation: int
    outcome: str
    revision: int
    operation: str | None = None
    received: int | None = None
    bytes: int | None = None
    removed: int = 0
    bracketed: bool | None = None


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where the cursor is, from 0. ``shape`` is DECSCUSR's number."""

    x: int
    y: int
    visible: bool
    shape: int


@dataclass(frozen=True, slots=True)
class Line:
    """One line. ``row`` is its place on the screen, None above it.

    ``text``, or ``runs`` of one style each (``text`` and what of colours and attributes is set).
    """

    line: int
    row: int | None = None
    text: str | None = None
    runs: tuple[Details, ...] = ()
    wrapped: bool = False
    cut: bool = False


@dataclass(frozen=True, slots=True)
class LastCommand:
    """The last command of a shell that marks its prompts."""

    running: bool
    output_line: int
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Screen:
    """term.snapshot: which fields are there depends on what was asked for (specs/looking.md).

    With ``since``, a field of the frame is None where it is what it was.
    """

    pane: int
    generation: int
    revision: int
    cols: int | None = None
    rows: int | None = None
    cursor: Cursor | None = None
    alternate: bool | None = None
    modes: tuple[str, ...] | None = None
    title: str | None = None
    history: int | None = None
    screen_line: int | None = None
    first_line: int | None = None
    text: str | None = None
    wrapped: tuple[int, ...] = ()
    lines: tuple[Line, ...] = ()
    html: str | None = None
    cut: bool = False
    full: bool = False
    lines_missed: int = 0
    next_line: int | None = None
    command: LastCommand | None = None
    typed_last: TypedLast | None = None
    person_inputs: int = 0
    state: str | None = None
    exit: Exit | None = None
    duration_ms: int | None = None
    held_by: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Waited:
    """term.wait: how a wait ended. ``revision`` is what to go on from."""

    pane: int
    generation: int
    outcome: str
    revision: int
    line: int | None = None
    row: int | None = None
    text: str | None = None
    stale: bool | None = None
    exit: Exit | None = None
    lines_missed: int = 0
    elapsed_ms: int = 0


@dataclass(frozen=True, slots=True)
class Match:
    """What `wait_for` found: the whole ``text`` of the line in which the pattern was.

    ``row`` is None when it has scrolled away. ``stale``: it may have stood there before the wait
    began. To wait for another one, pass ``revision`` as ``after``.
    """

    text: str
    line: int
    row: int | None
    revision: int
    stale: bool
    lines_missed: int
    elapsed_ms: int


@dataclass(frozen=True, slots=True)
class Subscribed:
    """term.events"""

    seq: int
    active: bool
    missed: int = 0


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened (specs/looking.md). Fields are None where the kind has none.

    ``missed`` events before this one are lost for good; 0 is the rule. ``dropped`` of this kind
    came too fast and stand behind this one.
    """

    seq: int
    previous: int
    time: int
    kind: str
    pane: int | None = None
    panes: tuple[int, ...] = ()
    generation: int | None = None
    revision: int | None = None
    idle_ms: int | None = None
    status: int | None = None
    duration_ms: int | None = None
    title: str | None = None
    exit: Exit | None = None
    verb: str | None = None
    who: str | None = None
    bytes: int | None = None
    outcome: str | None = None
    dropped: int = 0
    missed: int = 0
