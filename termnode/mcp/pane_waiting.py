"""One wait in a pane of the service, as a word for how it ended."""

from __future__ import annotations

from typing import Final

from termnode.client import ProgramEnded, WaitTimeout
from termnode.mcp.call import Call

QUIET_S: Final = 0.5
"""Without output for so long is quiet, as for the experimental terminal."""


async def wait_in(
    call: Call, pane: int, seconds: float, until: str | None, since: int | None
) -> str:
    """matched, quiet, exited or deadline. Raises TermnodeError: PaneGone when it was closed."""
    found = await call.house.reach.pane(pane)
    try:
        if until is not None:
            await found.wait_for(until, timeout=seconds, after=since)
            return "matched"
        await found.wait_quiet(QUIET_S, timeout=seconds, after=since)
    except ProgramEnded:
        return "exited"
    except WaitTimeout:
        return "deadline"
    return "quiet"
