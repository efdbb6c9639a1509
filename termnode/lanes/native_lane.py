"""The native lane: from a request to a reply, with the gate in between (specs/control.md).

`judge` evaluates; whoever carries the verb out asks it again after each wait. Every call is
answered once: by the `Sealed` of `judge`, `refuse`, `settle` or `record`, which also note it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from brokerd.client import RC_OK, ErrorCode, NodePrincipal, Principal, Refusal
from termnode.control.audit import Audit
from termnode.control.native.decisions import Go, Need, Refuse, Told
from termnode.control.native.fields import OPERATION_ID, REQUEST_ID
from termnode.control.native.gate import Gate
from termnode.control.native.ledger import ENTRIES, REPLY_BYTES, Later, Ledger, Reservation
from termnode.control.native.request import Ask, NativeRequest
from termnode.control.native.table import NATIVE
from termnode.lanes.calls import OK, Reply, Sealed
from termnode.lanes.notes import UNKNOWN_VERB
from termnode.lanes.sealing import abandoned, seal_for, seal_refusal
from termnode.lanes.who import summary

OPERATION_REQUEST: Final = "operation_id_request"
"""What `term.operation` is to be asked for, of what was passed on to a pane's shell."""

RECORD_DIGITS: Final = 8
"""Of a record's id, in the audit."""

KEPT_BYTES: Final = REPLY_BYTES // ENTRIES
"""Of a reply that there is a shorter one for: all that are kept find room with so many each."""

Verdict: TypeAlias = Sealed | Need | Go


class NativeCall:
    """One request until it is answered; ``started`` is monotonic, in seconds."""

    __slots__ = ("ask", "request", "started")

    def __init__(self, ask: Ask, started: float) -> None:
        self.ask = ask
        self.started = started
        self.request: NativeRequest | None = None
        """Its shape, once it was let through or told something."""


class NativeLane:
    """The gate with its ledger, and the notes of what became of each call.

    ``wall_ms`` gives Unix milliseconds, for the audit alone.
    """

    def __init__(
        self, gate: Gate[Sealed], ledger: Ledger[Sealed], audit: Audit, wall_ms: Callable[[], int]
    ) -> None:
        self._gate = gate
        self._ledger = ledger
        self._audit = audit
        self._wall_ms = wall_ms

    def judge(self, call: NativeCall, now: float, now_ms: int) -> Verdict:
        """The answer, whose lease must be checked first, or leave to run in this very step.

        ``now`` is monotonic, in seconds, ``now_ms`` the clock of leases.
        """
        decision = self._gate.evaluate(call.ask, now, now_ms)
        match decision:
            case Refuse(refusal=refusal):
                return self.refuse(call, refusal, now)
            case Told():
                return self._tell(call, decision, now)
            case Go(request=request):
                call.request = request
                return decision
            case _:
                return decision

    def refuse(self, call: NativeCall, refusal: Refusal, now: float) -> Sealed:
        """The answer of a call that is refused; nothing of it is kept."""
        return self._noted(call, seal_refusal(refusal), now)

    def reserve(self, go: Go, now: float, *, again: bool = False) -> Reservation[Sealed]:
        """Spend a mutation's id, in the step of its decision. Raises Refusal RESOURCE_LIMIT.

        ``again``: as `Ledger.reserve`.
        """
        request = go.request
        assert request.request_id, "the gate lets no mutation without an id through"
        return self._ledger.reserve(
            go.actor,
            request.request_id,
            request.digest,
            go.target,
            request.command,
            now=now,
            again=again,
        )

    def settle(self, call: NativeCall, go: Go, reply: Reply, now: float) -> Sealed:
        """The answer of a verb that records nothing."""
        return self._noted(call, seal_for(go.spec, reply, go.target.pane_id), now)

    def record(
        self,
        call: NativeCall,
        go: Go,
        reservation: Reservation[Sealed],
        reply: Reply | None,
        *,
        now: float,
        later: Later | None = None,
        short: Reply | None = None,
    ) -> Sealed:
        """The answer of a mutation, kept for its retries. None: nobody knows what it did.

        ``short`` is kept in place of a reply of over KEPT_BYTES, and told for one that cannot
        travel.
        """
        sealed = kept = self.seal(go, abandoned(go.spec) if reply is None else reply)
        if short is not None and (sealed.outcome != OK or sealed.size > KEPT_BYTES):
            kept = self.seal(go, short)
            sealed = sealed if sealed.outcome == OK else kept
        if go.spec.forwarded is not None and sealed.outcome == ErrorCode.UNKNOWN_OUTCOME:
            reservation.drop()  # a repeat is to reach who can say more
        else:
            reservation.record(kept, now, later)
        return self._noted(call, sealed, now)

    def seal(self, go: Go, reply: Reply) -> Sealed:
        """A reply to a mutation as it travels; nothing is noted of it."""
        return seal_for(go.spec, _named(go, reply), go.target.pane_id)

    # -- notes ----------------------------------------------------------------------------------

    def _tell(self, call: NativeCall, told: Told[Sealed], now: float) -> Sealed:
        """What is known already: a recorded reply, or what an operation came to."""
        request = call.request = call.ask.request()
        sealed = told.reply
        if sealed is None:
            assert request.spec is not None, "nothing is told of a verb that there is not"
            known = dict(told.body or {})
            if request.spec.forwarded is not None:
                known[OPERATION_REQUEST] = known.pop(OPERATION_ID)
            sealed = seal_for(request.spec, Reply.ok(**known), request.target.pane_id)
        mutates = request.spec is not None and request.spec.mutates
        return self._noted(call, sealed, now, replayed=mutates)

    def _noted(
        self, call: NativeCall, sealed: Sealed, now: float, *, replayed: bool = False
    ) -> Sealed:
        request = call.request
        self._audit.add(
            time=self._wall_ms(),
            principal=native_summary(call.ask.principal),
            verb=_verb(call),
            outcome=sealed.outcome,
            pane=None if request is None else request.target.pane_id,
            duration_ms=max(0, round((now - call.started) * 1000)),
            request_id=request is not None and request.request_id is not None,
            replayed=replayed,
        )
        return sealed


def native_summary(principal: Principal | NodePrincipal | None) -> str:
    """A principal in a few words, for the audit: its record, when it holds one."""
    session = None if principal is None else principal.session
    if principal is None or session is None:
        return summary(principal)
    return f"{session.role} {session.record_id[:RECORD_DIGITS]} uid {principal.unix_uid}"


def _verb(call: NativeCall) -> str:
    """As in the table: of a property that of the verb which it stands for, once that is known."""
    request = call.request
    spec = NATIVE.get(call.ask.command) if request is None else request.spec
    return UNKNOWN_VERB if spec is None else spec.name


def _named(go: Go, reply: Reply) -> Reply:
    """A success says under which id `term.operation` knows it."""
    if reply.rc != RC_OK:
        return reply
    number = str(go.request.request_id)
    if go.spec.forwarded is not None:  # its operation has an id of its own
        return Reply(reply.rc, {**reply.body, OPERATION_REQUEST: number})
    again = {REQUEST_ID: number} if go.spec.input else {}
    return Reply(reply.rc, {**reply.body, **again, OPERATION_ID: number})
