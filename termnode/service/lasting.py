"""How long a pane lasts that its caller wants to go with it."""

from __future__ import annotations

from collections.abc import Callable

from brokerd.client import wait_process_end
from termnode.service.live_pane import LivePane


async def with_caller(live: LivePane, close: Callable[[LivePane], object]) -> None:
    """Beside one pane: call ``close`` when the process that opened it `with_caller` has ended.

    The kernel tells, however it ended. Without such a process this is done at once.
    """
    if live.program.caller is not None:
        await wait_process_end(live.program.caller)
        close(live)
