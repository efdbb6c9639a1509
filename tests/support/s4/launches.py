"""p0i_10: a pane whose shell could not be launched soundly has no control, whatever was wrong."""

from __future__ import annotations

from typing import Final

from tests.support.s4.caller import Caller, denied
from tests.support.s4.capabilities import VERBS
from tests.support.s4.faults import BROKEN_FD, CANCELLED, EXPIRED, MISSING, WRONG_GRANT
from tests.support.s4.lab import Lab, Start, first
from tests.support.session_peer import Fields, Key
from tests.support.termnode_process import eventually

QUOTA: Final = "quota"
ONE_GRANT: Final = ("--set", "sessions.grants=1", "--set", "sessions.grant_ms=3600000")
"""Somebody has it, and does not use it."""

GRANTS: Final = (1, 2, 3)
"""Generations that a pane without control may have been granted."""


def p0i_10_launch_failures_reach_real_recipient_denial(start: Start) -> None:
    """Missing, wrong, broken, cancelled; expired; over the quota."""
    faults = {"2": MISSING, "3": WRONG_GRANT, "4": BROKEN_FD, "5": CANCELLED}
    with start(settings={"faults": faults}) as lab:
        one = first(lab)
        for number in map(int, faults):
            assert lab.term.good("term.tab.new")["pane"] == number
        for pane, fault in faults.items():
            _no_control(lab, int(pane), fault)
        assert lab.owner().good("term.session", lab.target(one))
    with start("--set", "sessions.grant_ms=1", settings={"faults": {"1": EXPIRED}}) as lab:
        lab.term.up()
        _no_control(lab, 1, EXPIRED)
    with start(*ONE_GRANT) as lab:
        hoarder = lab.peer()
        hoarder.grant(hoarder.allocate(Key()), Key())
        lab.term.up()
        _no_control(lab, 1, QUOTA)


def _no_control(lab: Lab, pane: int, fault: str) -> None:
    """The pane shows why, works without, and is denied in both postures, in the same words."""
    eventually(lambda: lab.binding(pane)["reason"], f"{fault}: it is known that it went wrong")
    assert lab.binding(pane)["ready"] is False
    lab.term.at_prompt(pane)
    lab.term.good("term.type", {"pane": pane, "text": f"echo {fault}-works", "enter": True})
    lab.term.wait(f"^{fault}-works", pane)
    owner = lab.owner()
    for on in (False, True):
        lab.strict(on=on)
        for generation in GRANTS:
            every_verb_denied(owner, lab.target(pane, generation))
    lab.strict(on=False)
    assert lab.record_of(pane) is None


def every_verb_denied(caller: Caller, target: Fields) -> None:
    for verb in VERBS:
        if verb.mutates:
            denied(caller.do(verb.name, target, **verb.fields))
        else:
            denied(caller.ask(verb.name, target, **verb.fields))
    denied(caller.do("term.pane.split", target, dir="h"))
    denied(caller.do("term.tab.new", target))
