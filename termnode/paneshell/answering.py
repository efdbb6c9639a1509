"""Answers what is asked of a pane shell's allocated name; each answer is checked twice.

Refusals that need nobody else are given at once. Before an answer the caller's lease and this
pane's own record are asked of the broker, and then everything is decided again: what was true
before the wait counts for nothing after it.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import trio

from brokerd.client import (
    RC_OK,
    Authority,
    Bus,
    ErrorCode,
    Principal,
    RecordView,
    Refusal,
    Request,
    forbidden,
    limit_reached,
    where,
)
from termnode.paneshell import policy, status
from termnode.paneshell.calls import Call, Verb, ref_of, unsupported
from termnode.paneshell.confirming import good_until, not_confirmed

ADMISSION_SECONDS: Final = 2.0
"""For one request for the status from its arrival to its answer."""

SHARED_SLOTS: Final = 3
"""Requests of anybody that are checked at once; one more slot is the owning Term's alone."""

MAX_WAITING: Final = 64
"""Requests that are under way, or wait for a slot or a result."""

log = logging.getLogger("termnode.paneshell")


class StatusVerb:
    """shell.status."""

    capability = policy.READ_STATE
    shape_first = False

    def __init__(self, report: Callable[[], dict[str, object]]) -> None:
        self._report = report

    def read(self, raw: bytes) -> dict[str, Any]:
        """The target alone."""
        return {"target": status.read_target(raw)}

    def arrived(self, call: Call) -> None:
        """Nothing is kept of it."""

    async def answer(self, call: Call) -> dict[str, object]:
        """What is known of the shell."""
        await call.confirm(ADMISSION_SECONDS)
        return self._report()


class StatusService:
    """Serves one connection, for whichever authority the keeper has now.

    ``verbs`` are further commands by their name.
    """

    def __init__(
        self,
        bus: Bus,
        nursery: trio.Nursery,
        authority: Callable[[], Authority | None],
        report: Callable[[], dict[str, object]],
        clock_ms: Callable[[], int],
        *,
        verbs: Mapping[str, Verb] | None = None,
    ) -> None:
        self._bus = bus
        self._nursery = nursery
        self._authority = authority
        self._clock_ms = clock_ms
        self._verbs: dict[str, Verb] = {status.VERB: StatusVerb(report), **(verbs or {})}
        self._waiting = 0
        self._answered = trio.Event()
        self._shared = trio.Semaphore(SHARED_SLOTS)
        self._reserved = trio.Semaphore(1)

    def take(self, request: Request) -> None:
        """Refuse at once, or begin to answer; never waits."""
        try:
            verb, call = self._admit(request)
        except Refusal as refusal:
            request.refuse(refusal)
            return
        self._waiting += 1
        self._nursery.start_soon(self._answer, verb, call)

    def _admit(self, request: Request) -> tuple[Verb, Call]:
        verb = self._verbs.get(request.command)
        if verb is None:
            raise unsupported(f"a pane shell answers {', '.join(sorted(self._verbs))} alone")
        authority, caller, body = self._decide(verb, request)
        if self._waiting >= MAX_WAITING:
            text = "too many ask at once: ask again later"
            raise limit_reached("status_requests", MAX_WAITING, text)

        async def ask_again(seconds: float) -> int:
            return await self._confirm(verb, request, seconds)

        def look_again() -> None:
            self._decide(verb, request)

        call = Call(request, caller, authority.record, body, ask_again, look_again)
        verb.arrived(call)
        return verb, call

    def _decide(self, verb: Verb, request: Request) -> tuple[Authority, Principal, dict[str, Any]]:
        """The authority that an answer rests on, who asks, and what. Raises Refusal."""
        early = verb.read(request.raw) if verb.shape_first else None
        authority = self._authority()
        if authority is None or authority.remaining_ms() <= 0:
            raise forbidden()
        caller = request.principal
        allowed = policy.may(caller, authority.record, verb.capability)
        if not allowed or not isinstance(caller, Principal):
            raise forbidden()
        body = verb.read(request.raw) if early is None else early
        status.check_target(body.pop("target"), authority.record)
        return authority, caller, body

    async def _answer(self, verb: Verb, call: Call) -> None:
        request = call.request
        try:
            body = await verb.answer(call)
        except Refusal as refusal:
            request.refuse(refusal)
        except Exception as error:  # noqa: BLE001  # one request's failure is not the sidecar's
            log.error("a request failed: %s", where(error))
            request.refuse(Refusal(ErrorCode.UNAVAILABLE, "it failed", reason="handler_failed"))
        else:
            request.respond(RC_OK, body)
        finally:
            self._waiting -= 1
            self._answered.set()

    async def finish(self) -> None:
        """Return once nothing is under way. Bound it from outside."""
        while self._waiting:
            self._answered = trio.Event()
            await self._answered.wait()

    async def _confirm(self, verb: Verb, request: Request, seconds: float) -> int:
        """As ``Call.confirm``; nothing is awaited after the last decision.

        A long wait may have outlived an authority: it is the one of now that must last.
        """
        before, caller, _ = self._decide(verb, request)
        try:
            with trio.fail_after(seconds):
                deadline = await self._good_until(caller, before.record)
        except trio.TooSlowError:
            raise not_confirmed() from None
        authority, _, _ = self._decide(verb, request)
        if authority is not before or self._clock_ms() >= deadline:
            raise forbidden()
        return deadline

    async def _good_until(self, caller: Principal, own: RecordView) -> int:
        async with self._slot(policy.is_owning_term(caller, own)):
            return await good_until(self._bus.sessions, ref_of(caller), own, self._clock_ms)

    @asynccontextmanager
    async def _slot(self, owning_term: bool) -> AsyncIterator[None]:
        """A slot for one check: the owning Term has one more when the shared ones are taken."""
        all_taken = self._shared.value == 0
        async with self._reserved if owning_term and all_taken else self._shared:
            yield
