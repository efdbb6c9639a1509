"""p0i_01: the pane shell that a service launches proves itself, and only that opens its pane."""

from __future__ import annotations

import json
import os
import signal

from tests.support.s4.caller import Caller, denied
from tests.support.s4.lab import Lab, Start
from tests.support.session_peer import Fields, Key
from tests.support.termnode_process import eventually


def p0i_01_production_child_proof(start: Start) -> None:
    """From the launch to a command that runs; then the pane shell is killed, and stands still."""
    with start() as lab:
        lab.term.up()
        pane = lab.term.ready["pane"]
        # Asked by nobody but the pane shell itself, before anything else was.
        record = eventually(lambda: lab.record_of(pane), "the pane shell has proved its record")
        term = lab.record()
        assert record["record_assurance"] == "session-bound"
        assert record["binding_generation"] == "1"
        assert record["parent_instance"] == term["instance_id"]
        assert record["parent_incarnation"] == term["incarnation"]
        assert int(record["lease_remaining_ms"]) > 0
        lab.ready(pane)
        _answers_for_the_pane(lab, record)
        lab.strict()
        owner, target = lab.owner(), lab.target(pane)
        _names_only(lab, owner, record)
        _controls(owner, target)
        _killed(lab, owner, pane, target)


def _answers_for_the_pane(lab: Lab, record: Fields) -> None:
    peer = lab.peer()
    ref = {key: record[key] for key in ("record_id", "incarnation", "binding_generation")}
    whole = {
        "broker_epoch": record["broker_epoch"],
        "record": ref,
        **{key: record[key] for key in ("instance_id", "pane_id", "pane_generation")},
    }
    body = json.dumps({"version": 1, "target": whole}).encode()
    peer.ask(record["name"], body, id="status", command="shell.status")
    header, raw, _ = peer.next_of(lambda header: header.id == "status")
    assert header.rc == 0, raw


def _names_only(lab: Lab, owner: Caller, record: Fields) -> None:
    """Who knows everything but the key has nothing."""
    impostor = lab.peer()
    body = json.dumps({"name": owner.name}).encode()
    assert impostor.verb("broker.register", body)["error_code"] == "FORBIDDEN"
    challenge = impostor.challenge(record)
    denied_proof = impostor.try_prove(Key(), challenge)
    assert denied_proof.why[0] == "FORBIDDEN"
    still = lab.record_of(int(record["pane_id"]))
    assert still is not None
    assert {**still, "lease_remaining_ms": ""} == {**record, "lease_remaining_ms": ""}


def _controls(owner: Caller, target: Fields) -> None:
    number = owner.typed(target, "echo $((6*7))-proved\n")
    eventually(
        lambda: "42-proved" in owner.good("term.snapshot", target, contents=True)["text"],
        "the command has run",
    )
    assert owner.operation(target, number).body["status"] == "completed"


def _killed(lab: Lab, owner: Caller, pane: int, target: Fields) -> None:
    """Without its pane shell the pane is denied, until another one proved another record."""
    pid = lab.shell_of(pane)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: owner.ask("term.session", target).rc != 0, "the Term has seen it")
    denied(owner.ask("term.session", target))
    denied(owner.do("term.type", target, text="x", foreground_generation="1"))

    def again() -> Fields | None:
        record = lab.record_of(pane)
        if record is None or record["pane_generation"] == target["pane_generation"]:
            return None
        fresh = lab.target(pane, int(record["pane_generation"]))
        return fresh if owner.ask("term.session", fresh).rc == 0 else None

    fresh = eventually(again, "another pane shell has proved another record")
    assert int(fresh["pane_generation"]) > int(target["pane_generation"])
    denied(owner.ask("term.session", target))
    _controls(owner, fresh)
