"""p0i_07: every mutation of an owner runs once, is told again, and is never run when forgotten."""

from __future__ import annotations

from typing import Final

from tests.support.s4.caller import Caller, body_of, refused
from tests.support.s4.lab import Lab, Start, first
from tests.support.session_peer import Answer, Fields
from tests.support.termnode_process import eventually

RETENTION_S: Final = 10.0
"""Long enough for a retry that follows at once, on a loaded machine too."""

MUTATIONS: Final = 8


def p0i_07_owner_mutations_and_retired_retries(start: Start) -> None:
    """The eight mutating verbs: a retry is told what the first was told, until nobody knows it."""
    with start(settings={"retention_s": RETENTION_S}) as lab:
        one = first(lab)
        (two,) = lab.split()
        lab.strict()
        owner = lab.owner()
        done = Done(owner)
        _mutate(lab, done, one, two)
        assert len(done.kept) == MUTATIONS
        done.retire()


class Done:
    """Mutations that were carried out, with the bodies they had."""

    def __init__(self, owner: Caller) -> None:
        self.owner = owner
        self.kept: list[tuple[str, bytes, Fields]] = []

    def once(self, verb: str, target: Fields, **fields: object) -> Fields:
        """Carry out, and see that a retry of the very bytes says the same and does nothing."""
        body = self.owner.next(target, **fields)
        told = self.owner.send(verb, body)
        assert told.rc == 0, (verb, told.body)
        assert told.body["operation_id"] == str(self.owner.last_id)
        assert self.owner.send(verb, body) == told
        self._conflict(self.owner.send(verb, body + b" "))
        self._conflict(self.owner.send("term.tab.new", body_of(
            {"target": target, "request_id": str(self.owner.last_id),
             "request_epoch": self.owner.peer.connection_id})))  # fmt: skip
        found = self.owner.operation(target, told.body["operation_id"])
        assert found.rc == 0 or verb.endswith("close"), found.body
        self.kept.append((verb, body, target))
        return told.body

    @staticmethod
    def _conflict(answer: Answer) -> None:
        refused(answer, "CONFLICT", "request_mismatch")
        details = {"reason": "request_mismatch", "retry_requires": "byte_identical_body"}
        assert answer.body["details"] == details

    def retire(self) -> None:
        """Once they are forgotten, retries and questions are told that nobody knows."""
        verb, body, _ = self.kept[-1]
        eventually(lambda: self.owner.send(verb, body).rc != 0, "the last one is forgotten")
        for number, (verb, body, target) in enumerate(self.kept, 1):
            answer = self.owner.send(verb, body)
            refused(answer, "UNKNOWN_OUTCOME", "retired_request_id")
            assert answer.body["details"]["request_high_water"] == str(self.owner.last_id)
            refused(self.owner.operation(target, str(number)), "UNKNOWN_OUTCOME")


def _ready(lab: Lab, owner: Caller, pane: int) -> Fields:
    """A new pane's target, once it may be controlled."""
    eventually(lambda: lab.record_of(pane), f"pane {pane} is attached")
    target = lab.target(pane)
    eventually(lambda: owner.ask("term.session", target).rc == 0, f"pane {pane} is ready")
    return target


def _mutate(lab: Lab, done: Done, first_pane: int, second_pane: int) -> None:
    owner = done.owner
    one, two = lab.targets(first_pane, second_pane)
    typed = done.once("term.type", one, text=" ", foreground_generation=owner.foreground(one))
    assert (typed["status"], typed["outcome"]) == ("accepted", "unknown")
    done.once(
        "term.props.set", one, property="input", value="\r",
        foreground_generation=owner.foreground(one),
    )  # fmt: skip
    assert done.once("term.pane.select", one, affected=[two])["selected"] == one
    assert done.once("term.tab.select", two, affected=[one])["selected"] == two
    split = done.once("term.pane.split", one, affected=[two], dir="h")
    three = _ready(lab, owner, int(split["pane_id"]))
    opened = done.once("term.tab.new", one, affected=[two, three])
    tabs = owner.good("term.session", one)["tabs"]
    assert [each["id"] for each in tabs].count(opened["tab_id"]) <= 1
    assert len(tabs) <= 2, "it was opened twice"
    (new,) = lab_panes(lab) - {first_pane, second_pane, int(split["pane_id"])}
    four = _ready(lab, owner, new)
    assert done.once("term.pane.close", three, affected=[one, two, four])["closed"] == three
    assert done.once("term.tab.close", one, affected=[two, four])["closed"] == one
    left = owner.good("term.session", four)
    assert [each["target"] for each in left["panes"]] == [four]


def lab_panes(lab: Lab) -> set[int]:
    """Panes whose shell is attached, once the newest is."""

    def four() -> set[int]:
        held = {
            int(each["pane_id"])
            for each in lab.records()
            if each["state"] == "attached" and each["pane_id"]
        }
        return held if len(held) == 4 else set()

    return eventually(four, "four panes are attached")
