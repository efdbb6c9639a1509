"""term.events on the native lane: private events of the target, while its caller may read it.

Authority is asked in the same step as each sending. What depends on a lease that was not checked
lately waits for a check; what is not allowed any more ends the subscription.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from typing import Final

from brokerd.client import ErrorCode, Principal, Refusal
from termnode.control.native.callers import actor_of, admitted, allows, lease_of
from termnode.control.native.decisions import Go
from termnode.control.native.leases import LeaseCache
from termnode.control.native.targets import Target
from termnode.control.native.world import World
from termnode.control.spec import Capability
from termnode.service.events.hub import Events, Left, Send
from termnode.service.events.ring import Happened
from termnode.service.events.subscriptions import Subscriber, Subscription
from termnode.service.native.checks import LeaseChecks
from termnode.service.state import Result

_PLACE: Final = frozenset({"panes"})
"""Other panes are not told of: they may be none of the caller's."""


@dataclass(frozen=True, slots=True)
class Reader(Subscriber):
    """Whom private events go to, and of which target."""

    principal: Principal
    target: Target

    @property
    def key(self) -> str:
        """One per connection and pane."""
        return f"{self.connection} {self.target.pane_id}"

    def speaks_for(self, actor: Hashable) -> bool:
        """Whether it is that actor."""
        return actor_of(self.principal) == actor


class Right(Enum):
    """Whether somebody may be told of events now."""

    HOLDS = auto()
    UNCHECKED = auto()
    """Its lease must be checked first."""
    OVER = auto()


class NativeEvents(Events):
    """The subscriptions of the native lane to the events of ``events``.

    ``now_ms`` is the clock of leases. Use an `EventPump` of its own, over the connection that holds
    the Term's record.
    """

    def __init__(
        self,
        events: Events,
        world: World,
        leases: LeaseCache,
        checks: LeaseChecks,
        now_ms: Callable[[], int],
    ) -> None:
        super().__init__(wall_ms=_no_time, is_open=_open, ring=events.ring)
        self._world = world
        self._leases = leases
        self._checks = checks
        self._now_ms = now_ms
        self._main = events
        self._checking: set[str] = set()
        events.beside = self

    def begin(self, go: Go) -> Result:
        """term.events. Raises Refusal RESOURCE_LIMIT, UNSUPPORTED (another user)."""
        principal, target = go.principal, go.target
        if principal.unix_uid != os.geteuid():
            raise Refusal(
                ErrorCode.UNSUPPORTED,
                "events are told only to the user whose terminal this is: ask with term.wait",
                reason="other_user",
            )
        who = Reader(
            principal.connection_id,
            principal.broker_epoch,
            principal.peer_pid,
            principal,
            target,
        )
        told = self.subscribe(who, {**go.args, "pane": target.pane_id})
        return {"target": target.to_json(), **told}

    def recheck(self) -> None:
        """End all subscriptions of those who may not read their target any more."""
        self._keep(lambda who: self._right(who) is not Right.OVER)

    # -- inside ---------------------------------------------------------------------------------

    def _serve(self, each: Subscription, send: Send, limit: int) -> tuple[int, Left]:
        if self._right(each.who) is Right.HOLDS:
            return super()._serve(each, send, limit)
        if any(each.takes(happened) for happened in self._ring.after(each.cursor)):
            self._check(each.who)
        return 0, Left.NOTHING

    def _told(self, each: Subscription, happened: Happened) -> Mapping[str, object]:
        kept = {key: value for key, value in happened.body.items() if key not in _PLACE}
        target = _reader(each.who).target
        return {**kept, "target": target.to_json(), "previous": each.previous}

    def _changed(self) -> None:
        super()._changed()
        self._main._changed()  # who waits to be wanted waits at the main one

    def _right(self, who: Subscriber) -> Right:
        reader, world = _reader(who), self._world
        own, posture, facts = world.own(), world.posture(), world.pane(reader.target.pane_id)
        if own is None or own.remaining_ms <= 0 or not world.connected():
            return Right.UNCHECKED  # nothing goes out now; it may be ours again in a moment
        if facts is None or facts.generation != reader.target.pane_generation:
            return Right.OVER
        principal = reader.principal
        if not admitted(principal, own, posture) or not allows(
            principal, own, posture, Capability.READ_CONTENTS, reader.target
        ):
            return Right.OVER
        ref = lease_of(principal, own, posture)
        live = ref is None or self._leases.get(ref, self._now_ms()) is not None
        # What its program said last, and its end, are told too.
        return Right.HOLDS if live and (facts.ready or facts.ended) else Right.UNCHECKED

    def _check(self, who: Subscriber) -> None:
        """Have its lease checked, once at a time; without room another event will ask again."""
        reader, own = _reader(who), self._world.own()
        ref = None if own is None else lease_of(reader.principal, own, self._world.posture())
        if ref is None or reader.key in self._checking:
            return
        try:
            self._checks.want(ref, partial(self._checked, reader.key))
        except Refusal:
            return
        self._checking.add(reader.key)

    def _checked(self, key: str, confirmed: bool) -> None:
        self._checking.discard(key)
        if not confirmed:
            self._keep(lambda who: who.key != key)
        self.on_news()


def _reader(who: Subscriber) -> Reader:
    assert isinstance(who, Reader), "only `begin` adds subscriptions here"
    return who


def _open() -> bool:
    """Not asked: `recheck` decides."""
    return True


def _no_time() -> int:
    """Not asked: nothing is published here."""
    return 0
