"""What the service says to a view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from termnode.terminal.engine import Cursor, Modes
from termnode.view.parts import VERSION, Line, Reason


@dataclass(frozen=True, slots=True)
class Welcome:
    """The view is attached. ``pid`` is the service's; ``view`` is this view's number."""

    service: str
    pid: int
    view: int
    posture: str
    emulator: str
    read_only: bool
    v: int = VERSION


@dataclass(frozen=True, slots=True)
class TabInfo:
    """One tab. ``bell`` and ``activity``: since it was last the active one."""

    id: int
    title: str
    panes: tuple[int, ...]
    active_pane: int
    zoomed: bool
    bell: bool
    activity: bool


@dataclass(frozen=True, slots=True)
class Tabs:
    """All tabs in order."""

    active: int | None
    tabs: tuple[TabInfo, ...]


@dataclass(frozen=True, slots=True)
class PlacedPane:
    """Where a pane is in its tab; a ``hidden`` one is behind a zoomed pane."""

    id: int
    x: int
    y: int
    cols: int
    rows: int
    hidden: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """The tab that this view shows; larger than the view when another view was typed into.

    Panes that are not in it are forgotten: when they are shown again, they are told in full.
    """

    tab: int
    cols: int
    rows: int
    panes: tuple[PlacedPane, ...]
    zoomed: int | None
    active: int


@dataclass(frozen=True, slots=True)
class PaneState:
    """What changed in a pane. It shows the lines ``base`` to ``base + rows - 1``.

    ``lines`` replace those of the same number; other lines of the screen are as they were told.
    With ``full`` numbers began anew: whatever was told before is void. A screen too large for one
    frame comes as several. ``first`` is the oldest line that can be asked for.
    ``state`` is "starting", "running", "exited", "exited N" or "signal N".
    """

    pane: int
    generation: int
    cols: int
    rows: int
    base: int
    first: int
    lines: tuple[Line, ...]
    cursor: Cursor
    modes: Modes
    title: str
    state: str
    full: bool
    revision: int


@dataclass(frozen=True, slots=True)
class PaneGone:
    """The pane was closed."""

    pane: int


@dataclass(frozen=True, slots=True)
class LastInput:
    """Who wrote last to a pane: "person ..." or the principal; ``verb`` and how long ago."""

    pane: int
    who: str
    verb: str
    ago_ms: int


@dataclass(frozen=True, slots=True)
class Interrupted:
    """Whose input a person's key has just discarded."""

    pane: int
    who: str
    verb: str


@dataclass(frozen=True, slots=True)
class Status:
    """What a status line says. ``interrupted`` is told for two seconds.

    ``identity`` is empty while the service holds its record on the bus, else a word or two.
    """

    views: int
    last: LastInput | None
    interrupted: Interrupted | None
    posture: str
    name: str
    identity: str = ""


@dataclass(frozen=True, slots=True)
class Bell:
    """It rang in a pane of any tab."""

    pane: int


@dataclass(frozen=True, slots=True)
class Page:
    """Lines of a pane's history and screen; ``lines`` is empty when there are none left.

    ``first`` is the oldest line there is and ``end`` the one after the last. ``generation`` is 0
    when there is no such pane.
    """

    req: int
    pane: int
    generation: int
    first: int
    end: int
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Done:
    """A verb's reply, as on the bus: ``rc`` 0 with its result, else error_code and message."""

    req: int
    rc: int
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to the person; `Answer` answers it."""

    ask: int
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class AskedGone:
    """The question is answered, or no longer asked."""

    ask: int


@dataclass(frozen=True, slots=True)
class Bye:
    """The last message."""

    reason: Reason
