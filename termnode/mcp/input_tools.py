"""Tools that type into panes of the service that runs. Who was there first goes first: the service
discards what a person interrupts, and says so."""

from __future__ import annotations

from termnode.client import Pasted, Sent, Typed
from termnode.mcp import arguments as of
from termnode.mcp.call import Call
from termnode.mcp.facts import SentFacts
from termnode.mcp.outcome import Outcome


async def type_(call: Call, args: of.PaneType) -> Outcome:
    """Type a text."""
    pane = await call.house.reach.pane(args.pane)
    return _sent(args.pane, await pane.type(args.text, enter=args.enter))


async def keys(call: Call, args: of.PaneKeys) -> Outcome:
    """Press keys."""
    pane = await call.house.reach.pane(args.pane)
    return _sent(args.pane, await pane.press(*args.keys))


async def paste(call: Call, args: of.PanePaste) -> Outcome:
    """Paste a text."""
    pane = await call.house.reach.pane(args.pane)
    return _sent(args.pane, await pane.paste(args.text))


def _sent(pane: int, answer: Typed | Sent | Pasted) -> Outcome:
    facts = SentFacts(pane=pane, outcome=answer.outcome, revision=answer.revision)
    told = f"{answer.outcome}; to see what it did: wait pane={pane} since={answer.revision}"
    return Outcome(told, facts)
