"""Opening panes: what to run in them, starting it, and carrying out changes of the layout."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from brokerd.client import ErrorCode, Refusal
from termnode.service.live_pane import LivePane
from termnode.service.program import Program
from termnode.service.state import Args, State
from termnode.workspace.parts import Change, Size


def program_for(state: State, args: Args, beside: int | None) -> Program:
    """What to run: as asked, else the person's shell, in the directory of the pane beside.

    Raises Refusal UNSUPPORTED (`no_process`): there is no process whose end could be seen.
    """
    argv = tuple(args.get("argv") or (state.config.shell,))
    chosen = args.get("cwd")
    cwd = chosen or _cwd_of(state, beside) or state.config.cwd
    return Program(
        argv,
        cwd,
        args.get("env") or {},
        args["remain"],
        cwd_chosen=bool(chosen),
        clean_env=args.get("clean_env", False),
        caller=_caller(state) if args.get("with_caller") else None,
    )


def _caller(state: State) -> int:
    """The process that asks: of the mutation that runs now."""
    pid = state.inputs.author.pid
    if pid is None:
        raise Refusal(
            ErrorCode.UNSUPPORTED,
            "with_caller is for processes of this machine: leave it out",
            reason="no_process",
        )
    return pid


def own_size(state: State, args: Args) -> Size | None:
    """The size that a new tab is to keep; None: that of the terminal."""
    if "cols" not in args and "rows" not in args:
        return None
    workspace = state.workspace
    return args.get("cols", workspace.cols), args.get("rows", workspace.rows)


def _cwd_of(state: State, pane: int | None) -> str | None:
    live = None if pane is None else state.panes.get(pane)
    return live.terminal.cwd() if live is not None and live.ended is None else None


async def start_opened(state: State, change: Change, program: Program) -> dict[str, Any]:
    """Start the program of a pane that was just opened; without it the pane goes again.

    The pane is made active by the caller, afterwards: a failure leaves what was active alone. Other
    panes may go meanwhile, so the sizes are those of the end, not those of ``change``.
    """
    assert change.opened is not None, "only opened panes are started"
    pane = change.opened
    try:
        live = await _start(state, pane, program, change.sizes[pane])
    except BaseException:
        apply(state, state.workspace.close_pane(pane))
        raise
    placed = state.workspace.panes[pane]
    state.panes.resize(state.workspace.sizes(placed.tab))
    return {"pane": pane, "generation": placed.generation, "pid": live.pid}


async def _start(state: State, pane: int, program: Program, size: Size) -> LivePane:
    """Start the program; where the pane beside is may be a place that cannot be entered from here.

    (Removed meanwhile, or of another mount namespace.) Then it starts where the service did.
    """
    try:
        return await state.panes.start(pane, program, *size)
    except Refusal as refusal:
        if program.cwd_chosen or refusal.details.get("field") != "cwd":
            raise
    return await state.panes.start(pane, replace(program, cwd=state.config.cwd), *size)


def apply(state: State, change: Change) -> None:
    """Carry out what a change of the workspace left to do."""
    for pane in change.closed:
        state.panes.end(pane)
    state.panes.resize(change.sizes)
