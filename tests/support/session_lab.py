"""Keepers of sessions on either kind of bus, and how to wait for what becomes of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import trio

from brokerd.client import (
    Attach,
    Authority,
    Bus,
    GrantView,
    LifecycleNotice,
    LifecycleNotices,
    RecordView,
    Ref,
    SessionKeeper,
    SessionKey,
    boottime_ms,
)
from tests.support.bus_labs import Lab, MemoryLab

TERM_KEY, CHILD_KEY = SessionKey.generate(), SessionKey.generate()
CHILD_CAPABILITIES = ("execute", "read_state")


def virtual_ms() -> int:
    """The clock of a broker in memory."""
    return round(trio.current_time() * 1000)


def clock_of(lab: Lab) -> Callable[[], int]:
    """The broker's clock: virtual in memory."""
    return virtual_ms if isinstance(lab, MemoryLab) else boottime_ms


async def until(true: Callable[[], object]) -> None:
    """Look again and again, letting everybody else run; the caller's deadline ends it."""
    while not true():
        with trio.move_on_after(0.002):
            await trio.sleep_forever()


async def renewed(authority: Authority, clock: Callable[[], int]) -> None:
    """Wait until its deadline has moved."""
    deadline = clock() + authority.remaining_ms()
    await until(lambda: clock() + authority.remaining_ms() > deadline)


async def notice_of(notices: LifecycleNotices, record_id: str, state: str) -> LifecycleNotice:
    """The next notice that says so of that record."""
    sought = (record_id, state)
    while True:
        item = await notices.__anext__()
        if isinstance(item, LifecycleNotice) and (item.ref.record_id, item.state) == sought:
            return item


async def grant(bus: Bus, term: Ref, *, generation: int = 1) -> tuple[GrantView, RecordView]:
    """Leave for CHILD_KEY to be the shell of pane 7."""
    return await bus.sessions.grant_create(
        term,
        pane_id=7,
        pane_generation=generation,
        public_key=CHILD_KEY.public_key,
        capabilities=CHILD_CAPABILITIES,
    )


@asynccontextmanager
async def running(keeper: SessionKeeper) -> AsyncIterator[SessionKeeper]:
    """The keeper, as long as the block runs."""
    async with trio.open_nursery() as nursery:
        await nursery.start(keeper.run)
        yield keeper
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def kept(
    lab: Lab, bus: Bus, key: SessionKey, attach: Attach, *, renew_every: float = 0.2
) -> AsyncIterator[SessionKeeper]:
    """A keeper that runs, and renews often."""
    keeper = SessionKeeper(bus, key, attach, renew_every=renew_every, clock_ms=clock_of(lab))
    async with running(keeper):
        yield keeper
