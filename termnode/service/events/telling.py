"""From what happens to events: what programs say, how they end, and what callers did.

Nothing of a program's own text gets into an event but its title, and nothing of what was typed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from brokerd.client import RC_OK, ErrorCode
from termnode.control.native.spec import NativeSpec
from termnode.control.spec import Capability
from termnode.lanes.calls import OK, Reply, Sealed, Ticket
from termnode.lanes.who import summary
from termnode.service.events.hub import Events
from termnode.service.events.places import Places
from termnode.service.events.throttle import Fields
from termnode.service.live_pane import LivePane
from termnode.terminal.commands import CommandEnded, PromptReady, Signal
from termnode.terminal.engine import EventKind
from termnode.workspace.model import Workspace

MAX_TITLE: Final = 256
"""Characters of a title in an event."""

PERSON_VERB: Final = "view"
"""In the place of a verb: a person typed at a view."""

EXPIRED: Final = "expired"
"""In the place of a verb: an ended program's pane was no longer kept."""

LEFT: Final = "left"
"""In the place of a verb: the process that opened the pane `with_caller` has ended."""


class Telling:
    """Publishes the events of one service. ``clock`` is monotonic, in seconds.

    ``find_live`` gives the program that is in a pane now: what another one says is not told.
    """

    def __init__(
        self,
        events: Events,
        workspace: Workspace,
        find_live: Callable[[int], LivePane | None],
        clock: Callable[[], float],
    ) -> None:
        self._events = events
        self._workspace = workspace
        self._find_live = find_live
        self._clock = clock
        self._places = Places(workspace)
        self._active: int | None = None
        self.on_moved: Callable[[int, str, str], object] = _ignored
        """Told when a caller made another pane the active one: the pane, who, the verb."""

    def heard(self, live: LivePane, signal: Signal) -> None:
        """A pane's program said something; quick, and never raises."""
        said = _said(signal)
        if said is None:
            return
        self._offer(live, *said)

    def _offer(self, live: LivePane, kind: str, fields: Fields) -> None:
        passed = live.hearing.offer(kind, fields, self._clock())
        if passed is None:
            live.held.set()
        else:
            self._tell(live, kind, passed)

    def flush(self, live: LivePane) -> None:
        """Tell what came too fast and may go now."""
        self._flush(live, at_once=False)

    def quiet(self, live: LivePane, idle_s: float) -> None:
        """Its output stopped so long ago."""
        self._publish(live, "quiet", idle_ms=round(idle_s * 1000))

    def ended(self, live: LivePane) -> None:
        """Its program ended by itself."""
        self._flush(live, at_once=True)
        self._publish(live, "exit", exit=live.exit_body(), duration_ms=live.duration_ms)

    def went(self, pane: int, why: str) -> None:
        """A pane went by itself: EXPIRED or LEFT."""
        self._layout(why, pane)

    def typed(self, live: LivePane, who: str, _count: int, taken: bool) -> None:
        """A person typed there. How much is not told: it may be a secret."""
        outcome = OK if taken else str(ErrorCode.RESOURCE_LIMIT)
        self._offer(live, "input", {"verb": PERSON_VERB, "who": who, "outcome": outcome})

    def arranged(self, verb: str, pane: int | None) -> None:
        """A person's command was carried out."""
        self._layout(verb, pane)

    def look(self) -> None:
        """Take what is there now for known."""
        self._places.moved()
        self._active = self._workspace.active_pane

    def settled(self, ticket: Ticket, reply: Reply | None, sealed: Sealed) -> None:
        """A mutation was carried out, or given up half-way (``reply`` is None)."""
        if ticket.spec.capability is Capability.INPUT:
            self._input(ticket, reply, sealed)
        elif reply is not None and reply.rc == RC_OK:
            self._did(ticket.spec.name, sealed.pane, summary(ticket.principal))

    def acted(self, spec: NativeSpec, pane: int, who: str, sealed: Sealed) -> None:
        """A mutation of the native lane was carried out; of input, and of what a pane's shell was
        asked: it was accepted."""
        if sealed.outcome != OK:
            return
        if spec.input or spec.forwarded is not None:
            told = {"verb": spec.name, "who": who, "outcome": "accepted", **self._version(pane)}
            self._events.publish("input", pane, **told)
        else:
            self._did(spec.name, pane, who)

    # -- inside --------------------------------------------------------------------------------

    def _flush(self, live: LivePane, *, at_once: bool) -> None:
        for kind, fields in live.hearing.flush(self._clock(), at_once=at_once):
            self._tell(live, kind, fields)

    def _tell(self, live: LivePane, kind: str, fields: Fields) -> None:
        if kind == "input":
            fields = {name: value for name, value in fields.items() if name != "dropped"}
        if kind != "title":
            self._publish(live, kind, **fields)
            return
        title = shown(str(fields["title"]))
        if title != live.told_title:
            live.told_title = title
            self._publish(live, kind, **{**fields, "title": title})

    def _publish(self, live: LivePane, kind: str, **fields: object) -> None:
        if self._find_live(live.id) is live:
            self._events.publish(kind, live.id, **{**self._version(live.id), **fields})

    def _version(self, pane: int | None) -> dict[str, Any]:
        """Generation and revision of a pane, as far as it has them."""
        placed = None if pane is None else self._workspace.panes.get(pane)
        if placed is None:
            return {}
        live = self._find_live(placed.id)
        revision = None if live is None else live.terminal.revision
        return {"generation": placed.generation, "revision": revision}

    def _did(self, verb: str, pane: int | None, who: str) -> None:
        before = self._active
        self._layout(verb, pane)
        if self._active not in {before, None}:
            self.on_moved(self._active or 0, who, verb)

    def _layout(self, verb: str, pane: int | None) -> None:
        moved = self._places.moved()
        self._active = self._workspace.active_pane
        self._events.publish("layout", pane, panes=moved, verb=verb, **self._version(pane))

    def _input(self, ticket: Ticket, reply: Reply | None, sealed: Sealed) -> None:
        """Told when something was written, may have been, or was to be when the pane gave way."""
        did = _written(reply, sealed)
        if did is None:
            return
        pane = ticket.pane if sealed.pane is None else sealed.pane
        who = summary(ticket.principal)
        version = self._version(pane)
        self._events.publish("input", pane, verb=ticket.spec.name, who=who, **did, **version)


