"""What was let go is asked about again, wholly, before something is done after a wait."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
import trio

from termnode.control.native.decisions import Go, Need
from termnode.control.native.gate import Gate
from termnode.control.native.world import Own, PaneFacts
from termnode.control.posture import Posture
from termnode.service.native import performers as module
from termnode.service.native.performers import Performers
from termnode.service.state import State
from tests.support.native_gate import AMBIENT, OWN, Rig, Who, body_for, child

Change = Callable[[Rig], None]


def _let(rig: Rig, verb: str = "term.pane.split", principal: Who = AMBIENT, **more: Any) -> Go:  # noqa: ANN401
    decision = rig.evaluate(principal, verb, body_for(verb, **more))
    if isinstance(decision, Need):
        rig.lease(decision)
        decision = rig.evaluate(principal, verb, body_for(verb, **more))
    assert isinstance(decision, Go), decision
    rig.perform(decision)
    return decision


def _own(rig: Rig, own: Own | None) -> None:
    rig.world.mine = own


def _pane(rig: Rig, pane: int, facts: PaneFacts | None) -> None:
    rig.world.facts.pop(pane)
    if facts is not None:
        rig.world.facts[pane] = facts


def _restricted(rig: Rig) -> None:
    rig.world.stance = Posture.STRICT
    _own(rig, replace(OWN, record=replace(OWN.record, policy="restricted")))


ANOTHER = replace(OWN, record=replace(OWN.record, incarnation="f" * 32))
UNREADY = PaneFacts(1, ready=False, tab=1)

CHANGES: dict[str, Change] = {
    "the connection is lost": lambda rig: setattr(rig.world, "up", False),
    "no record": lambda rig: _own(rig, None),
    "the own lease is over": lambda rig: _own(rig, replace(OWN, remaining_ms=0)),
    "another record": lambda rig: _own(rig, ANOTHER),
    "restricted and strict": _restricted,
    "the target is gone": lambda rig: _pane(rig, 1, None),
    "the target is another": lambda rig: _pane(rig, 1, PaneFacts(9, ready=True, tab=1)),
    "the target is not ready": lambda rig: _pane(rig, 1, UNREADY),
    "a pane shown is gone": lambda rig: _pane(rig, 2, None),
    "a pane shown is another": lambda rig: _pane(rig, 2, PaneFacts(9, ready=True, tab=1)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_changed_meanwhile_counts(name: str) -> None:
    rig = Rig()
    go = _let(rig)
    assert rig.gate.stands(go, frozenset({1, 2}), rig.now_ms)
    CHANGES[name](rig)
    assert not rig.gate.stands(go, frozenset({1, 2}), rig.now_ms)


def test_a_pane_that_was_not_named_does_not_count_as_named() -> None:
    rig = Rig()
    go = _let(rig)
    assert not rig.gate.stands(go, frozenset({1, 2, 3}), rig.now_ms)
    assert rig.gate.stands(go, frozenset(), rig.now_ms)


def test_a_posture_that_became_strict_is_asked_as_such() -> None:
    rig = Rig()
    mine, other = _let(rig), _let(rig, principal=replace(AMBIENT, unix_uid=1001))
    rig.world.stance = Posture.STRICT
    assert rig.gate.stands(mine, frozenset({1, 2}), rig.now_ms)
    assert not rig.gate.stands(other, frozenset({1, 2}), rig.now_ms)


def test_a_lease_that_was_dropped_or_is_too_old_counts_no_more() -> None:
    rig = Rig()
    rig.world.stance = Posture.STRICT
    rig.world.tabs = [[1], [2], [3]]
    go = _let(rig, "term.pane.rename", child(), affected=())
    assert rig.gate.stands(go, frozenset({1}), rig.now_ms)
    assert not rig.gate.stands(go, frozenset({1}), rig.now_ms + 5_000)
    rig.leases.clear()
    assert not rig.gate.stands(go, frozenset({1}), rig.now_ms)


def test_what_a_shell_may_not_open_any_more_is_not_shown() -> None:
    rig = Rig()
    go = _let(rig, principal=child())
    rig.world.stance = Posture.STRICT
    assert not rig.gate.stands(go, frozenset({1, 2}), rig.now_ms)


@pytest.mark.parametrize("step", ["_check_connection", "_check_pane", "_check_named"])
def test_without_a_step_a_change_would_not_count(
    step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The guards that the table above is about, taken out."""
    monkeypatch.setattr(Gate, step, lambda *_: None)
    stood = []
    for change in CHANGES.values():
        rig = Rig()
        go = _let(rig)
        change(rig)
        stood.append(rig.gate.stands(go, frozenset({1, 2}), rig.now_ms))
    assert any(stood)


# -- the new pane ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("background", "stands"), [(False, True), (False, False), (True, True)])
def test_a_new_pane_is_shown_only_if_that_stands_after_the_wait(
    background: bool, stands: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig()
    go = _let(rig, background=background)
    asked: list[frozenset[int]] = []
    focused: list[int] = []

    async def start(*_: object) -> dict[str, int]:
        await trio.lowlevel.checkpoint()
        rig.world.tabs[0].append(4)
        return {"pane": 4}

    def still(_go: Go, panes: frozenset[int]) -> bool:
        asked.append(panes)
        return stands

    for name, stand_in in {
        "start_opened": start,
        "program_for": lambda *_: None,
        "ready_target": lambda *_: None,
        "apply": lambda _state, pane: focused.append(pane),
    }.items():
        monkeypatch.setattr(module, name, stand_in)
    workspace = SimpleNamespace(split=lambda *_, **__: None, focus=lambda pane: pane)
    state = cast("State", SimpleNamespace(workspace=workspace))
    unfinished = Performers(rig.world, still).split(state, go)

    async def run() -> None:
        assert await unfinished() == {"pane_id": "4", "target": None}

    trio.run(run)
    assert asked == ([] if background else [frozenset({1, 2})])
    assert focused == ([4] if stands and not background else [])
