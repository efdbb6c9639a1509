"""Any line from callers to a pane's shell: no id runs twice, and good answers are true."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from brokerd.client import ErrorCode, Refusal, limit_reached
from termnode.control.native.actors import Actor
from termnode.control.native.exec_table import EXECUTE, TASK
from termnode.control.native.forwards import FORWARDED_S, Forward, Forwards
from termnode.control.native.targets import Target
from tests.support.native_desk import DeskRig, FakeRequest, in_desk_rig, until
from tests.support.native_gate import AMBIENT, body_for, encoded
from tests.support.native_shells import LOST, NEVER, FakeShells

CALLERS = [
    replace(AMBIENT, peer_pid=os.getpid(), connection_id=each * 32) for each in ("1", "2", "3")
]
BUSY = Refusal(ErrorCode.BUSY, "a person types", reason="person")
FULL = limit_reached("tasks", 4, "four run")
VERBS = ["term.execute", "term.task.submit"]

Step = tuple[int, int, str, object, int, int]
"""Caller, its request id, verb, what becomes of it, seconds before, how often it is sent."""

STEPS = st.lists(
    st.tuples(
        st.sampled_from(range(len(CALLERS))),
        st.integers(1, 4),
        st.sampled_from(VERBS),
        st.sampled_from(["", "", "", LOST, NEVER, BUSY, FULL]),
        st.sampled_from([0, 0, 0, 1, 300, 899, 901, 959, 961]),
        st.integers(1, 3),
    ),
    max_size=14,
)


def raw(caller: int, number: int, verb: str) -> bytes:
    """The source names caller and id, so that what ran can be told apart."""
    own: dict[str, Any] = {"source": f"{caller} {number}", "argv": None}
    epoch = CALLERS[caller].connection_id
    return encoded(body_for(verb, request_id=str(number), request_epoch=epoch, **own))


def play(steps: list[Step]) -> None:
    """Send all of it through a real gate, ledger and table; then check."""
    told: dict[tuple[int, int], set[str]] = {}

    async def body(rig: DeskRig) -> None:
        rig.shells.clock = lambda: rig.now
        for step in steps:
            await _play(rig, step, told)
        check(rig.shells, told)

    try:
        in_desk_rig(body)
    except* AssertionError as several:
        raise AssertionError from several


async def _play(rig: DeskRig, step: Step, told: dict[tuple[int, int], set[str]]) -> None:
    caller, number, verb, what, pause, repeats = step
    rig.now += pause
    rig.shells.plan.clear()
    if what:
        rig.shells.plan.append(what)
    body = raw(caller, number, verb)
    asked: list[FakeRequest] = [rig.take_raw(verb, body, CALLERS[caller]) for _ in range(repeats)]
    await rig.all_turns()
    await until(lambda: all(each.answers for each in asked))
    rig.forwards.verify()
    rig.ledger.verify()
    for each in asked:
        if each.said == "ok" and "operation_id" in each.body:
            told.setdefault((caller, number), set()).add(each.body["operation_id"])


def check(shells: FakeShells, told: dict[tuple[int, int], set[str]]) -> None:
    """Each id ran once at most, and each good answer names a run of its own."""
    assert all(len(operations) == 1 for operations in told.values())
    named = [operation for operations in told.values() for operation in operations]
    assert len(set(named)) == len(named) <= len(shells.runs)
    bodies = {asked.body["request_id"]: asked.body for asked in shells.asked}
    ran = Counter(bodies[number]["source"] for number in shells.runs)
    assert all(count == 1 for count in ran.values()), ran


@settings(max_examples=100, deadline=None)
@given(STEPS)
def test_no_id_runs_twice_and_every_good_answer_names_the_one_run(steps: list[Step]) -> None:
    play(steps)


def test_with_an_id_per_sending_it_runs_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    def fresh(table: Forwards, forward: Forward, _now: float) -> int:
        table._last_number += 1  # the mutation
        forward.number = table._last_number  # the mutation
        return forward.number

    steps: list[Step] = [(0, 1, VERBS[0], what, 1, 1) for what in (LOST, "")]
    play(steps)
    monkeypatch.setattr(Forwards, "sending", fresh)
    with pytest.raises(AssertionError):
        play(steps)


# -- the table alone -----------------------------------------------------------------------------

ACTORS: list[Actor] = [("ambient", 1, "e" * 32, each * 32) for each in ("1", "2")]
PLACES = [Target("1" * 32, "2" * 32, pane, 1) for pane in (1, 2)]


class Table(RuleBasedStateMachine):
    """The table against what must hold of each entry by itself."""

    @initialize(most=st.integers(1, 6))
    def make(self, most: int) -> None:
        self.now = 0.0
        self.gone: set[Target] = set()
        self.table = Forwards(most=most)
        self.made: list[Forward] = []

    @rule(seconds=st.sampled_from([1.0, 100.0, FORWARDED_S - 1, FORWARDED_S]))
    def later(self, seconds: float) -> None:
        self.now += seconds

    @rule(
        actor=st.sampled_from(ACTORS),
        number=st.integers(1, 5),
        place=st.sampled_from(PLACES),
        family=st.sampled_from([EXECUTE, TASK]),
        answered=st.booleans(),
    )
    def submit(self, actor: Actor, number: int, place: Target, family: str, answered: bool) -> None:
        known = self._noted((actor, number), place, family)
        if known is None:
            return
        before = known.number
        self.table.sending(known, self.now)
        assert before in {0, known.number}
        if answered:
            within = None if family == EXECUTE else 60.0
            self.table.accepted(known, 1_000 + known.number, self.now, within)

    def _noted(self, key: tuple[Actor, int], place: Target, family: str) -> Forward | None:
        digest = f"{place} {family}".encode()
        try:
            known = self.table.find(key, digest, self.now)
            if known is None:
                self.table.check_room(self.now, lambda each: each not in self.gone)
                known = self.table.add(key, digest, place, family, self.now)
                self.made.append(known)
        except Refusal:
            return None
        return known

    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        if self.made:
            self.table.ended(data.draw(st.sampled_from(self.made)), self.now)

    @rule(place=st.sampled_from(PLACES))
    def lose(self, place: Target) -> None:
        self.gone.add(place)

    @invariant()
    def what_lives_is_found_by_its_own_and_by_nobody_else(self) -> None:
        self.table.verify()
        for each in self.made:
            if each.target not in self.gone and self.now < each.ends + FORWARDED_S:
                self._check(each)

    def _check(self, each: Forward) -> None:
        assert self.table.find(each.key, each.digest, self.now) is each
        if each.operation is None:
            return
        for actor in ACTORS:
            found = self.table.owned(actor, each.target, each.operation, each.family, self.now)
            assert (found is each) == (actor == each.key[0])

    @invariant()
    def ids_at_the_shell_differ(self) -> None:
        sent = [each.number for each in self.made if each.number]
        assert sent == sorted(set(sent))


TestTable = Table.TestCase
