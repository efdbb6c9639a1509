"""p0i_10: without an identity of its own a strict Term answers INFO and HELP, and nothing else."""

from __future__ import annotations

import json
from typing import Final

from termnode.control.verbs import TABLE
from tests.support.s4.caller import denied
from tests.support.s4.lab import Lab, Start
from tests.support.session_peer import Answer, Key, SessionPeer

DIAGNOSTIC: Final = ("INFO", "HELP")


def p0i_10_parent_bootstrap_outage_has_only_diagnostic_lane(start: Start) -> None:
    """No policy it knows, or no room at the broker: nothing opens for that."""
    with start(COSMIX_TERM_POLICY="wide-open", COSMIX_MESH_OPEN="0") as lab:
        lab.term.up()
        _diagnostic_only(lab, lab.peer(), "off")
    with start("--set", "sessions.terms_per_uid=1", COSMIX_MESH_OPEN="0") as lab:
        other = lab.peer()
        other.allocate(Key())
        lab.term.up()
        _diagnostic_only(lab, lab.peer(), "starting")
        assert len(other.records()) == 1


def global_verb(peer: SessionPeer, verb: str, body: object = None) -> Answer:
    peer.last_id += 1
    peer.ask("term", json.dumps(body or {}).encode(), id=f"g-{peer.last_id}", command=verb)
    header, raw, _ = peer.next_of(lambda header: header.id == f"g-{peer.last_id}")
    return Answer(header.rc, json.loads(raw))


def _diagnostic_only(lab: Lab, peer: SessionPeer, state: str) -> None:
    for verb in DIAGNOSTIC:
        assert global_verb(peer, verb).rc == 0
    identity = global_verb(peer, "INFO").body["identity"]
    assert identity["state"] == state
    assert "name" not in identity
    for spec in TABLE:
        if spec.name not in DIAGNOSTIC:
            answer = global_verb(peer, spec.name, dict(spec.example))
            assert (answer.rc, answer.why[0]) == (10, "FORBIDDEN"), spec.name
    denied_all = {json.dumps(global_verb(peer, spec.name).body) for spec in TABLE
                  if spec.name not in DIAGNOSTIC}  # fmt: skip
    assert len(denied_all) == 1
    denied(global_verb(peer, "term.session"))
    assert not [each for each in peer.records() if each["role"] == "pane-shell"]
