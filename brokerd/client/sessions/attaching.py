"""How a Term, and how a pane shell, comes to hold its record on the connection there is."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

import trio

from brokerd.client.bus import Bus
from brokerd.client.errors import Refused, RequestTimeout
from brokerd.client.sessions import proofs
from brokerd.client.sessions.calls import TIMEOUT
from brokerd.client.sessions.lifecycle import LifecycleNotices
from brokerd.client.sessions.types import Challenge, GrantView, RecordView
from brokerd.encodings import Proof
from brokerd.errors import ErrorCode
from brokerd.keys import SessionKey

Attach: TypeAlias = Callable[[Bus], Awaitable[RecordView]]
"""Attach to a record on this connection, once; raises BusError when that does not work now."""

PROOF_FLOOR: Final = 5.0
"""Seconds from a proof that failed to the next."""

NOTICE_FLOOR: Final = 5.0
"""Seconds between two askings because of a notice."""

GRANT_PATIENCE: Final = 60.0
"""Seconds to wait for the notice of a grant; the broker remembers who waits for as long."""

_GRANT_IS_GONE: Final = frozenset({ErrorCode.FORBIDDEN, ErrorCode.EXPIRED, ErrorCode.NOT_FOUND})


def attach_term(key: SessionKey, policy: str | None = None, *, timeout: float = TIMEOUT) -> Attach:
    """Resume the Term record of ``key``; allocate one when this broker knows none.

    A connection that held a record may not allocate another, so it is left for a new one; the
    attempt fails, and the next finds the new one.
    """
    return _Term(key, policy, timeout).attach


def attach_child(
    key: SessionKey,
    grant: GrantView,
    record: RecordView,
    *,
    timeout: float = TIMEOUT,
    on_waiting: Callable[[bool], object] | None = None,
) -> Attach:
    """Enrol by the grant, and later by the key, also under a parent's successor.

    While nothing is granted to the key it waits, for as long as that takes: until a notice, and
    looks once a minute without one. ``on_waiting`` is told when that begins and ends.
    """
    return _Child(key, grant, record, timeout, on_waiting or _nobody).attach


class _Term:
    def __init__(self, key: SessionKey, policy: str | None, timeout: float) -> None:
        self._key = key
        self._policy = policy
        self._timeout = timeout
        self._record: RecordView | None = None

    async def attach(self, bus: Bus) -> RecordView:
        challenge = await _challenge(bus, self._key, self._timeout)
        if challenge is None:
            self._record = None  # whatever it was, this broker does not know it
            self._record = await self._allocate(bus)
        else:
            known = proofs.of_term(self._record)
            self._record = await bus.sessions.prove_as(
                self._key, challenge.proof, known, timeout=self._timeout
            )
        return self._record

    async def _allocate(self, bus: Bus) -> RecordView:
        try:
            return await bus.sessions.allocate(self._key, self._policy, timeout=self._timeout)
        except Refused as refused:
            if refused.details.get("reason") == "already_bound":
                await bus.reconnect(timeout=self._timeout)
            raise


class _Child:
    def __init__(
        self,
        key: SessionKey,
        grant: GrantView,
        record: RecordView,
        timeout: float,
        on_waiting: Callable[[bool], object],
    ) -> None:
        self._key = key
        self._grant: GrantView | None = grant
        self._record = record
        self._parent_key_hash = bytes.fromhex(grant.parent_key_hash)
        self._timeout = timeout
        self._on_waiting = on_waiting
        self._next_proof = self._next_reaction = -math.inf

    async def attach(self, bus: Bus) -> RecordView:
        await trio.sleep_until(self._next_proof)
        with bus.lifecycle() as notices:
            challenge = await self._enrolment(bus) or await self._by_key(bus, notices)
        self._record = await self._prove(bus, challenge.proof)
        self._grant = None
        return self._record

    async def _enrolment(self, bus: Bus) -> Challenge | None:
        """The challenge of the grant that came with the key; None when that is of no use."""
        if (grant := self._grant) is None:
            return None
        try:
            return await bus.sessions.challenge_grant(grant, timeout=self._timeout)
        except Refused as refused:
            used = refused.details.get("reason") == "grant_consumed"
            if not used and refused.code not in _GRANT_IS_GONE:
                raise
        self._grant = None
        return None

    async def _by_key(self, bus: Bus, notices: LifecycleNotices) -> Challenge:
        notices.clear()
        while (challenge := await _challenge(bus, self._key, self._timeout)) is None:
            await self._granted(notices)
        return challenge

    async def _granted(self, notices: LifecycleNotices) -> None:
        """Wait until it may be worth asking again."""
        self._on_waiting(True)
        try:
            with trio.move_on_after(GRANT_PATIENCE):
                await notices.__anext__()
                await trio.sleep_until(self._next_reaction)
                self._next_reaction = trio.current_time() + NOTICE_FLOOR
        finally:
            self._on_waiting(False)
        notices.clear()

    async def _prove(self, bus: Bus, proof: Proof) -> RecordView:
        known = proofs.of_child(proof, self._record, self._parent_key_hash)
        if self._grant is not None:
            known = {**known, **proofs.of_grant(self._grant)}
        try:
            return await bus.sessions.prove_as(self._key, proof, known, timeout=self._timeout)
        except (Refused, RequestTimeout):
            self._next_proof = trio.current_time() + PROOF_FLOOR
            raise


async def _challenge(bus: Bus, key: SessionKey, timeout: float) -> Challenge | None:
    """The challenge of the newest record of the key; None when the broker knows none."""
    try:
        return await bus.sessions.challenge_key(key.public_key, timeout=timeout)
    except Refused as refused:
        if refused.code != ErrorCode.FORBIDDEN:
            raise
        return None


def _nobody(_waiting: bool) -> None:
    """No one to tell."""
