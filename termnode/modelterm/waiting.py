"""Waits of a pane, and how each ended: a word instead of an exception."""

from __future__ import annotations

from collections.abc import Awaitable

from termnode.client import LAST_INPUT, After, Pane, ProgramEnded, ResourceLimit, WaitTimeout

EXITED = "exited"
DEADLINE = "deadline"


async def quiet(pane: Pane, seconds: float, most: float, after: After = LAST_INPUT) -> str:
    """Until nothing was written for ``seconds``: quiet, exited or deadline.

    Raises TermnodeError.
    """
    most = max(most, seconds)
    return await _ended(pane.wait_quiet(seconds, timeout=most, after=after), "quiet")


async def matched(pane: Pane, pattern: str, most: float, after: int | None) -> str:
    """Until a row matches: matched, exited or deadline. Raises TermnodeError."""
    return await _ended(pane.wait_for(pattern, timeout=most, after=after), "matched")


async def shows(pane: Pane, most: float) -> str:
    """Until a program has shown anything at all: shown, exited or deadline."""
    return await _ended(pane.wait_change(timeout=most, after=0), "shown")


async def _ended(wait: Awaitable[object], well: str) -> str:
    try:
        await wait
    except ProgramEnded:
        return EXITED
    except (WaitTimeout, ResourceLimit):  # too many waits of others is no reason to show nothing
        return DEADLINE
    return well
