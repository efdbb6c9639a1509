"""The verbs that only look. Each is one synchronous function from arguments to a result."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Final

from termnode.control.posture import Posture
from termnode.service.live_pane import LivePane
from termnode.service.looking.reply_fields import ending, known, typing
from termnode.service.looking.snapshot import snapshot
from termnode.service.looking.titles import tab_title
from termnode.service.state import Args, Result, State
from termnode.terminal.processes import Foreground
from termnode.version import VERSION
from termnode.workspace.parts import Pane
from termnode.workspace.tree import Rect, panes


def session(state: State, _args: Args) -> Result:
    """term.session"""
    workspace = state.workspace
    result: Result = {
        "service": state.config.name,
        "version": VERSION,
        # Strict posture refuses this verb, so whoever reads this reads it in the open one.
        "posture": str(Posture.OPEN),
        "pid": os.getpid(),
        "uptime_ms": round((time.monotonic() - state.started) * 1000),
        "emulator": state.emulator,
        "cols": workspace.cols,
        "rows": workspace.rows,
        "tabs": len(workspace.tabs),
        "panes": len(workspace.panes),
        "active_tab": workspace.active_tab,
        "active_pane": workspace.active_pane,
    }
    return known(result)


def tabs(state: State, _args: Args) -> Result:
    """term.tabs"""
    workspace = state.workspace
    return {
        "tabs": [
            {
                "id": tab.id,
                "active": tab.id == workspace.active_tab,
                "title": tab_title(state, tab.id),
                "panes": list(panes(tab.root)),
                "active_pane": tab.active,
                "cols": workspace.area(tab.id)[0],
                "rows": workspace.area(tab.id)[1],
            }
            for tab in workspace.tabs_in_order()
        ]
    }


def all_panes(state: State, _args: Args) -> Result:
    """term.panes"""
    return {
        "panes": [
            _pane(state, pane, rect)
            for tab in state.workspace.tabs_in_order()
            for pane, rect in state.workspace.geometry(tab.id).items()
        ]
    }


def log(state: State, args: Args) -> Result:
    """term.log"""
    return {"entries": state.audit.tail(args["limit"])}


READS: Final[Mapping[str, Callable[[State, Args], Result]]] = {
    "term.session": session,
    "term.tabs": tabs,
    "term.panes": all_panes,
    "term.snapshot": snapshot,
    "term.log": log,
}


def _pane(state: State, pane: int, rect: Rect) -> Result:
    placed = state.workspace.panes[pane]
    result: Result = {
        "id": pane,
        "tab": placed.tab,
        "active": state.workspace.active_pane == pane,
        "generation": placed.generation,
        "title": state.pane_title(pane) or None,
        "x": rect.x,
        "y": rect.y,
        "cols": rect.cols,
        "rows": rect.rows,
        **_zoom(state, placed),
        "binding": _binding(state, pane),
    }
    live = state.find_live(pane)
    return known({**result, **(_running(live) if live else {"state": "starting"})})


def _zoom(state: State, placed: Pane) -> Result:
    tab = state.workspace.tabs[placed.tab]
    if not tab.zoomed:
        return {}
    return {"zoomed" if tab.active == placed.id else "hidden": True}


def _binding(state: State, pane: int) -> Result:
    binding = state.identity.binding_of(pane)
    return {
        "state": binding.state,
        "reason": binding.reason,
        "generation": binding.generation,
        "ready": state.identity.control_ready(pane),
    }


def _shell(live: LivePane, foreground: Foreground | None) -> Result:
    """Of a shell at whose prompt commands can be run; its words are those of shell.status."""
    shell = live.shell
    if shell is None or shell.working is None:
        return {}
    child = foreground is not None and not foreground.is_leader
    return {"integration": shell.working, "phase": "foreground-child" if child else shell.phase}


def _running(live: LivePane) -> Result:
    terminal = live.terminal
    foreground = terminal.foreground() if live.ended is None else None
    last = terminal.last_output
    return {
        "pid": live.pid,
        "command": foreground.command if foreground else None,
        "cwd": terminal.cwd() if live.ended is None else live.program.cwd,
        **_shell(live, foreground),
        "idle_ms": None if last is None else round((time.monotonic() - last) * 1000),
        **typing(live),
        **ending(live),
    }
