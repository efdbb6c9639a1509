"""The verbs that change something. They run one at a time, in the order they arrived.

A result may be something still to wait for (`Later`): then the next mutation runs meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from brokerd.client import ErrorCode, Refusal
from termnode.service.arranging import ARRANGING, Arrange
from termnode.service.input.keyboard import INPUT
from termnode.service.live_pane import LivePane
from termnode.service.opening import apply, own_size, program_for, start_opened
from termnode.service.state import Args, Later, Mutation, Result, State
from termnode.workspace.tree import Direction


async def tab_new(state: State, args: Args) -> Result:
    """term.tab.new"""
    beside = state.workspace.active_pane
    program = program_for(state, args, beside)
    change = state.workspace.add_tab(
        title=args.get("title"), select=False, size=own_size(state, args)
    )
    started = await start_opened(state, change, program)
    if not args.get("background"):
        apply(state, state.workspace.select_pane(started["pane"], across_tabs=True))
    return {"id": change.tab, **started}


async def tab_select(state: State, args: Args) -> Result:
    """term.tab.select"""
    change = state.workspace.select_tab(args["id"])
    return {"id": change.tab, "pane": change.active_pane}


async def tab_close(state: State, args: Args) -> Result:
    """term.tab.close"""
    change = state.workspace.close_tab(state.workspace.tab(args.get("id")).id)
    apply(state, change)
    return {
        "id": change.tab,
        "closed": list(change.closed),
        "remaining": len(state.workspace.tabs),
    }


async def pane_split(state: State, args: Args) -> Result:
    """term.pane.split"""
    beside = state.workspace.pane(args.get("pane")).id
    program = program_for(state, args, beside)
    change = state.workspace.split(
        beside, Direction(args["dir"]), title=args.get("title"), select=False
    )
    started = await start_opened(state, change, program)
    pane = started.pop("pane")
    if not args.get("background"):
        apply(state, state.workspace.focus(pane))
    return {"id": pane, "tab": change.tab, **started}


async def pane_close(state: State, args: Args) -> Result | Later:
    """term.pane.close"""
    pane = state.workspace.pane(args.get("pane")).id
    live = state.find_live(pane)
    change = state.workspace.close_pane(pane)
    apply(state, change)
    tab = state.workspace.tabs.get(change.tab or 0)
    result: Result = {
        "id": pane,
        "tab": change.tab,
        "tab_closed": change.tab_closed,
        "remaining": 0 if tab is None else len(state.workspace.geometry(tab.id)),
    }
    return partial(_when_over, live, result) if live and args.get("wait") else result


async def _when_over(live: LivePane, result: Result) -> Result:
    """What became of the program, once it is gone."""
    await live.over.wait()
    ended = live.exit_body() or {"unknown": True}
    return {**result, "exit": ended, "duration_ms": live.duration_ms}


async def pane_select(state: State, args: Args) -> Result:
    """term.pane.select"""
    change = state.workspace.select_pane(args["id"])
    apply(state, change)
    return {"id": args["id"], "tab": change.tab}


def restartable(state: State, pane: int) -> LivePane:
    """The ended program of a pane. Raises Refusal BUSY (`still_running`)."""
    live = state.live(pane)
    if live.ended is None:
        raise Refusal(
            ErrorCode.BUSY,
            "the pane's program still runs: close the pane, or wait for its end",
            reason="still_running",
        )
    return live


async def pane_restart(state: State, args: Args) -> Result:
    """term.pane.restart"""
    pane = state.workspace.pane(args.get("pane"))
    live = restartable(state, pane.id)
    size = state.workspace.sizes(pane.tab)[pane.id]
    # The old screen stays until the new program is there: a failed restart loses nothing.
    live = await state.panes.start(pane.id, live.program, *size)
    try:
        generation = state.workspace.restart(pane.id)
    except Refusal:  # it was no longer kept, and went while the program was being started
        state.panes.end(pane.id)
        raise
    state.panes.resize(state.workspace.sizes(pane.tab))
    return {"id": pane.id, "generation": generation, "pid": live.pid}


def _mutation(arrange: Arrange) -> Mutation:
    async def work(state: State, args: Args) -> Result:
        return arrange(state, args)

    return work


MUTATIONS: Final[Mapping[str, Mutation]] = {
    "term.tab.new": tab_new,
    "term.tab.select": tab_select,
    "term.tab.close": tab_close,
    "term.pane.split": pane_split,
    "term.pane.close": pane_close,
    "term.pane.select": pane_select,
    "term.pane.restart": pane_restart,
    **INPUT,
    **{name: _mutation(arrange) for name, arrange in ARRANGING.items()},
}
