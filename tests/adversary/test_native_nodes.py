"""Another machine: nothing of the native lane in either posture, whatever it asks."""

from __future__ import annotations

from brokerd.client import encode, forbidden
from tests.support.native_strangers import REACHABLE, OtherMachine, other_machine
from tests.support.s4.caller import body_of
from tests.support.s4.lab import first, lab_of
from tests.support.session_peer import Fields

DENIED = {encode(forbidden().body())}


def test_without_the_guard_that_would_be_seen() -> None:
    with lab_of(*REACHABLE, off="node") as lab:
        one = first(lab)
        name, target = lab.record()["name"], lab.target(one)
        with other_machine(lab.broker, lab.term.directory / "k") as machine:
            assert _answers(machine, name, target) != DENIED


def test_another_machine_is_denied_in_both_postures() -> None:
    with lab_of(*REACHABLE) as lab:
        one = first(lab)
        name, target = lab.record()["name"], lab.target(one)
        with other_machine(lab.broker, lab.term.directory / "k") as machine:
            for strict in (False, True):
                lab.strict(on=strict)
                assert _answers(machine, name, target) == DENIED
            lab.strict(on=False)
            # It is let in elsewhere: the global lane has no targets, and is open to all.
            assert machine.ask("term", "term.panes", b"{}").code == "ok"
            assert _answers(machine, name, target) == DENIED
            owner = lab.owner()
            assert owner.good("term.session", target)["request_high_water"] == "0"


def _answers(machine: OtherMachine, name: str, target: Fields) -> set[bytes]:
    envelope: Fields = {"target": target, "request_id": "1", "request_epoch": "0" * 32}
    bodies: dict[str, Fields] = {
        "term.session": {"target": target},
        "term.snapshot": {"target": target, "contents": True},
        "term.type": {**envelope, "text": "x", "foreground_generation": "1"},
        "term.pane.close": envelope,
        "no.such.verb": {"target": target},
        "term.operation": {"target": target, "operation_id": "1"},
    }
    answers = {verb: machine.ask(name, verb, body_of(body)) for verb, body in bodies.items()}
    answers["garbage"] = machine.ask(name, "term.session", b"\xff{")
    return {said.raw for said in answers.values()}
