"""One evaluation: who asks, under what, for what."""

from __future__ import annotations

from brokerd.client import Principal
from termnode.control.native.callers import actor_of, allows
from termnode.control.native.request import NativeRequest
from termnode.control.native.targets import Target
from termnode.control.native.world import Own
from termnode.control.posture import Posture
from termnode.control.spec import Capability


class Case:
    """See the module. The principal is admitted."""

    __slots__ = ("actor", "own", "posture", "principal", "request")

    def __init__(
        self, principal: Principal, own: Own, posture: Posture, request: NativeRequest
    ) -> None:
        self.principal = principal
        self.own = own
        self.posture = posture
        self.request = request
        self.actor = actor_of(principal)

    def may(self, capability: Capability, target: Target) -> bool:
        """Whether the caller has the capability on the target."""
        return allows(self.principal, self.own, self.posture, capability, target)

    @property
    def bound(self) -> bool:
        """Whether the caller holds a record."""
        return self.principal.session is not None

    @property
    def strict(self) -> bool:
        """Whether the posture is."""
        return self.posture is Posture.STRICT
