"""The gate of the native lane: every request is decided here, in one order (specs/control.md).

An evaluation is one synchronous step and changes nothing but what has lapsed. What it allows is
true in that step alone: after any wait it begins anew, the retry look-up included.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from brokerd.client import (
    ErrorCode,
    NodePrincipal,
    Principal,
    Ref,
    Refusal,
    forbidden,
    invalid,
)
from termnode.control.native.answers import New
from termnode.control.native.callers import admitted, lease_of
from termnode.control.native.case import Case
from termnode.control.native.checks import (
    check_capability,
    check_continuity,
    check_epoch,
    check_own_lease,
    checked_args,
    known_verb,
)
from termnode.control.native.decisions import Decision, Go, Need, Refuse, Told
from termnode.control.native.fields import OPERATION_ID
from termnode.control.native.forwards import Forwards
from termnode.control.native.history import Outcome
from termnode.control.native.leases import LeaseCache
from termnode.control.native.ledger import Ledger, Lookup, Operation, Pending, Recorded, Settled
from termnode.control.native.limits import PERMIT_MS
from termnode.control.native.request import Ask, NativeRequest
from termnode.control.native.spec import NativeSpec
from termnode.control.native.targets import Target
from termnode.control.native.world import Own, World
from termnode.control.posture import Posture
from termnode.control.spec import Capability

OPERATION: Final = "term.operation"

R = TypeVar("R", bound=Outcome)


class Gate(Generic[R]):
    """See the module. ``R`` is a recorded reply."""

    def __init__(
        self,
        world: World,
        ledger: Ledger[R],
        leases: LeaseCache,
        forwards: Forwards | None = None,
    ) -> None:
        self._world = world
        self._forwards = Forwards() if forwards is None else forwards
        self._ledger = ledger
        self._leases = leases

    def evaluate(self, ask: Ask, now: float, now_ms: int) -> Decision[R]:
        """Decide. ``now`` is the ledger's monotonic clock, in seconds, ``now_ms`` that of leases.

        Never raises a Refusal: it is a decision.
        """
        try:
            return self._judge(ask, now, now_ms)
        except Refusal as refusal:
            return Refuse(refusal)

    def stands(self, go: Go, panes: frozenset[int], now_ms: int) -> bool:
        """Whether what was let go would be now, and ``panes`` are among those it named.

        For what is done after a wait. All is asked but of the request id, which is spent by then:
        a lease that would have to be checked first does not count.
        """
        try:
            case, spec = self._case(go.principal, lambda: go.request)
            ref = self._whose_lease(case)
            if ref is not None and self._leases.get(ref, now_ms) is None:
                return False
            self._check_pane(case, spec)
            self._check_named(case, panes, frozenset())
        except Refusal:
            return False
        return True

    def _judge(self, ask: Ask, now: float, now_ms: int) -> Decision[R]:
        case, spec = self._case(ask.principal, ask.request)
        own, posture = case.own, case.posture
        until = now_ms + min(PERMIT_MS, own.remaining_ms)
        ref = self._whose_lease(case)  # 10
        if ref is not None:
            lease_end = self._leases.get(ref, now_ms)
            if lease_end is None:
                return Need(ref)
            until = min(until, lease_end)
        told = self._earlier(case, spec, now)  # 11
        if told is not None:
            return told
        self._check_pane(case, spec)  # 12
        self._check_affected(case, spec)  # 13
        check_epoch(case, spec)  # 14
        args = checked_args(case, spec)  # 15
        return Go(case.request, spec, args, case.actor, case.principal, own, posture, until, ref)

    # -- the steps that ask the world, as numbered in specs/control.md ------------------------

    def _case(
        self, who: Principal | NodePrincipal | None, request: Callable[[], NativeRequest]
    ) -> tuple[Case, NativeSpec]:
        """Steps 1 to 9: what was asked, by somebody who may ask that of the target."""
        self._check_connection()  # 1
        principal = self._principal(who)  # 2
        own, posture = self._admit(principal)  # 3
        case = Case(principal, own, posture, request())  # 4, 5
        check_continuity(case)  # 6
        check_capability(case)  # 7
        spec = known_verb(case)  # 8
        check_own_lease(case)  # 9
        return case, spec

    def _check_connection(self) -> None:
        if not self._world.connected():
            self._leases.clear()
            raise Refusal(
                ErrorCode.DISCONNECTED, "the terminal has lost its broker: ask again in a while"
            )

    def _principal(self, principal: Principal | NodePrincipal | None) -> Principal:
        if not isinstance(principal, Principal):
            raise forbidden()
        return principal

    def _admit(self, principal: Principal) -> tuple[Own, Posture]:
        own, posture = self._world.own(), self._world.posture()
        if own is None or not admitted(principal, own, posture):
            raise forbidden()
        return own, posture

    def _whose_lease(self, case: Case) -> Ref | None:
        """Who must be asked about; the Term's own lease is known already."""
        return lease_of(case.principal, case.own, case.posture)

    def _earlier(self, case: Case, spec: NativeSpec, now: float) -> Told[R] | None:
        """What is told without running anything; None when the verb may run."""
        request = case.request
        if spec.name == OPERATION:
            if request.operation_id is None:
                raise invalid(OPERATION_ID, f"{OPERATION_ID} is required")
            return _told(
                self._ledger.operation(case.actor, request.target, request.operation_id, now)
            )
        if not spec.mutates or not request.request_id:
            return None
        return _told(self._lookup(case, spec, request.request_id, now))

    def _lookup(self, case: Case, spec: NativeSpec, number: int, now: float) -> Lookup[R]:
        """As the ledger's. What was passed on and not answered is passed on again."""
        digest = case.request.digest
        try:
            return self._ledger.lookup(case.actor, number, digest, now)
        except Refusal as refusal:
            if spec.forwarded is None or refusal.code is not ErrorCode.UNKNOWN_OUTCOME:
                raise
            if self._forwards.find((case.actor, number), digest, now) is None:
                raise
            return New()

    def _check_pane(self, case: Case, spec: NativeSpec) -> None:
        target = case.request.target
        facts = self._world.pane(target.pane_id)
        if facts is None or facts.generation != target.pane_generation:
            raise forbidden()
        if not (facts.ready or (spec.of_ended and facts.ended)):
            raise forbidden()

    def _check_affected(self, case: Case, spec: NativeSpec) -> None:
        if not spec.layout:
            return
        pane, other = case.request.target.pane_id, case.request.other
        if other is not None:
            # So that it can be asked what it would affect.
            self._check_live(_named(case.request).get(other))
        removed = self._world.removed(spec.name, pane)
        self._check_named(case, self._world.affected(spec.name, pane, other), removed)

    def _check_named(self, case: Case, touched: frozenset[int], removed: frozenset[int]) -> None:
        named = _named(case.request)
        for each in touched | removed:
            self._check_live(named.get(each))
        for target in named.values():
            goes = target.pane_id in removed
            if not case.may(Capability.TERMINATE if goes else Capability.MANAGE_LAYOUT, target):
                raise forbidden()

    def _check_live(self, target: Target | None) -> None:
        facts = None if target is None else self._world.pane(target.pane_id)
        if target is None or facts is None or facts.generation != target.pane_generation:
            raise forbidden()


def _named(request: NativeRequest) -> dict[int, Target]:
    return {each.pane_id: each for each in (*request.affected, request.target)}


def _told(found: Lookup[R] | Operation[R]) -> Told[R] | None:
    match found:
        case Recorded(reply=reply):
            return Told(reply)
        case Settled(outcome=outcome):
            return Told(None, outcome)
        case Pending(operation_id=number):
            return Told(None, {"status": "pending", OPERATION_ID: str(number)})
        case _:
            return None