def _ignored(*_told: object) -> None:
    """Nobody wants to know."""


def _written(reply: Reply | None, sealed: Sealed) -> dict[str, Any] | None:
    """``bytes`` and ``outcome`` of input; None when none of it was begun."""
    if reply is None:
        return {"outcome": sealed.outcome}
    if sealed.outcome != OK:
        details = reply.body.get("details")
        written = details.get("written_bytes") if isinstance(details, Mapping) else None
        return None if written is None else {"bytes": written, "outcome": sealed.outcome}
    outcome = reply.body.get("outcome")
    if outcome == "received":  # a part of a paste: nothing of it is written before the last one
        return None
    return {"bytes": reply.body.get("bytes"), "outcome": outcome}


def _said(signal: Signal) -> tuple[str, Fields] | None:
    """The kind and the fields of what a program said; None for what is not told."""
    match signal:
        case PromptReady():
            return "prompt", {"revision": signal.revision}
        case CommandEnded():
            return "command", {
                "status": signal.status,
                "duration_ms": signal.duration_ms,
                "revision": signal.revision,
            }
        case _ if signal.kind is EventKind.BELL:
            return "bell", {}
        case _ if signal.kind is EventKind.TITLE:
            return "title", {"title": signal.text}
    return None


def shown(title: str) -> str:
    """A title as an event shows it: cut, without control characters and the like."""
    return "".join(filter(str.isprintable, title[: 4 * MAX_TITLE]))[:MAX_TITLE]
