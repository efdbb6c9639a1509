"""Carrying out one verb, whatever becomes of it: a failure of one request is not the service's."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from brokerd.client import Refusal, where
from termnode.lanes.calls import Reply
from termnode.service.state import Later, Result

log = logging.getLogger("termnode.service")


async def attempt(verb: str, work: Callable[[], Awaitable[Result | Later]]) -> Reply | Later | None:
    """What the work came to; None when it failed in a way that nobody foresaw, which is logged."""
    try:
        result = await work()
    except Refusal as refusal:
        return Reply.refused(refusal)
    except Exception as error:  # noqa: BLE001  # as said above
        log_failure(verb, error)
        return None
    return result if callable(result) else Reply.ok(**result)


def log_failure(verb: str, error: Exception) -> None:
    """Note where a verb failed; nothing of what was asked or shown."""
    log.error("%s failed: %s", verb, where(error))
