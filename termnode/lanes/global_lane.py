"""The global lane: targetless verbs, decided in one place and in one order (specs/global-lane.md).

`admit` is the only way in. It runs every check and its commit in one synchronous step, so nothing
can change in between, and says what to do: answer now, run, or wait for one that runs. `settle` is
the only way out of what runs. Each call is answered exactly once: by its `Answer`, or among the
calls of the `Settled` of its ticket.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from brokerd.client import (
    ErrorCode,
    Refusal,
    forbidden,
    limit_reached,
)
from termnode.control import retry
from termnode.control.audit import Audit
from termnode.control.bodies import decode
from termnode.control.help import help_body, info_body
from termnode.control.limits import JOINED, MUTATIONS_WAITING, WAITS
from termnode.control.posture import Posture
from termnode.control.retry import RetryTable, Scope
from termnode.control.schema import request_id, validate
from termnode.control.spec import Kind, VerbSpec
from termnode.control.verbs import HELP, INFO, find
from termnode.lanes.bodies import Identity, identify
from termnode.lanes.calls import (
    Admitted,
    Answer,
    Call,
    Join,
    Reply,
    Sealed,
    Settled,
    Ticket,
    Verdict,
)
from termnode.lanes.notes import UNKNOWN_VERB, Attempt, Notes
from termnode.lanes.sealing import abandoned, seal, seal_refusal
from termnode.lanes.who import NODE, scope_of

LaneRetries: TypeAlias = RetryTable[Ticket, Sealed]


class GlobalLane:
    """Judges calls and keeps count of what is under way.

    ``read_posture`` is asked at every call. ``info`` gives the service's own fields of INFO (name,
    version), nothing about panes. ``wall_ms`` gives Unix milliseconds, for the audit alone.
    """

    def __init__(
        self,
        *,
        read_posture: Callable[[], Posture],
        retries: LaneRetries,
        audit: Audit,
        info: Callable[[], Mapping[str, object]],
        wall_ms: Callable[[], int],
        mutations_waiting: int = MUTATIONS_WAITING,
        waits: int = WAITS,
        joined: int = JOINED,
    ) -> None:
        self._read_posture = read_posture
        self._retries = retries
        self._notes = Notes(audit, wall_ms)
        self._info = info
        self._caps = {Kind.MUTATION: mutations_waiting + 1, Kind.WAIT: waits}
        self._running = dict.fromkeys(Kind, 0)
        self._max_joined = joined
        self._joined = 0

    def admit(self, call: Call, now: float) -> Verdict:
        """Judge a call; ``now`` is monotonic, in seconds. Never raises a Refusal: it answers it."""
        attempt = Attempt(call, now)
        try:
            return self._judge(attempt)
        except Refusal as refusal:
            return self._answer(attempt, seal_refusal(refusal))

    def settle(self, ticket: Ticket, reply: Reply, now: float) -> Settled:
        """End an admitted request: record its reply, free its place, say whom to answer.

        Raises ValueError when the ticket is already settled.
        """
        sealed = seal(ticket.spec, ticket.args, reply)
        return self._end(ticket, sealed, now, keep=not sealed.about_load)

    def recheck(self, ticket: Ticket, now: float) -> Settled | None:
        """Settle an admitted request that the posture no longer allows; None when it still does.

        For what had to wait: ask before its verb runs, or before what it waited for is told. It
        spends no id. Raises ValueError when the ticket is already settled.
        """
        try:
            self._check_posture(ticket.spec, ticket.scope)
        except Refusal as refusal:
            return self._end(ticket, seal_refusal(refusal), now, keep=False)
        return None

    def abandon(self, ticket: Ticket, now: float) -> Settled:
        """End an admitted request whose verb was given up half-way: nobody knows what it did.

        A mutation's callers get UNKNOWN_OUTCOME, now and on every retry; others CANCELLED.
        """
        return self.settle(ticket, abandoned(ticket.spec), now)

    def statistics(self) -> dict[str, int]:
        """How much is under way and remembered."""
        running = {f"{kind}s": count for kind, count in self._running.items()}
        return {**running, "joined": self._joined, **self._retries.statistics()}

    # -- the order of checks, as numbered in specs/global-lane.md ------------------------------

    def _judge(self, attempt: Attempt) -> Verdict:
        call = attempt.call
        spec = find(call.verb)
        attempt.verb = UNKNOWN_VERB if spec is None else spec.name
        scope = scope_of(call.principal)  # 1
        posture = self._check_posture(spec, scope)  # 2
        if spec is None:  # 3
            raise _unsupported()
        body = decode(call.raw, empty_ok=True)  # 4
        identity = identify(spec, scope, body)
        attempt.request_id = request_id(body) is not None
        earlier = None if identity is None else self._earlier(attempt, identity)  # 5
        if earlier is not None:
            return earlier
        ticket = Ticket(spec, validate(spec, body), call, scope, attempt.now)  # 6
        if spec.name in {INFO, HELP}:
            return self._answer(attempt, self._about(ticket, posture))
        self._commit(ticket, identity)
        return Admitted(ticket)

    def _check_posture(self, spec: VerbSpec | None, scope: Scope) -> Posture:
        posture = self._read_posture()
        self._notes.posture(posture)
        if posture is Posture.OPEN:
            return posture
        if spec is None or not spec.always or scope[0] == NODE:
            raise forbidden()
        return posture

    def _earlier(self, attempt: Attempt, identity: Identity) -> Verdict | None:
        """The verdict for a request that was here before; None for a new one."""
        match self._retries.lookup(identity.key, identity.digest):
            case retry.Replay(reply=reply):
                return self._answer(attempt, reply, replayed=True)
            case retry.UnderWay(owner=ticket):
                return self._join(attempt, ticket)
            case retry.Conflict():
                raise retry.conflict()
            case _:
                return None

    def _join(self, attempt: Attempt, ticket: Ticket) -> Verdict:
        if self._joined >= self._max_joined:
            raise _full("joined_requests", self._max_joined)
        self._joined += 1
        ticket.joined.append((attempt.call, attempt.now))
        return Join(ticket)

    def _commit(self, ticket: Ticket, identity: Identity | None) -> None:
        """Take the ticket's place; a refusal here spends no id."""
        kind = ticket.spec.kind
        cap = self._caps.get(kind)
        if cap is not None and self._running[kind] >= cap:
            raise _full(f"{kind}s", cap)
        if identity is not None:
            self._retries.reserve(identity.key, identity.digest, ticket)
            ticket.key = identity.key
        self._running[kind] += 1

    def _about(self, ticket: Ticket, posture: Posture) -> Sealed:
        body = info_body(self._info(), posture) if ticket.spec.name == INFO else help_body()
        return seal(ticket.spec, ticket.args, Reply.ok(**body))

    # -- records ------------------------------------------------------------------------------

    def _end(self, ticket: Ticket, sealed: Sealed, now: float, *, keep: bool) -> Settled:
        if ticket.settled:
            raise ValueError("the ticket is already settled")
        ticket.settled = True
        self._running[ticket.spec.kind] -= 1
        self._joined -= len(ticket.joined)
        if ticket.key is not None and keep:
            self._retries.record(ticket.key, sealed)
        elif ticket.key is not None:
            self._retries.release(ticket.key)
        self._notes.settled(ticket, sealed, now)
        return Settled(sealed, (ticket.call, *(call for call, _ in ticket.joined)))

    def _answer(self, attempt: Attempt, sealed: Sealed, *, replayed: bool = False) -> Answer:
        self._notes.answered(attempt, sealed, replayed=replayed)
        return Answer(sealed)


def _unsupported() -> Refusal:
    return Refusal(
        ErrorCode.UNSUPPORTED, "there is no such verb here: ask HELP", reason="unknown_verb"
    )


def _full(what: str, limit: int) -> Refusal:
    return limit_reached(
        what, limit, f"{limit} requests are already under way: wait for replies, then send it again"
    )
