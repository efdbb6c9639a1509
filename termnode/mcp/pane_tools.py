"""Tools about the panes of the service that runs: looking, and waiting."""

from __future__ import annotations

from typing import Final

from termnode.client import Pane, PaneInfo, Session
from termnode.mcp import arguments as of
from termnode.mcp.call import Call
from termnode.mcp.facts import PaneFacts, PanesFacts
from termnode.mcp.limits import LISTED, LONGEST_WAIT_S, RESULT_BYTES
from termnode.mcp.outcome import Outcome
from termnode.mcp.pane_screens import screen_of
from termnode.mcp.pane_waiting import wait_in
from termnode.mcp.patience import patiently
from termnode.mcp.terminal_tools import DEADLINE, STILL_WAITING, waited

LIST_BYTES: Final = RESULT_BYTES // 2
"""Of the facts of all panes together."""


async def panes(call: Call, _args: of.Nothing) -> Outcome:
    """List all panes."""
    found = await call.house.reach.use(_listed)
    facts = [pane_facts(pane.info) for pane in found[:LISTED]]
    size = 0
    kept: list[PaneFacts] = []
    for each in facts:
        size += len(each.model_dump_json())
        if size > LIST_BYTES:
            break
        kept.append(each)
    told = PanesFacts(panes=kept, more=len(found) - len(kept))
    return Outcome("\n".join([f"{len(found)} panes", *map(_line, kept)]), told)


async def screen(call: Call, args: of.PaneScreen) -> Outcome:
    """Look at one."""
    return await screen_of(
        call,
        args.pane,
        offset=args.offset,
        since=args.since,
        style=args.style,
        from_line=args.from_line,
    )


async def wait(call: Call, args: of.PaneWait) -> Outcome:
    """Wait in one."""
    seconds = min(args.seconds, LONGEST_WAIT_S)
    how = await patiently(
        call,
        seconds,
        "waiting for the program",
        lambda: wait_in(call, args.pane, seconds, args.until, args.since),
    )
    if how == DEADLINE and args.seconds > LONGEST_WAIT_S:
        how = STILL_WAITING
    return waited(how, await screen_of(call, args.pane, since=args.since), args.since)


async def _listed(session: Session) -> list[Pane]:
    return await session.panes


def pane_facts(info: PaneInfo) -> PaneFacts:
    """What the model is told of a pane."""
    return PaneFacts(
        pane=info.id,
        tab=info.tab,
        cols=info.cols,
        rows=info.rows,
        state="running" if info.exit is None else f"ended with {info.exit}",
        program=info.command,
        cwd=info.cwd,
        title=info.title or None,
        active=info.active,
    )


def _line(facts: PaneFacts) -> str:
    """Without the title, which a program may have set."""
    what = facts.program or "-"
    return f"{facts.pane}: tab {facts.tab} | {facts.cols}x{facts.rows} | {facts.state} | {what}"
