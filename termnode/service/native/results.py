"""What the native lane says of the Term and its panes, as far as the caller may read it."""

from __future__ import annotations

from typing import Final

from termnode.control.native.callers import allows
from termnode.control.native.decisions import Go
from termnode.control.native.ledger import ENTRIES, PER_ACTOR
from termnode.control.native.targets import Target
from termnode.control.spec import Capability
from termnode.service.live_pane import LivePane
from termnode.service.looking.titles import tab_title
from termnode.service.native.parts import Native
from termnode.service.native.targets import target_of
from termnode.service.state import Result
from termnode.workspace import tree
from termnode.workspace.parts import Size, Tab

MAX_TITLE: Final = 128
"""Characters of a title: those of all panes and tabs must find room in one reply."""


def session(native: Native, go: Go) -> Result:
    """The Term, its readable panes and tabs, and how the caller stands with it."""
    readable = _readable(native, go)
    record = go.own.record
    return {
        "instance_id": record.instance_id,
        "incarnation": record.incarnation,
        "target": go.target.to_json(),
        "policy": record.policy,
        "request_epoch": go.principal.connection_id,
        "request_high_water": str(native.ledger.high_water(go.actor)),
        "panes": _panes(native, readable),
        "tabs": [_tab(native, tab) for tab in _tabs(native) if _ids(tab) <= readable.keys()],
        "binding": native.state.identity.binding_of(go.target.pane_id).state,
        "foreground_generation": foreground(native, go.target.pane_id),
        "retention_seconds": int(native.ledger.retention),
        "requests_per_actor": PER_ACTOR,
        "instance_request_limit": ENTRIES,
    }


def foreground(native: Native, pane: int) -> str | None:
    """What input there must name; None when no process group is known in front."""
    live = native.state.find_live(pane)
    generation = None if live is None else live.observe_foreground()
    return None if generation is None else str(generation)


def _tabs(native: Native) -> list[Tab]:
    return list(native.state.workspace.tabs_in_order())


def _ids(tab: Tab) -> frozenset[int]:
    return frozenset(tree.panes(tab.root))


def _readable(native: Native, go: Go) -> dict[int, Target]:
    """The panes that the caller may read, with their targets."""
    targets = (target_of(native.world, go.own, pane) for pane in native.state.workspace.panes)
    return {
        target.pane_id: target
        for target in targets
        if target is not None
        and allows(go.principal, go.own, go.posture, Capability.READ_STATE, target)
    }


def _panes(native: Native, readable: dict[int, Target]) -> list[Result]:
    sizes = native.state.workspace.sizes(*native.state.workspace.tabs)
    return [_pane(native, target, sizes[pane]) for pane, target in readable.items()]


def _pane(native: Native, target: Target, size: Size) -> Result:
    """``ready``: whether it may be a target now, as any other than one that is only affected."""
    state, pane = native.state, target.pane_id
    live, facts = state.find_live(pane), native.world.pane(pane)
    return {
        "target": target.to_json(),
        "tab_id": state.workspace.panes[pane].tab,
        "cols": size[0],
        "rows": size[1],
        "child_pid": None if live is None else live.pid,
        "title": state.pane_title(pane)[:MAX_TITLE],
        "state": _state(live),
        "ready": facts is not None and facts.ready,
    }


def _state(live: LivePane | None) -> str:
    if live is None:
        return "starting"
    return "running" if live.ended is None else "exited"


def _tab(native: Native, tab: Tab) -> Result:
    workspace = native.state.workspace
    cols, rows = workspace.area(tab.id)
    return {
        "id": tab.id,
        "active": tab.id == workspace.active_tab,
        "title": tab_title(native.state, tab.id)[:MAX_TITLE],
        "cols": cols,
        "rows": rows,
        "panes": [str(pane) for pane in tree.panes(tab.root)],
    }
