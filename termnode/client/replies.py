"""What the verbs answer with, as values. Fields that a reply left out are None or empty.

``*_ms`` are milliseconds, ``time`` is Unix milliseconds, ``revision`` and ``line`` are those of
specs/looking.md. ``with_`` is the field ``with``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Details: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Identity:
    """Of the service on the bus: ``state`` is off, starting, ready or lost (specs/identity.md)."""

    state: str
    policy: str = ""
    name: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class About:
    """INFO"""

    service: str
    version: str
    posture: str
    verbs: tuple[str, ...]
    limits: Details
    identity: Identity | None = None


@dataclass(frozen=True, slots=True)
class Help:
    """HELP"""

    verbs: tuple[Details, ...]
    errors: Details
    native: Details | None = None


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """term.session"""

    service: str
    version: str
    posture: str
    pid: int
    uptime_ms: int
    emulator: str
    cols: int
    rows: int
    tabs: int
    panes: int
    active_tab: int | None = None
    active_pane: int | None = None


@dataclass(frozen=True, slots=True)
class Size:
    """term.resize"""

    cols: int
    rows: int


@dataclass(frozen=True, slots=True)
class OpenedView:
    """term.view.open"""

    token: str
    path: str


@dataclass(frozen=True, slots=True)
class Asked:
    """term.ask: ``answer`` is yes, no or none."""

    answer: str
    elapsed_ms: int


@dataclass(frozen=True, slots=True)
class LogEntry:
    """Who asked for what, and what became of it."""

    seq: int
    time: int
    principal: str
    verb: str
    outcome: str
    pane: int | None = None
    duration_ms: int = 0
    request_id: bool = False
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Log:
    """term.log"""

    entries: tuple[LogEntry, ...]


@dataclass(frozen=True, slots=True)
class Exit:
    """How a program ended: with a ``code``, or by a ``signal``; both None when nobody knows."""

    code: int | None = None
    signal: int | None = None
    core: bool = False
    duration_ms: int | None = None

    @property
    def ok(self) -> bool:
        """Whether it ended with 0."""
        return self.code == 0

    def __str__(self) -> str:
        if self.signal is not None:
            return f"signal {self.signal}"
        return "in an unknown way" if self.code is None else f"code {self.code}"


@dataclass(frozen=True, slots=True)
class TypedLast:
    """Who typed in a pane last, and by which verb (``person``: somebody at a view)."""

    who: str
    verb: str


@dataclass(frozen=True, slots=True)
class TabInfo:
    """A tab as term.tabs lists it."""

    id: int
    active: bool
    title: str
    panes: tuple[int, ...]
    active_pane: int
    cols: int
    rows: int


@dataclass(frozen=True, slots=True)
class Tabs:
    """term.tabs"""

    tabs: tuple[TabInfo, ...]


@dataclass(frozen=True, slots=True)
class NewTab:
    """term.tab.new"""

    id: int
    pane: int
    generation: int
    pid: int


@dataclass(frozen=True, slots=True)
class SelectedTab:
    """term.tab.select"""

    id: int
    pane: int


@dataclass(frozen=True, slots=True)
class ClosedTab:
    """term.tab.close"""

    id: int
    closed: tuple[int, ...]
    remaining: int


@dataclass(frozen=True, slots=True)
class Renamed:
    """term.tab.rename and term.pane.rename"""

    id: int
    title: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a pane is in its tab, in cells."""

    id: int
    x: int
    y: int
    cols: int
    rows: int


@dataclass(frozen=True, slots=True)
class Arranged:
    """term.tab.layout"""

    id: int
    panes: tuple[Place, ...]
