"""The whole matrix of the native lane against an oracle that was written by hand.

Every verb, caller, capability set, policy, posture, and pane that is ready or not, alone or with a
neighbour. Both ways: nothing goes that the oracle does not let go, and the oracle has no line that
was not tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import pytest

from brokerd.client import (
    CAPABILITIES,
    DEFAULT_OPEN,
    RESTRICTED,
    Json,
    Principal,
    forbidden,
)
from termnode.control.native import callers, case, checks
from termnode.control.native import gate as gate_module
from termnode.control.native.decisions import Need, Refuse
from termnode.control.native.gate import Gate
from termnode.control.native.spec import NativeSpec
from termnode.control.native.table import NATIVE
from termnode.control.native.world import PaneFacts
from termnode.control.posture import Posture
from tests.support.native_gate import (
    AMBIENT,
    NODE,
    OTHER,
    OWN,
    OWN_RECORD,
    FakeWorld,
    Rig,
    Who,
    body_for,
    child,
    encoded,
    said,
    term,
)

# variant: what the target needs; what a neighbour in its tab needs; whether a pane shell may at all
ORACLE: dict[str, tuple[str, str, bool]] = {
    "term.session": ("read_state", "", True),
    "term.list": ("read_state", "", True),
    "term.tabs": ("read_state", "", True),
    "term.panes": ("read_state", "", True),
    "term.snapshot": ("read_state", "", True),
    "term.snapshot contents": ("read_contents", "", True),
    "term.wait": ("read_contents", "", True),
    "term.events": ("read_contents", "", True),
    "term.type": ("input", "", True),
    "term.keys": ("input", "", True),
    "term.paste": ("input", "", True),
    "term.mouse": ("input", "", True),
    "term.tab.new": ("manage_layout", "manage_layout", False),
    "term.tab.new argv": ("manage_layout execute", "manage_layout", False),
    "term.pane.split": ("manage_layout", "manage_layout", False),
    "term.pane.split argv": ("manage_layout execute", "manage_layout", False),
    "term.tab.select": ("manage_layout", "manage_layout", True),
    "term.pane.select": ("manage_layout", "manage_layout", True),
    "term.tab.close": ("terminate", "terminate", True),
    "term.pane.close": ("terminate", "manage_layout", True),
    "term.pane.resize": ("manage_layout", "manage_layout", True),
    "term.pane.rename": ("manage_layout", "manage_layout", True),
    "term.pane.swap": ("manage_layout", "manage_layout", True),
    "term.pane.break": ("manage_layout", "manage_layout", True),
    "term.pane.join": ("manage_layout", "manage_layout", True),
    "term.pane.zoom": ("manage_layout", "manage_layout", True),
    "term.tab.rename": ("manage_layout", "manage_layout", True),
    "term.tab.layout": ("manage_layout", "manage_layout", True),
    "term.pane.restart": ("execute", "", True),
    "term.props.get state": ("read_state", "", True),
    "term.props.get contents": ("read_contents", "", True),
    "term.props.set selected": ("manage_layout", "manage_layout", True),
    "term.props.set input": ("input", "", True),
    "term.execute": ("execute", "", True),
    "term.exec.result": ("execute", "", True),
    "term.exec.cancel": ("execute", "", True),
    "term.task.submit": ("execute", "", True),
    "term.task.result": ("execute", "", True),
    "term.task.cancel": ("execute", "", True),
}
"""Written from specs/control.md. term.operation changes nothing and has a test of its own."""

ABOUT_TWO = ("term.pane.swap", "term.pane.join")

SETS: tuple[tuple[str, ...], ...] = ((), *((each,) for each in CAPABILITIES), CAPABILITIES)


class Caller(NamedTuple):
    kind: str
    principal: Who
    grants: tuple[str, ...] = ()


def callers_() -> Iterator[Caller]:
    yield Caller("nobody", None)
    yield Caller("node", NODE)
    yield Caller("ambient", AMBIENT)
    yield Caller("ambient of another user", replace(AMBIENT, unix_uid=1001))
    for grants in SETS:
        yield Caller("own term", term(capabilities=grants), grants)
        yield Caller("child", child(capabilities=grants), grants)
        yield Caller("child of another pane", child(2, 2, capabilities=grants), grants)
        yield Caller("child of an earlier generation", child(1, 9, capabilities=grants), grants)
        yield Caller("child of another term", child(instance=OTHER, capabilities=grants), grants)
        yield Caller("another term", term(record_id=OTHER, capabilities=grants), grants)


class Cell(NamedTuple):
    variant: str
    caller: Caller
    policy: str
    posture: Posture
    ready: bool
    alone: bool
    """No neighbour in its tab."""


def cells() -> Iterator[Cell]:
    for variant in ORACLE:
        for caller in callers_():
            for policy in (DEFAULT_OPEN, RESTRICTED):
                for posture in Posture:
                    for ready in (True, False):
                        for alone in (True, False):
                            if not (alone and variant in ABOUT_TWO):
                                yield Cell(variant, caller, policy, posture, ready, alone)


def allowed(cell: Cell) -> bool:
    """What the contract says, in other words than the gate's."""
    of_target, of_neighbour, shells = ORACLE[cell.variant]
    kind, grants = cell.caller.kind, set(cell.caller.grants)
    if not cell.ready or kind in {"nobody", "node"}:
        return False
    if cell.posture is Posture.OPEN:
        return True
    if kind == "ambient":
        return cell.policy == DEFAULT_OPEN
    enough = set(of_target.split()) <= grants
    if kind == "own term":
        return enough and (cell.alone or set(of_neighbour.split()) <= grants)
    return kind == "child" and shells and enough and (cell.alone or not of_neighbour)


