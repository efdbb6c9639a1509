"""When to ask a shell where its prompt is, by a request that asks for nothing."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Final

from termnode.paneshell.prompt.watching import Watch

SILENT_SECONDS: Final = 1.0
"""A shell that has not told anything by then may have told a predecessor of this process."""

PROBE_SECONDS: Final = 5.0
"""Between two questions."""

Probe = Callable[[], Awaitable[bool]]
"""Asks; whether the key was pressed for it."""


async def find_the_prompt(watch: Watch, probe: Probe) -> None:
    """Ask a shell that told a predecessor of this process, until it tells anything."""
    state = watch.state
    await watch.bell.until(lambda: state.heard, SILENT_SECONDS)
    while not (state.heard or state.known):
        await probe()
        await watch.bell.until(lambda: state.heard, PROBE_SECONDS)


async def ask_in_doubt(watch: Watch, probe: Probe) -> None:
    """Ask a shell that may run a command or not, once; until cancelled.

    After an interrupt it may show no new prompt. One key and no more: if it does run the command,
    that program gets the key.
    """
    while True:
        await watch.bell.until(lambda: watch.unresolved, math.inf)
        wait = SILENT_SECONDS
        while not await watch.bell.until(lambda: not watch.unresolved, wait):
            wait = math.inf if await probe() else PROBE_SECONDS
