"""p0i_08: a caller's lease is asked about again and again, and a successor takes its place."""

from __future__ import annotations

import time
from typing import Final

from tests.support.s4.caller import Caller, denied, refused
from tests.support.s4.lab import Lab, Start, first
from tests.support.termnode_process import eventually

WINDOW_S: Final = 5.5
"""A lease that was checked longer ago than 5 s is checked again."""


def p0i_08_lease_window_refresh_and_successor_binding_invalidation(start: Start) -> None:
    """A live lease goes on being good; what a replaced attachment held is free at once."""
    with start() as lab:
        one = first(lab)
        lab.strict()
        child, owner = lab.child(one), lab.owner()
        _window(lab, child, one)
        _successor(lab, child, owner, one)


def _window(lab: Lab, child: Caller, pane: int) -> None:
    assert child.record is not None
    target, end = lab.target(pane), time.monotonic() + WINDOW_S
    assert child.good("term.session", target)
    assert child.good("term.session", target)

    def over() -> bool:
        return time.monotonic() > end

    eventually(over, "the window is over")
    child.peer.renew(child.record)
    assert child.good("term.session", target)["target"] == target
    assert child.typed(target, " ")


def _successor(lab: Lab, child: Caller, owner: Caller, pane: int) -> None:
    target = lab.target(pane)
    mine = child.keeps_out(owner, target)
    successor = lab.take_over(child, pane)
    # The Term was told of it before anything that is asked from now on.
    foreground = owner.foreground(target)
    assert owner.typed(target, "y", foreground)
    _lost_it(child, target)
    assert successor.record is not None
    assert child.record is not None
    assert successor.record["record_id"] == child.record["record_id"]
    assert successor.good("term.session", target)["request_high_water"] == mine
    assert owner.keeps_out(successor, target)
    kept = successor.operation(target, mine)
    assert kept.rc == 0, "the same actor, on another connection"
    assert kept.body["operation_id"] == mine
    stale = successor.next(target, text="q", foreground_generation=foreground).replace(
        successor.peer.connection_id.encode(), child.peer.connection_id.encode()
    )
    refused(successor.send("term.type", stale), "UNKNOWN_OUTCOME")
    assert successor.peer.revoke(successor.record) is True
    denied(owner.do("term.type", target, text="x", foreground_generation=foreground))


def _lost_it(child: Caller, target: dict[str, str]) -> None:
    said = child.ask("term.session", target)
    assert said.why == ("EXPIRED", "binding_lost"), said.body
