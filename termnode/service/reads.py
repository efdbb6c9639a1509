"""The verbs that only look. Each is one synchronous function from arguments to a result."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Final

from termnode.control.posture import Posture
from termnode.service.live_pane import LivePane
from termnode.service.state import Args, Result, State
from termnode.version import VERSION
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
    return _known(result)


def tabs(state: State, _args: Args) -> Result:
    """term.tabs"""
    workspace = state.workspace
    return {
        "tabs": [
            {
                "id": tab.id,
                "active": tab.id == workspace.active_tab,
                "title": state.pane_title(tab.active),
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


def snapshot(state: State, args: Args) -> Result:
    """term.snapshot"""
    pane = state.workspace.pane(args.get("pane"))
    live = state.live(pane.id)
    engine, cursor = live.terminal.engine, live.terminal.engine.cursor
    return _known(
        {
            "pane": pane.id,
            "generation": pane.generation,
            "cols": engine.cols,
            "rows": engine.rows,
            "cursor": {"x": cursor.x, "y": cursor.y, "visible": cursor.visible},
            "alternate": engine.modes.alternate,
            "title": engine.title or None,
            "revision": live.terminal.revision,
            "text": "\n".join(engine.text()),
            **_ending(live),
        }
    )


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
    }
    live = state.find_live(pane)
    return _known({**result, **(_running(live) if live else {"state": "starting"})})


def _running(live: LivePane) -> Result:
    terminal = live.terminal
    foreground = terminal.foreground() if live.ended is None else None
    last = terminal.last_output
    return {
        "pid": live.pid,
        "command": foreground.command if foreground else None,
        "cwd": terminal.cwd() if live.ended is None else live.program.cwd,
        "idle_ms": None if last is None else round((time.monotonic() - last) * 1000),
        **_ending(live),
    }


def _ending(live: LivePane) -> Result:
    ended = live.exit_body()
    report = live.terminal.exit
    return {
        "state": "running" if ended is None else "exited",
        "exit": ended,
        "duration_ms": live.duration_ms,
        "held_by": list(report.holders) if report and report.holders else None,
    }


def _known(result: Result) -> Result:
    """What is unknown is left out, never given a made-up value."""
    return {name: value for name, value in result.items() if value is not None}
