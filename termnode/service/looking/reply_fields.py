"""Parts that several replies have in common."""

from __future__ import annotations

from termnode.service.live_pane import LivePane
from termnode.service.state import Result


def ending(live: LivePane) -> Result:
    """How a pane's program is: state, exit, duration_ms, held_by; None for what is not known."""
    ended = live.exit_body()
    report = live.terminal.exit
    return {
        "state": "running" if ended is None else "exited",
        "exit": ended,
        "duration_ms": live.duration_ms,
        "held_by": list(report.holders) if report and report.holders else None,
    }


def typing(live: LivePane) -> Result:
    """Who typed there last, if anybody; how often persons did."""
    last = live.typed_last
    told = None if last is None else {"who": last.author.who, "verb": last.author.verb}
    return {"typed_last": told, "person_inputs": live.person_inputs or None}


def known(result: Result) -> Result:
    """What is unknown is left out, never given a made-up value."""
    return {name: value for name, value in result.items() if value is not None}
