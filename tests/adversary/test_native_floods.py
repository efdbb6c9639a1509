"""Many requests, large ones and senseless ones: nobody else loses anything by them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brokerd.client import ErrorCode
from termnode.control.native.table import NATIVE
from tests.support.native_broken import lab_without
from tests.support.s4.caller import Caller, body_of, denied, refused
from tests.support.s4.lab import Lab, first, lab_of
from tests.support.session_peer import Fields

pytestmark = pytest.mark.slow

STRANGERS: Final = 320
"""More than there are histories."""

IDS: Final = 1_100
"""More than one caller has entries."""


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    """Two panes in one tab; tests put the posture where they want it."""
    with lab_of("--set", "connections_per_uid=4000") as made:  # their ends are found out later
        first(made)
        made.split()
        yield made


def test_refused_requests_push_nobody_out(lab: Lab) -> None:
    lab.strict(on=False)
    one, two = lab.targets(1, 2)
    owner = lab.owner()
    body = owner.next(one, affected=[two], title="mine")
    done = owner.send("term.pane.rename", body)
    assert done.rc == 0, done.body
    for _ in range(STRANGERS):
        stranger = Caller(lab.peer(), owner.name)
        denied(stranger.do("term.pane.close", {**one, "pane_id": "99"}))
        refused(stranger.type(one, "x", "0"), "STALE_GENERATION")
        refused(stranger.do("term.pane.rename", one, affected=[two], title=1), "INVALID_ARGUMENT")
        stranger.peer.close()
    flood = lab.owner()
    for _ in range(IDS):
        flood.post("term.pane.close", flood.next({**one, "pane_generation": "77"}))
        denied(flood.answer(f"n-{flood._asked}"))
    assert owner.send("term.pane.rename", body) == done
    for caller, mark in ((flood, "0"), (owner, "1")):
        assert caller.good("term.session", one)["request_high_water"] == mark


def test_a_caller_whose_history_was_pushed_out_does_nothing_twice(lab: Lab) -> None:
    lab.strict(on=False)
    one, two = lab.targets(1, 2)
    coldest = lab.owner()
    body = coldest.next(one, affected=[two], title="mine")
    assert coldest.send("term.pane.rename", body).rc == 0
    for number in range(STRANGERS):
        stranger = Caller(lab.peer(), coldest.name)
        assert stranger.done("term.pane.rename", one, affected=[two], title=f"s{number}")
        stranger.peer.close()
    again = coldest.send("term.pane.rename", body)
    refused(again, "UNKNOWN_OUTCOME", "retired_request_id")
    assert again.body["details"]["request_high_water"] == "1"
    titles = [each["title"] for each in coldest.good("term.session", one)["panes"]]
    assert titles[0] == f"s{STRANGERS - 1}"
    assert coldest.done("term.pane.rename", one, affected=[two], title="again")


def test_who_does_not_read_its_answers_keeps_nobody_waiting(lab: Lab) -> None:
    """400 requests of a pane shell that reads nothing; its lease has to be asked for too."""
    lab.strict()
    try:
        shell, owner = lab.child(1), lab.owner()
        one, two = lab.targets(1, 2)
        posted = [
            shell.post("term.pane.rename", shell.next(one, affected=[], title="x"))
            for _ in range(200)
        ]
        posted += [shell.post("term.snapshot", body_of({"target": one})) for _ in range(200)]
        assert owner.done("term.pane.rename", two, affected=[one], title="prompt")
        assert owner.good("term.session", two)["target"] == two
        answers = [shell.answer(each) for each in posted[:64]]
        assert {answer.why[0] for answer in answers if answer.rc} <= {"FORBIDDEN", "RESOURCE_LIMIT"}
    finally:
        lab.strict(on=False)


def test_leases_that_are_slow_to_check_hold_up_their_own_callers_alone() -> None:
    """The broker says nothing of a pane shell's lease: its requests wait, up to a bound."""
    with lab_without("leases") as lab:
        one = first(lab)
        lab.strict()
        shell, owner, target = lab.child(one), lab.owner(), lab.target(one)
        posted = [shell.post("term.snapshot", body_of({"target": target})) for _ in range(50)]
        posted += [shell.post("term.type", _typing(shell, target)) for _ in range(50)]
        over = [shell.answer(each) for each in posted[32:]]
        for answer in over:
            refused(answer, "RESOURCE_LIMIT")
        # The others wait still, and everybody else is served; so is the shell, when none is needed.
        assert owner.done("term.pane.rename", target, title="prompt")
        lab.strict(on=False)
        assert shell.good("term.session", target)["request_high_water"] == "0"
        assert not [each for each in shell.peer.passed if each[0].id in posted[:32]]


