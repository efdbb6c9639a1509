"""Carrying out one verb, whatever becomes of it: a failure of one request is not the service's."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import trio

from brokerd.client import Refusal, wait_process_end, where
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


def attempt_now(verb: str, look: Callable[[], Result]) -> Reply | None:
    """As `attempt`, of what is done in one step."""
    try:
        return Reply.ok(**look())
    except Refusal as refusal:
        return Reply.refused(refusal)
    except Exception as error:  # noqa: BLE001  # one request's failure is not the service's
        log_failure(verb, error)
        return None


async def attempt_wait(
    verb: str, work: Callable[[], Awaitable[Result]], pid: int | None
) -> Reply | None:
    """As `attempt`; None also when the process that asked has ended, to make room for others."""
    outcome: Reply | Later | None = None
    async with trio.open_nursery() as nursery:
        if pid is not None:
            nursery.start_soon(_cancel_with, pid, nursery.cancel_scope)
        outcome = await attempt(verb, work)
        nursery.cancel_scope.cancel()
    assert not callable(outcome), "a wait has nothing later"
    return outcome


async def _cancel_with(pid: int, scope: trio.CancelScope) -> None:
    await wait_process_end(pid)
    scope.cancel()


def log_failure(verb: str, error: Exception) -> None:
    """Note where a verb failed; nothing of what was asked or shown."""
    log.error("%s failed: %s", verb, where(error))
