"""How a Trio task waits for a slot of the session: one hop, no channel, no extra task."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import trio

from brokerd.client.session import Session
from brokerd.client.slots import Outcome, Slot


async def asked(
    session: Session,
    to: str,
    command: str,
    body: bytes,
    timeout: float | None,
    *,
    again: str | None = None,
) -> tuple[Outcome | None, str]:
    """Send a request and wait as ``outcome_of`` does: its outcome, and the id it had.

    Raises what ``Session.request`` raises. An answer that comes later goes nowhere.
    """
    slot = Slot()
    request_id = session.request(to, command, body, slot, again=again)
    try:
        return await outcome_of(slot, timeout), request_id
    finally:
        if slot.outcome is None:
            session.abandon(request_id)


async def outcome_of(slot: Slot, timeout: float | None) -> Outcome | None:
    """The slot's outcome, or None when it has not come within ``timeout`` seconds (None: ever)."""
    if slot.outcome is not None:
        await trio.lowlevel.checkpoint()
        return slot.outcome
    task = trio.lowlevel.current_task()
    slot.on_done = lambda _outcome: trio.lowlevel.reschedule(task)

    def abort(_raise: object) -> trio.lowlevel.Abort:
        slot.on_done = None
        return trio.lowlevel.Abort.SUCCEEDED

    with trio.move_on_after(math.inf if timeout is None else timeout):
        await trio.lowlevel.wait_task_rescheduled(abort)
    return slot.outcome


@asynccontextmanager
async def background(
    task: Callable[[trio.Nursery], Awaitable[None]],
) -> AsyncIterator[trio.Nursery]:
    """Run ``task`` for as long as the block runs; what either raises comes out as it is.

    A nursery alone would wrap the exception of the block in a group, so that no caller could write
    a plain ``except``. An error of the task ends the block.
    """
    failure: list[Exception] = []
    async with trio.open_nursery() as nursery:

        async def guarded() -> None:
            try:
                await task(nursery)
            except Exception as error:  # noqa: BLE001  # raised again below, unwrapped
                failure.append(error)
                nursery.cancel_scope.cancel()

        nursery.start_soon(guarded)
        try:
            yield nursery
        except Exception as error:  # noqa: BLE001  # raised again below, unwrapped
            failure.append(error)
        finally:
            nursery.cancel_scope.cancel()
    if failure:
        raise failure[0]