def _typing(caller: Caller, target: Fields) -> bytes:
    return caller.next(target, text="x", foreground_generation="1")


def test_waits_are_bounded_and_end_with_nobody_else_held_up(lab: Lab) -> None:
    lab.strict(on=False)
    one, two = lab.targets(1, 2)
    patient, owner = lab.owner(), lab.owner()
    asked = {"target": one, "until": "never shown", "timeout_ms": 45_000}
    posted = [patient.post("term.wait", body_of(asked)) for _ in range(70)]
    over = [patient.answer(each) for each in posted[-6:]]
    for answer in over:
        refused(answer, "RESOURCE_LIMIT")
    assert owner.done("term.pane.rename", two, affected=[one], title="meanwhile")
    assert owner.good("term.snapshot", one, contents=True)["target"] == one


def test_huge_lists_of_affected_panes_are_refused_or_of_no_use(lab: Lab) -> None:
    lab.strict(on=False)
    one, two = lab.targets(1, 2)
    owner = lab.owner()
    others: list[Fields] = [{**one, "pane_id": str(number)} for number in range(100, 148)]
    # More may be named than is needed, whether it is there or not: it opens nothing.
    assert owner.done("term.pane.rename", one, affected=[two, *others], title="many")
    denied(owner.do("term.pane.select", one, affected=others))
    wide = owner.next(one, affected=[{**one, "pane_id": str(n)} for n in range(100, 300)])
    assert len(wide) > 8_192
    refused(owner.send("term.pane.select", wide), "INVALID_ARGUMENT")
    wrongs: list[object] = [
        [{}] * 129, [[]] * 1_000, [one] * 2 + [{**one, "pane_generation": "77"}], {}, "x", [None],
        [two, {**two, "pane_generation": "77"}],
    ]  # fmt: skip
    for wrong in wrongs:
        refused(owner.do("term.pane.select", one, affected=wrong), "INVALID_ARGUMENT")
    # The same target again, itself among them, is one target.
    assert owner.done("term.pane.select", one, affected=[two, one, two, one])["selected"] == one


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
HARMLESS = sorted(
    name for name in NATIVE if not name.endswith((".close", ".wait", ".events", ".restart"))
)
NAMES = st.sampled_from(
    ["target", "affected", "request_id", "request_epoch", "foreground_generation", "text", "argv",
     "operation_id", "property", "value", "contents", "keys", "dir", "with", "beside", "title"]
)  # fmt: skip


@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    verb=st.sampled_from(HARMLESS) | st.just("no.such.verb"),
    body=st.one_of(
        st.binary(max_size=200),
        JSON.map(lambda value: json.dumps(value).encode()),
        st.dictionaries(NAMES, JSON, max_size=4).map(lambda value: json.dumps(value).encode()),
        st.integers(1, 20_000).map(lambda depth: b"[" * depth),
        st.integers(8_193, 40_000).map(lambda size: b'{"text":"' + b"x" * size + b'"}'),
    ),
    sound=st.booleans(),
)
def test_senseless_bodies_are_refused_in_words(
    lab: Lab, verb: str, body: bytes, sound: bool
) -> None:
    """Over the wire; of a sound target with senseless fields beside it too."""
    lab.strict(on=False)
    caller = _CALLERS.get(id(lab)) or _CALLERS.setdefault(id(lab), lab.owner())
    if sound:
        body = _with_target(body, lab)
    answer = caller.send(verb, body)
    if answer.rc == 0:
        assert sound, (verb, body)
        return
    assert answer.rc == 10, (verb, answer)
    assert answer.body.keys() == {"error_code", "message", "details"}
    assert answer.why[0] in set(ErrorCode) - {ErrorCode.UNAVAILABLE}


_CALLERS: dict[int, Caller] = {}
_TARGETS: dict[int, Fields] = {}


def _with_target(body: bytes, lab: Lab) -> bytes:
    """The same with the first pane as its target, when it is an object at all."""
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        return body
    if not isinstance(fields, dict):
        return body
    target = _TARGETS.get(id(lab)) or _TARGETS.setdefault(id(lab), lab.target(1))
    return json.dumps({**fields, "target": target}).encode()


def test_the_service_is_as_it_was(lab: Lab) -> None:
    """Last in this file: after all of it everything is there and answers."""
    lab.strict(on=False)
    one, two = lab.targets(1, 2)
    owner = lab.owner()
    panes = [each["target"] for each in owner.good("term.session", one)["panes"]]
    assert [one, two] == panes[:2]
    assert owner.typed(one, "x")