def rig_for(cell: Cell) -> Rig:
    world = FakeWorld(stance=cell.posture)
    world.mine = replace(OWN, record=replace(OWN_RECORD, policy=cell.policy))
    world.tabs = [[1]] if cell.alone else [[1, 2]]
    world.facts[1] = PaneFacts(1, ready=cell.ready, tab=1)
    return Rig(world)


MORE: dict[str, dict[str, Json]] = {
    "": {},
    "contents": {"contents": True},
    "argv": {"argv": ["true"]},
}
OF_PROPERTY: dict[str, dict[str, Json]] = {
    "state": {"property": "state"},
    "contents": {"property": "contents"},
    "selected": {"property": "selected", "value": True},
    "input": {"property": "input", "value": "x", "foreground_generation": "1"},
}


def bodies() -> dict[tuple[str, bool], bytes]:
    made = {}
    for variant in ORACLE:
        verb, _, rest = variant.partition(" ")
        more = OF_PROPERTY[rest] if NATIVE[verb].stands_for else MORE[rest]
        for alone in (True, False):
            body = body_for(verb, affected=() if alone else (2,), **more)
            if rest == "input":
                del body["affected"]
            made[variant, alone] = encoded(body)
    return made


BODIES = bodies()


def outcome(cell: Cell) -> tuple[str, bool]:
    """What the gate says at last, and whether it wanted a lease before."""
    rig = rig_for(cell)
    verb, raw = cell.variant.partition(" ")[0], BODIES[cell.variant, cell.alone]
    decision = rig.evaluate(cell.caller.principal, verb, raw)
    asked = isinstance(decision, Need)
    if isinstance(decision, Need):
        rig.lease(decision)
        decision = rig.evaluate(cell.caller.principal, verb, raw)
    if isinstance(decision, Refuse):
        assert decision.refusal.body() == forbidden().body(), cell
    return said(decision), asked


