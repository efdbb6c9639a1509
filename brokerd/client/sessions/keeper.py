"""Holds one record for as long as it runs: attaches, renews, and attaches again after any loss.

The order of things is what makes ``Authority`` safe. Whatever casts doubt on it (a notice, a gap,
a lost connection) drops it inside the connection's own task, before any other code runs. A renewal
counts from before it was asked, and only when no doubt arose while it was under way: a notice
overtakes answers, so that the answer may be older than the notice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import trio

from brokerd.client.bus import Bus
from brokerd.client.errors import BusError, MalformedReply
from brokerd.client.sessions.attaching import Attach
from brokerd.client.sessions.authority import Authority, boottime_ms
from brokerd.client.sessions.calls import TIMEOUT
from brokerd.client.sessions.lifecycle import LifecycleNotice
from brokerd.client.sessions.pacing import Backoff, next_due
from brokerd.client.sessions.types import RecordView, Ref
from brokerd.keys import SessionKey

RENEW_EVERY: Final = 5.0
"""Seconds from one renewal to the next."""

_MAX_WORDS: Final = 200


class SessionKeeper:
    """Run ``run`` once, in a task of its own; ask ``authority`` before each act.

    ``attach`` says how the record is come by (attach_term, attach_child). ``on_change`` is called
    when authority was gained or dropped, ``on_notice`` for each of the broker's notices, whoever's
    record it is about, and ``on_gap`` when some may be missing (also after a lost connection): all
    inside the connection's own task or the keeper's, so they must be quick and must not raise.
    ``clock_ms`` is the clock of the deadlines; ``timeout`` and ``renew_every`` are in seconds.
    """

    def __init__(
        self,
        bus: Bus,
        key: SessionKey,
        attach: Attach,
        *,
        renew_every: float = RENEW_EVERY,
        timeout: float = TIMEOUT,
        clock_ms: Callable[[], int] = boottime_ms,
        on_change: Callable[[], object] | None = None,
        on_notice: Callable[[LifecycleNotice], object] | None = None,
        on_gap: Callable[[], object] | None = None,
    ) -> None:
        self.key = key
        self._bus = bus
        self._attach = attach
        self._renew_every = renew_every
        self._timeout = timeout
        self._clock_ms = clock_ms
        self._on_change = on_change or _nobody
        self._on_notice = on_notice or _nobody
        self._on_gap = on_gap or _nobody
        self._ref: Ref | None = None
        self._authority: Authority | None = None
        self._doubts = 0
        self._problem = "not attached yet"
        self._backoff = Backoff()
        self._changed = trio.lowlevel.ParkingLot()
        self._scope = trio.CancelScope()

    @property
    def authority(self) -> Authority | None:
        """What is held now; None when nothing is, or when its lease has run out."""
        authority = self._authority
        return authority if authority is not None and authority.live else None

    @property
    def problem(self) -> str:
        """Why there is no authority, in words without secrets; '' while there is."""
        return "" if self.authority is not None else self._problem

    async def wait_authority(self) -> Authority:
        """Wait until there is authority."""
        await trio.lowlevel.checkpoint()
        while (authority := self.authority) is None:
            await self._changed.park()
        return authority

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Attach and hold, until cancelled or ``revoke``; authority ends with it."""
        with self._bus.watch_lifecycle(self), self._scope:
            try:
                task_status.started()
                while True:
                    await self._turn()
                    await trio.sleep(self._backoff.pause())
            finally:
                self._lose("the keeper has ended")

    async def revoke(self) -> None:
        """End ``run`` and the record. Raises what ``Sessions.revoke`` raises."""
        ref = self._ref
        self._scope.cancel()
        self._lose("revoked")
        if ref is not None:
            await self._bus.sessions.revoke(ref, timeout=self._timeout)

    # The watcher of the connection's notices

    def notice(self, notice: LifecycleNotice) -> None:
        """For the connection: a record has changed."""
        if self._ref is not None and notice.ends(self._ref):
            self._lose(f"the record is {notice.state}, or attached elsewhere")
        self._on_notice(notice)

    def gap(self) -> None:
        """For the connection: notices may be missing. Whether it is still ours will be asked."""
        self._doubt("notices were missed")
        self._on_gap()

    def lost(self) -> None:
        """For the connection: it is gone."""
        self._lose("the broker is away")
        self._on_gap()

    # The loop

    async def _turn(self) -> None:
        """Attach, or ask again for what is attached; hold it until it is lost or in doubt."""
        await self._bus.wait_epoch_change("")
        try:
            if self._ref is None:
                self._ref = (await self._attach(self._bus)).ref
            await self._hold()
        except BusError as error:
            self._lose(str(error)[:_MAX_WORDS])

    async def _hold(self) -> None:
        due = trio.current_time() + self._renew_every
        await self._renew()
        authority = self._authority
        while authority is not None and await self._still(authority, due):
            await self._renew()
            self._backoff.reset()
            due = next_due(due, trio.current_time(), self._renew_every)

    async def _still(self, authority: Authority, due: float) -> bool:
        """Wait until ``due``; False as soon as ``authority`` is dropped."""
        with trio.move_on_at(due):
            while self._authority is authority:
                await self._changed.park()
        return self._authority is authority

    async def _renew(self) -> None:
        """Raises BusError when it is not ours any more; does nothing when doubt arose meanwhile."""
        ref, doubts, started = self._ref, self._doubts, self._clock_ms()
        if ref is None:
            return
        record = await self._bus.sessions.renew(ref, timeout=self._timeout)
        if self._doubts != doubts:
            return
        if record.ref != ref or record.lease_remaining_ms is None:
            raise MalformedReply("renewed record")
        self._extend(record, started + record.lease_remaining_ms)

    def _extend(self, record: RecordView, deadline_ms: int) -> None:
        if self._authority is None:
            gained = Authority(record, self._bus.connection_id, deadline_ms, self._clock_ms)
            self._authority = gained
            self._tell()
        elif not self._authority.extend(deadline_ms):
            self._doubt("the lease ran out before it was renewed")

    def _lose(self, why: str) -> None:
        """The record is not ours on this connection any more."""
        self._ref = None
        self._doubt(why)

    def _doubt(self, why: str) -> None:
        """Drop the authority; what is under way counts no more."""
        self._doubts += 1
        self._problem = why
        authority, self._authority = self._authority, None
        if authority is not None:
            authority.drop()
            self._tell()

    def _tell(self) -> None:
        self._changed.unpark_all()
        self._on_change()


def _nobody(*_: object) -> None:
    """No one to tell."""
