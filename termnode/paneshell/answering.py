"""Answers what is asked of a pane shell's allocated name; each answer is checked twice.

Refusals that need nobody else are given at once. Before an answer the caller's lease and this
pane's own record are asked of the broker, and then everything is decided again: what was true
before the wait counts for nothing after it.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

import trio

from brokerd.client import (
    RC_OK,
    Authority,
    Bus,
    BusError,
    ErrorCode,
    Principal,
    RecordView,
    Ref,
    Refusal,
    Request,
    forbidden,
    limit_reached,
    where,
)
from termnode.paneshell import policy, status

ADMISSION_SECONDS: Final = 2.0
"""For one request from its arrival to its answer."""

SHARED_SLOTS: Final = 3
"""Requests of anybody that are answered at once; one more slot is the owning Term's alone."""

MAX_WAITING: Final = 64
"""Requests that are under way or wait for a slot."""

log = logging.getLogger("termnode.paneshell")


class StatusService:
    """Serves shell.status on one connection, for whichever authority the keeper has now."""

    def __init__(
        self,
        bus: Bus,
        nursery: trio.Nursery,
        authority: Callable[[], Authority | None],
        report: Callable[[], dict[str, object]],
        clock_ms: Callable[[], int],
    ) -> None:
        self._bus = bus
        self._nursery = nursery
        self._authority = authority
        self._report = report
        self._clock_ms = clock_ms
        self._waiting = 0
        self._shared = trio.Semaphore(SHARED_SLOTS)
        self._reserved = trio.Semaphore(1)

    def take(self, request: Request) -> None:
        """Refuse at once, or begin to answer; never waits."""
        try:
            self._decide(request)
            if self._waiting >= MAX_WAITING:
                raise limit_reached(
                    "status_requests", MAX_WAITING, "too many ask at once: ask again later"
                )
        except Refusal as refusal:
            request.refuse(refusal)
            return
        self._waiting += 1
        self._nursery.start_soon(self._answer, request)

    def _decide(self, request: Request) -> Authority:
        """The authority that an answer rests on. Raises Refusal."""
        if request.command != status.VERB:
            raise Refusal(ErrorCode.UNSUPPORTED, f"a pane shell answers {status.VERB} alone")
        authority = self._authority()
        if authority is None or authority.remaining_ms() <= 0:
            raise forbidden()
        if not policy.may(request.principal, authority.record, policy.READ_STATE):
            raise forbidden()
        status.check_target(status.read_target(request.raw), authority.record)
        return authority

    async def _answer(self, request: Request) -> None:
        try:
            with trio.fail_after(ADMISSION_SECONDS):
                body = await self._admitted(request)
        except Refusal as refusal:
            request.refuse(refusal)
        except trio.TooSlowError:
            text = "it was not admitted in time and nothing happened: ask again"
            request.refuse(Refusal(ErrorCode.EXPIRED, text, reason="admission_timeout"))
        except Exception as error:  # noqa: BLE001  # one request's failure is not the sidecar's
            log.error("a request failed: %s", where(error))
            request.refuse(Refusal(ErrorCode.UNAVAILABLE, "it failed", reason="handler_failed"))
        else:
            request.respond(RC_OK, body)
        finally:
            self._waiting -= 1

    async def _admitted(self, request: Request) -> dict[str, object]:
        authority = self._decide(request)
        async with self._slot(policy.is_owning_term(request.principal, authority.record)):
            deadline = await self._recheck(_ref_of(request.principal), authority.record)
            if self._decide(request) is not authority or self._clock_ms() >= deadline:
                raise forbidden()
            return self._report()

    @asynccontextmanager
    async def _slot(self, owning_term: bool) -> AsyncIterator[None]:
        """A slot for one answer: the owning Term has one more when the shared ones are taken."""
        all_taken = self._shared.value == 0
        async with self._reserved if owning_term and all_taken else self._shared:
            yield

    async def _recheck(self, caller: Ref | None, own: RecordView) -> int:
        """Ask the broker again; until when (milliseconds since boot) both are good. Or FORBIDDEN.

        Times count from before each question, so that a slow answer only shortens them.
        """
        now = self._clock_ms()
        ends = []
        try:
            if caller is not None:
                ends.append(now + await self._bus.sessions.lease_check(caller))
            now = self._clock_ms()
            latest = await self._bus.sessions.self_record(own.record_id)
        except BusError:
            raise forbidden() from None
        if latest.ref != own.ref or latest.lease_remaining_ms is None:
            raise forbidden()
        return min([*ends, now + latest.lease_remaining_ms])


def _ref_of(caller: object) -> Ref | None:
    """The attachment that the caller speaks for; None when it holds no record."""
    session = caller.session if isinstance(caller, Principal) else None
    if session is None:
        return None
    return Ref(session.record_id, session.incarnation, session.binding_generation)
