"""Targets of the panes that there are, and where they stand in replies."""

from __future__ import annotations

from brokerd.client import Json
from termnode.control.native.results import PLACE
from termnode.control.native.targets import Target
from termnode.control.native.world import Own, World
from termnode.service.state import Result


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


def in_place(target: Target, found: Result) -> Result:
    """What the global lane replies, with the target in the place of its pane."""
    kept = {key: value for key, value in found.items() if key not in PLACE}
    return {"target": target.to_json(), **kept}
