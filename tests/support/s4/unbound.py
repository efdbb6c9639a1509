"""p0i_10: a pane that is not bound has no control, and nothing stands in for it."""

from __future__ import annotations

import json

from tests.support.s4.caller import Caller, body_of, refused
from tests.support.s4.capabilities import VERBS
from tests.support.s4.faults import MISSING
from tests.support.s4.lab import Lab, Start
from tests.support.s4.launches import every_verb_denied
from tests.support.termnode_process import eventually


def p0i_10_unbound_pane_has_no_control(start: Start) -> None:
    """Named, it is denied; not named, nothing is done to the pane that is active."""
    with start(settings={"faults": {"1": MISSING}}) as lab:
        lab.term.up()
        (bound,) = lab.split()
        eventually(lambda: lab.binding(1)["state"] == "unbound", "it is known to be unbound")
        owner, child = lab.owner(), lab.child(bound)
        lab.term.good("term.pane.select", {"id": 1})
        lab.term.at_prompt(1)
        before = lab.term.screen(1)
        for on in (False, True):
            lab.strict(on=on)
            for caller in (owner, child):
                for generation in (0, 1, 2):
                    every_verb_denied(caller, lab.target(1, generation))
            _no_active_pane(lab, owner, bound)
            assert owner.good("term.session", lab.target(bound))
        lab.strict(on=False)
        assert lab.term.screen(1) == before, "something was done to it"
        assert lab.term.good("term.tabs")["tabs"][0]["panes"] == [1, bound]


def _no_active_pane(lab: Lab, owner: Caller, bound: int) -> None:
    """Without a target, or with half of one, there is no request."""
    sound = lab.target(bound)
    partial = [{key: sound[key] for key in sound if key != left} for left in sound]
    for target in (None, {}, "1", *partial, {**sound, "pane_id": None}, {**sound, "more": "1"}):
        for verb in VERBS:
            body = {"target": target, **verb.fields}
            refused(owner.send(verb.name, body_of(body)), "INVALID_ARGUMENT")
    for verb in VERBS:
        refused(owner.send(verb.name, json.dumps(verb.fields).encode()), "INVALID_ARGUMENT")
