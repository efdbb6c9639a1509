"""term.wait: until one of its conditions holds, the program ends, or the time is up."""

from __future__ import annotations

import time

from termnode.service.state import Args, Result, State
from termnode.service.waiting.wait_conditions import Ask, Verdict


async def wait(state: State, args: Args) -> Result:
    """Look at once and after changes. Raises Refusal NOT_FOUND, BUSY, INVALID_ARGUMENT (until)."""
    pane = state.workspace.pane(args.get("pane"))
    live = state.live(pane.id)
    about: Result = {"pane": pane.id, "generation": pane.generation}
    start = time.monotonic()
    verdict, missed = await state.watches.wait(live, _ask(args), args["timeout_ms"] / 1000)
    elapsed = round((time.monotonic() - start) * 1000)
    ended = {"exit": live.exit_body()} if verdict.outcome == "exited" else {}
    return {**about, **_told(verdict), **ended, **_missed(missed), "elapsed_ms": elapsed}


def _ask(args: Args) -> Ask:
    quiet = args.get("quiet_ms")
    return Ask(
        until=args.get("until"),
        after=args.get("after"),
        quiet_s=None if quiet is None else quiet / 1000,
        prompt=args.get("prompt", False),
        changed=args.get("changed", False),
        alternate=args.get("alternate", False),
    )


def _told(verdict: Verdict) -> Result:
    """What is known of how it ended."""
    told: Result = {"outcome": verdict.outcome, "revision": verdict.revision}
    match = {name: getattr(verdict, name) for name in ("line", "row", "text", "stale")}
    return told | {name: value for name, value in match.items() if value is not None}


def _missed(count: int) -> Result:
    return {"lines_missed": count} if count else {}
