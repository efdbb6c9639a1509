"""Everything the verbs look at: the workspace, what runs in it, and the service's own facts."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from brokerd.client import ErrorCode, Refusal
from termnode.control.audit import Audit
from termnode.service.config import Config
from termnode.service.events.hub import Events
from termnode.service.identity.words import Identity, NoIdentity
from termnode.service.input.inputs import Inputs
from termnode.service.live_pane import LivePane
from termnode.service.panes import Panes
from termnode.service.viewing.access import Access
from termnode.service.viewing.asking import Asking
from termnode.service.viewing.people import People
from termnode.service.waiting.watching import Watches
from termnode.workspace.model import Workspace

Args: TypeAlias = Mapping[str, Any]
"""A verb's checked arguments (`termnode.control.schema`)."""

Result: TypeAlias = dict[str, object]
"""The fields of a good reply."""

Later: TypeAlias = Callable[[], Awaitable[Result]]
"""What is left to wait for after the synchronous part of a mutation."""


Mutation: TypeAlias = Callable[["State", Args], Awaitable[Result | Later]]
"""Carries out a verb that changes something."""

Work: TypeAlias = Callable[[], Awaitable[None]]
"""Something to do among the mutations; it never raises."""


def _not_yet(_: Work) -> None:
    raise Refusal(ErrorCode.UNAVAILABLE, "the service is just starting: try again")


def _no_access() -> Access:
    return Access(lambda: False, time.monotonic)


@dataclass(slots=True)
class State:
    """One service's state. ``started`` is in monotonic seconds; ``emulator`` is the engine's name.

    Only one Trio task at a time is inside a synchronous step, which is all the locking there is.
    """

    config: Config
    workspace: Workspace
    panes: Panes
    audit: Audit
    emulator: str
    started: float
    is_open: Callable[[], bool]
    """Whether the posture is open now; asked again at each write of queued input."""
    events: Events
    inputs: Inputs = field(default_factory=Inputs, kw_only=True)
    """What the input verbs remember between requests."""
    enqueue: Callable[[Work], None] = field(default=_not_yet, kw_only=True)
    """Puts work behind the mutations that wait already; raises Refusal RESOURCE_LIMIT when there is
    too much of it."""
    people: People = field(default_factory=People, kw_only=True)
    """Who typed last, and what gives way to a person."""
    asking: Asking = field(default_factory=Asking, kw_only=True)
    """Questions to the person."""
    access: Access = field(default_factory=_no_access, kw_only=True)
    """Who may open a view."""
    identity: Identity = field(default_factory=NoIdentity, kw_only=True)
    """What the service can prove on the bus, and its panes with it."""
    watches: Watches = field(default_factory=Watches, kw_only=True)
    """The panes that somebody waits for."""

    def find_live(self, pane: int) -> LivePane | None:
        """The program of a pane of the workspace; None while it is being started."""
        return self.panes.get(pane)

    def live(self, pane: int) -> LivePane:
        """As `find_live`, but raises Refusal BUSY while it is being started."""
        found = self.panes.get(pane)
        if found is None:
            raise Refusal(
                ErrorCode.BUSY, "the pane's program is being started: try again", reason="starting"
            )
        return found

    def pane_title(self, pane: int) -> str:
        """What the person or agent named the pane, else the title its program set, else ''."""
        named = self.workspace.panes[pane].title
        live = self.panes.get(pane)
        return named or (live.terminal.engine.title if live else "")
