"""The verbs that change something. They run one at a time, in the order they arrived.

A result may be something still to wait for (`Later`): then the next mutation runs meanwhile.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias

from brokerd.client import ErrorCode, Refusal, limit_reached
from termnode.control.keys import ENTER, encode_keys
from termnode.service.panes import LivePane
from termnode.service.program import Program
from termnode.service.state import State
from termnode.terminal.pty_terminal import Gone, QueueFull, Ticket
from termnode.workspace.parts import Change
from termnode.workspace.tree import Direction

CANONICAL_LINE: Final = 4_095
"""Bytes of one line that the kernel keeps in canonical mode (Linux: N_TTY's buffer less one)."""

Args = Mapping[str, Any]
Result = dict[str, object]
Later: TypeAlias = Callable[[], Awaitable[Result]]
Mutation: TypeAlias = Callable[[State, Args], Awaitable[Result | Later]]


async def tab_new(state: State, args: Args) -> Result:
    """term.tab.new"""
    beside = state.workspace.active_pane
    change = state.workspace.add_tab(title=args.get("title"), select=False)
    started = await _start(state, change, _program(state, args, beside))
    state.workspace.select_pane(started["pane"], across_tabs=True)
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
    change = state.workspace.split(
        beside, Direction(args["dir"]), title=args.get("title"), select=False
    )
    started = await _start(state, change, _program(state, args, beside))
    pane = started.pop("pane")
    state.workspace.tabs[state.workspace.panes[pane].tab].active = pane
    return {"id": pane, "tab": change.tab, **started}


async def pane_close(state: State, args: Args) -> Result:
    """term.pane.close"""
    pane = state.workspace.pane(args.get("pane")).id
    change = state.workspace.close_pane(pane)
    apply(state, change)
    tab = state.workspace.tabs.get(change.tab or 0)
    return {
        "id": pane,
        "tab": change.tab,
        "tab_closed": change.tab_closed,
        "remaining": 0 if tab is None else len(state.workspace.geometry(tab.id)),
    }


async def pane_select(state: State, args: Args) -> Result:
    """term.pane.select"""
    change = state.workspace.select_pane(args["id"])
    return {"id": args["id"], "tab": change.tab}


async def pane_restart(state: State, args: Args) -> Result:
    """term.pane.restart"""
    pane = state.workspace.pane(args.get("pane"))
    live = state.live(pane.id)
    if live.ended is None:
        raise Refusal(
            ErrorCode.BUSY,
            "the pane's program still runs: close the pane, or wait for its end",
            reason="still_running",
        )
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


async def type_text(state: State, args: Args) -> Later:
    """term.type"""
    pane = state.workspace.pane(args.get("pane"))
    live = state.live(pane.id)
    data = encode_keys(args["text"]) + (ENTER if args["enter"] else b"")
    if live.ended is not None:
        raise _ended()
    _check_lines(live, data)
    try:
        ticket = live.terminal.write(
            data, within=state.config.write_deadline_s, permit=state.is_open
        )
    except QueueFull as full:
        message = "the program does not read its input: wait until it does, then type again"
        raise limit_reached("input_queue_room", full.room, message) from None
    except Gone:
        raise _ended() from None
    about: Result = {"pane": pane.id, "generation": pane.generation}
    return lambda: _written(ticket, about)


async def _written(ticket: Ticket, about: Result) -> Result:
    outcome = await ticket.wait()
    if outcome == "written":
        return {**about, "outcome": "written", "bytes": ticket.total}
    counts = {"written_bytes": ticket.written, "bytes": ticket.total}
    if outcome == "gone":
        raise Refusal(
            ErrorCode.DISCONNECTED, "the program ended before it had read all of it", **counts
        )
    if outcome == "revoked":
        raise Refusal(
            ErrorCode.CANCELLED, "the terminal became strict; the rest was discarded", **counts
        )
    raise Refusal(
        ErrorCode.EXPIRED,
        "the program did not read all of it in time; the rest was discarded: look at the screen",
        **counts,
    )


def _check_lines(live: LivePane, data: bytes) -> None:
    """Refuse a line that the kernel would cut and then hand over as if it were whole.

    A terminal in canonical mode takes 4,095 bytes of a line and drops the rest without a word, so
    that a shortened command would run.
    """
    longest = max(map(len, data.split(ENTER)))
    if longest <= CANONICAL_LINE:
        return
    discipline = live.terminal.line_discipline()
    if discipline is not None and discipline.canonical:
        raise limit_reached(
            "line_too_long",
            CANONICAL_LINE,
            f"the program reads by lines of at most {CANONICAL_LINE} bytes: put the text into a "
            "file, or wait for the shell's prompt",
        )


def _ended() -> Refusal:
    return Refusal(
        ErrorCode.DISCONNECTED,
        "the pane's program has ended: term.pane.restart starts it again",
        reason="program_ended",
    )


def _program(state: State, args: Args, beside: int | None) -> Program:
    """What to run: as asked, else the person's shell, in the directory of the pane beside."""
    argv = tuple(args.get("argv") or (state.config.shell,))
    cwd = args.get("cwd") or _cwd_of(state, beside) or state.config.cwd
    return Program(argv, cwd, args.get("env") or {}, args["remain"])


def _cwd_of(state: State, pane: int | None) -> str | None:
    live = None if pane is None else state.panes.get(pane)
    return live.terminal.cwd() if live is not None and live.ended is None else None


async def _start(state: State, change: Change, program: Program) -> dict[str, Any]:
    """Start the program of a pane that was just opened; without it the pane goes again.

    The pane is made active by the caller, afterwards: a failure leaves what was active alone. Other
    panes may go meanwhile, so the sizes are those of the end, not those of ``change``.
    """
    assert change.opened is not None, "only opened panes are started"
    pane = change.opened
    try:
        live = await state.panes.start(pane, program, *change.sizes[pane])
    except BaseException:
        apply(state, state.workspace.close_pane(pane))
        raise
    placed = state.workspace.panes[pane]
    state.panes.resize(state.workspace.sizes(placed.tab))
    return {"pane": pane, "generation": placed.generation, "pid": live.pid}


def apply(state: State, change: Change) -> None:
    """Carry out what a change of the workspace left to do."""
    for pane in change.closed:
        state.panes.end(pane)
    state.panes.resize(change.sizes)


MUTATIONS: Final[Mapping[str, Mutation]] = {
    "term.tab.new": tab_new,
    "term.tab.select": tab_select,
    "term.tab.close": tab_close,
    "term.pane.split": pane_split,
    "term.pane.close": pane_close,
    "term.pane.select": pane_select,
    "term.pane.restart": pane_restart,
    "term.type": type_text,
}
