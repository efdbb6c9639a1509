"""Targets of the panes that there are."""

from __future__ import annotations

from brokerd.client import Json
from termnode.control.native.targets import Target
from termnode.control.native.world import Own, World


def target_of(world: World, own: Own, pane: int) -> Target | None:
    """The pane's target as of now; None for no pane, or one that was never granted a session."""
    facts = world.pane(pane)
    if facts is None or not facts.generation:
        return None
    return Target(own.record.instance_id, own.record.incarnation, pane, facts.generation)


def ready_target(world: World, own: Own, pane: int) -> dict[str, Json] | None:
    """As it is on the wire, of a pane that is control-ready; None for others."""
    facts, target = world.pane(pane), target_of(world, own, pane)
    if facts is None or target is None or not facts.ready:
        return None
    return target.to_json()
