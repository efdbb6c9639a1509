"""What the verbs about panes answer with; see `termnode.client.replies`."""

from __future__ import annotations

from dataclasses import dataclass

from termnode.client.replies import Exit, TypedLast


@dataclass(frozen=True, slots=True)
class Binding:
    """Of a pane's verified session: ``ready`` when the pane may be controlled through it.

    ``state`` is waiting, enrolling, attached, suspended, lost, unbound, over or off;
    ``generation`` is that of its last grant (specs/identity.md).
    """

    state: str
    reason: str = ""
    generation: int = 0
    ready: bool = False


@dataclass(frozen=True, slots=True)
class PaneInfo:
    """A pane as term.panes lists it. ``state`` is starting, running or exited."""

    id: int
    tab: int
    active: bool
    generation: int
    x: int
    y: int
    cols: int
    rows: int
    state: str
    title: str = ""
    zoomed: bool = False
    hidden: bool = False
    pid: int | None = None
    command: str | None = None
    cwd: str | None = None
    integration: str | None = None
    phase: str | None = None
    idle_ms: int | None = None
    typed_last: TypedLast | None = None
    person_inputs: int = 0
    exit: Exit | None = None
    duration_ms: int | None = None
    held_by: tuple[int, ...] = ()
    binding: Binding | None = None


@dataclass(frozen=True, slots=True)
class Panes:
    """term.panes"""

    panes: tuple[PaneInfo, ...]


@dataclass(frozen=True, slots=True)
class NewPane:
    """term.pane.split"""

    id: int
    tab: int
    generation: int
    pid: int


@dataclass(frozen=True, slots=True)
class ClosedPane:
    """term.pane.close"""

    id: int
    tab: int
    tab_closed: bool
    remaining: int
    exit: Exit | None = None
    duration_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """term.pane.select and term.pane.break"""

    id: int
    tab: int


@dataclass(frozen=True, slots=True)
class Restarted:
    """term.pane.restart"""

    id: int
    generation: int
    pid: int


@dataclass(frozen=True, slots=True)
class Resized:
    """term.pane.resize"""

    id: int
    cols: int
    rows: int


@dataclass(frozen=True, slots=True)
class Swapped:
    """term.pane.swap"""

    id: int
    tab: int
    with_: int


@dataclass(frozen=True, slots=True)
class Joined:
    """term.pane.join"""

    id: int
    tab: int
    tab_closed: bool


@dataclass(frozen=True, slots=True)
class Zoomed:
    """term.pane.zoom"""

    id: int
    tab: int
    zoomed: bool
