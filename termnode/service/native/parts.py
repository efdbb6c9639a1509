"""What the verbs of the native lane look at, besides the state of the service."""

from __future__ import annotations

from dataclasses import dataclass, field

from termnode.control.native.forwards import Forwards
from termnode.control.native.leases import LeaseCache
from termnode.control.native.ledger import Ledger
from termnode.control.native.world import World
from termnode.lanes.calls import Sealed
from termnode.service.native.revoked import Revoked
from termnode.service.state import State


@dataclass(slots=True)
class Native:
    """The parts of one service's native lane."""

    state: State
    world: World
    ledger: Ledger[Sealed] = field(default_factory=Ledger)
    leases: LeaseCache = field(default_factory=LeaseCache)
    revoked: Revoked = field(default_factory=Revoked)
    """Notices to callers whose right to write has ended."""
    forwards: Forwards = field(default_factory=Forwards)
    """What was passed on to panes' shells."""
