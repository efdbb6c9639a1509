"""The right behind one accepted input, asked again in the very step of each write. No I/O."""

from __future__ import annotations

from collections.abc import Callable

from termnode.control.native.callers import admitted, allows, lease_of
from termnode.control.native.decisions import Go
from termnode.control.native.leases import LeaseCache
from termnode.control.native.world import Own, World
from termnode.control.posture import Posture
from termnode.control.spec import Capability


class Permit:
    """What the gate allowed once, for as long as it is true and `Go.permit_until_ms` is not there.

    ``now_ms`` is the clock of leases. That the foreground is the same is asked by whoever holds it.
    """

    def __init__(self, go: Go, world: World, leases: LeaseCache, now_ms: Callable[[], int]) -> None:
        self._principal = go.principal  # of the request itself nothing is kept
        self._target = go.target
        self._then = go.own
        self._until_ms = go.permit_until_ms
        self._world = world
        self._leases = leases
        self._now_ms = now_ms

    @property
    def remaining_s(self) -> float:
        """Until its end at the latest; not positive after it."""
        return (self._until_ms - self._now_ms()) / 1000

    def holds(self) -> bool:
        """Whether it may be written now, as far as rights go."""
        own = self._world.own()
        return (
            self.remaining_s > 0
            and self._world.connected()
            and own is not None
            and self._is_same(own)
            and self._is_pane()
            and self._is_allowed(own)
        )

    def _is_same(self, own: Own) -> bool:
        """The Term's record is the one of then, proved on the same connection, and live."""
        then = self._then
        return own.remaining_ms > 0 and (
            own.record.record_id,
            own.record.incarnation,
            own.broker_epoch,
            own.connection_id,
        ) == (then.record.record_id, then.record.incarnation, then.broker_epoch, then.connection_id)

    def _is_pane(self) -> bool:
        target = self._target
        facts = self._world.pane(target.pane_id)
        return facts is not None and facts.ready and facts.generation == target.pane_generation

    def _is_allowed(self, own: Own) -> bool:
        principal, posture = self._principal, self._world.posture()
        return (
            admitted(principal, own, posture)
            and allows(principal, own, posture, Capability.INPUT, self._target)
            and self._has_lease(own, posture)
        )

    def _has_lease(self, own: Own, posture: Posture) -> bool:
        ref = lease_of(self._principal, own, posture)
        return ref is None or self._leases.is_trusted(ref, self._now_ms())