def differences(*, most: int | None = None) -> list[tuple[Cell, str]]:
    """Cells in which the gate does not say what the oracle says; at most so many."""
    wrong: list[tuple[Cell, str]] = []
    for cell in cells():
        said_, asked = outcome(cell)
        expected = "go" if allowed(cell) else "FORBIDDEN"
        leased = cell.posture is Posture.STRICT and cell.caller.kind == "child"
        if said_ != expected or (asked and not leased) or (leased and allowed(cell) and not asked):
            wrong.append((cell, said_))
            if most is not None and len(wrong) >= most:
                break
    return wrong


def variants(spec: NativeSpec) -> Iterator[str]:
    """Every form of a verb that may need another capability."""
    for name in spec.stands_for:
        yield f"{spec.name} {name}"
    if not spec.stands_for:
        yield spec.name
        if spec.upgrade is not None:
            yield f"{spec.name} {spec.upgrade.field}"


def test_the_oracle_and_the_table_name_the_same_verbs() -> None:
    named = {each for spec in NATIVE.values() for each in variants(spec)}
    assert named - {"term.operation"} == set(ORACLE)


def test_the_gate_says_what_the_oracle_says() -> None:
    assert differences() == []


def test_every_line_of_the_oracle_lets_somebody_and_keeps_somebody_out() -> None:
    tried: dict[str, set[bool]] = {}
    for cell in cells():
        if cell.posture is Posture.STRICT and cell.ready:
            tried.setdefault(f"{cell.variant} {cell.caller.kind}", set()).add(allowed(cell))
    for variant, (_, _, shells) in ORACLE.items():
        assert tried[f"{variant} own term"] == {True, False}
        assert tried[f"{variant} ambient"] == {True, False}
        if variant not in ABOUT_TWO:
            assert tried[f"{variant} child"] == ({True, False} if shells else {False})
        assert tried[f"{variant} child of another pane"] == {False}


def test_the_read_of_an_operation_is_of_state() -> None:
    body = body_for("term.operation")
    for grants in SETS:
        rig = Rig(FakeWorld(stance=Posture.STRICT))
        got = said(rig.evaluate(child(capabilities=grants), "term.operation", body))
        assert got == ("need" if "read_state" in grants else "FORBIDDEN")


def _anybody(*_: object) -> bool:
    return True


def _any_record(
    principal: Principal, own: object, posture: object, capability: str, target: object
) -> bool:
    session = principal.session
    return session is None or capability in session.capabilities


def _no_shell(*_: object) -> bool:
    return False


def _only_its_own(spec: NativeSpec, _own: object) -> tuple[object, ...]:
    return (spec.capability,)


def _no_lease(*_: object) -> None:
    return None


MUTANTS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "anybody is admitted": lambda patch: patch.setattr(gate_module, "admitted", _anybody),
    "anything is allowed": lambda patch: patch.setattr(case, "allows", _anybody),
    "any pane is in a grant": lambda patch: patch.setattr(case, "allows", _any_record),
    "a child of anybody's": lambda patch: patch.setattr(callers, "_is_child", _anybody),
    "shells open panes": lambda patch: patch.setattr(checks, "is_pane_shell", _no_shell),
    "nothing more for contents or a program": lambda patch: patch.setattr(
        NativeSpec, "needs", _only_its_own
    ),
    "affected panes are not checked": lambda patch: patch.setattr(
        Gate, "_check_affected", _no_lease
    ),
    "panes that are not ready": lambda patch: patch.setattr(Gate, "_check_pane", _no_lease),
    "no lease is asked for": lambda patch: patch.setattr(Gate, "_whose_lease", _no_lease),
    "the policy is not read": lambda patch: patch.setattr(
        callers, "DEFAULT_OPEN", type("Any", (), {"__eq__": _anybody, "__hash__": None})()
    ),
    "what is closed needs layout alone": lambda patch: patch.setattr(
        FakeWorld, "removed", lambda *_: frozenset()
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_gate_without_a_guard_differs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    MUTANTS[name](monkeypatch)
    assert differences(most=1)
