"""Tools that open and close panes of the service that runs. What is active stays so."""

from __future__ import annotations

from termnode.client import Pane, Session
from termnode.mcp import arguments as of
from termnode.mcp.call import Call
from termnode.mcp.facts import ClosedFacts, MadeFacts
from termnode.mcp.outcome import Outcome


async def split(call: Call, args: of.Split) -> Outcome:
    """Halve a pane's room for a new one."""
    pane = await call.house.reach.pane(args.pane)
    made = await pane.split(args.argv, below=args.below, cwd=args.cwd, background=True)
    return _made(made)


async def new_tab(call: Call, args: of.NewTab) -> Outcome:
    """Open a tab."""

    async def open_tab(session: Session) -> Pane:
        tab = await session.new_tab(args.argv, cwd=args.cwd, title=args.title, background=True)
        return await tab.active_pane

    return _made(await call.house.reach.use(open_tab))


async def close(call: Call, args: of.OfPane) -> Outcome:
    """Close a pane and end its program."""
    pane = await call.house.reach.pane(args.pane)
    await pane.close()
    return Outcome(f"pane {args.pane} is closed", ClosedFacts(pane=args.pane))


def _made(pane: Pane) -> Outcome:
    return Outcome(f"pane {pane.id} in tab {pane.tab}", MadeFacts(pane=pane.id, tab=pane.tab))
