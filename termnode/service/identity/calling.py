"""What the table asks of the broker, asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Final

import trio

from brokerd.client import (
    CAPABILITIES,
    Bus,
    BusError,
    GrantView,
    RecordView,
    Ref,
    Refused,
    RequestTimeout,
)
from termnode.service.identity.asking import Asking
from termnode.service.identity.effects import Call, Mint, Reconcile, Revoke

REVOKES_AT_ONCE: Final = 16
"""Revocations that are under way at the same time when the service ends."""


class Caller:
    """Carries out calls, one at a time. ``clock`` is that of the table, ``capabilities`` what the
    pane shell of a pane is granted."""

    def __init__(
        self,
        asking: Asking,
        clock: Callable[[], float],
        capabilities: Callable[[int], Sequence[str]] = lambda _: CAPABILITIES,
    ) -> None:
        self._asking = asking
        self._clock = clock
        self._capabilities = capabilities

    async def carry_out(self, bus: Bus, call: Call) -> None:
        """Ask the broker and put the outcome in; raises nothing of the bus."""
        if isinstance(call, Mint):
            await self._mint(bus, call)
        elif isinstance(call, Revoke):
            await _revoke(bus, call.target)
            self._asking.revoked()
        else:
            await self._reconcile(bus, call)

    async def _mint(self, bus: Bus, mint: Mint) -> None:
        try:
            grant, record = await _granted(bus, mint, self._capabilities(mint.pane))
        except BusError as error:
            self._asking.mint_failed(mint, _why(error), self._clock())
        else:
            self._asking.minted(mint, grant, record, self._clock())

    async def _reconcile(self, bus: Bus, call: Reconcile) -> None:
        records: list[RecordView] | None = None
        with suppress(BusError):
            records = await bus.sessions.list()
        self._asking.reconciled(call, records, self._clock())


async def _granted(
    bus: Bus, mint: Mint, capabilities: Sequence[str]
) -> tuple[GrantView, RecordView]:
    """The grant, also when only its answer was lost and it is there already."""
    try:
        return await bus.sessions.grant_create(
            mint.parent,
            pane_id=mint.pane,
            pane_generation=mint.generation,
            public_key=mint.key.public_key,
            capabilities=capabilities,
        )
    except (Refused, RequestTimeout) as error:
        if isinstance(error, Refused) and error.details.get("reason") != "key_in_use":
            raise
        return await _fetched(bus, mint, error)


async def _fetched(bus: Bus, mint: Mint, before: BusError) -> tuple[GrantView, RecordView]:
    """The grant that the key has. Raises ``before`` for one that is not for this pane."""
    grant, record = await bus.sessions.grant_fetch(mint.key.public_key)
    if record.pane_id != mint.pane or record.state != "pending":
        raise before
    return grant, record


def _why(error: BusError) -> str:
    if isinstance(error, Refused):
        reason = error.details.get("reason", "")
        return f"the broker grants nothing to its pane shell: {error.code} {reason}".rstrip()
    return "the broker has not answered"


async def revoke_all(bus: Bus, targets: Iterable[Ref]) -> None:
    """End records, several at a time; the caller's deadline ends it."""
    waiting = list(targets)

    async def work() -> None:
        while waiting:
            await _revoke(bus, waiting.pop())

    async with trio.open_nursery() as nursery:
        for _ in range(min(REVOKES_AT_ONCE, len(waiting))):
            nursery.start_soon(work)


async def _revoke(bus: Bus, target: Ref) -> None:
    """A record that cannot be revoked is suspended with its holder, and then ends by itself."""
    with suppress(BusError):
        await bus.sessions.revoke(target)
