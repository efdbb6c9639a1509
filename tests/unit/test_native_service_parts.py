"""Parts of the native lane in the service: what the gate is told, layouts watched, events told."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from brokerd.client import Authority, LifecycleNotice, Ref, Refusal
from termnode.control.native.decisions import Go
from termnode.control.native.leases import LeaseCache
from termnode.control.native.request import Ask
from termnode.control.native.world import PaneFacts
from termnode.control.posture import Posture
from termnode.service.events.hub import Events, Left
from termnode.service.identity.words import OFF, PaneBinding
from termnode.service.live_pane import LivePane
from termnode.service.native.checks import LeaseChecks, Then
from termnode.service.native.events import NativeEvents, Right
from termnode.service.native.foreground import Foreground
from termnode.service.native.lane import NativeService
from termnode.service.native.layout_watch import LayoutWatch
from termnode.service.native.world import LiveWorld
from termnode.workspace.model import Workspace
from termnode.workspace.tree import Direction
from tests.support.native_gate import (
    AMBIENT,
    EPOCH,
    OWN_RECORD,
    FakeWorld,
    Rig,
    Who,
    body_for,
    child,
    encoded,
)

ME = replace(AMBIENT, unix_uid=os.geteuid())

# -- the world ------------------------------------------------------------------------------------


class FakeIdentity:
    """An identity that the test sets."""

    def __init__(self) -> None:
        self.connected = True
        self.authority: Authority | None = Authority(OWN_RECORD, "d" * 32, 9_000, lambda: 2_000)
        self.ready: set[int] = set()

    def binding_of(self, pane: int) -> PaneBinding:
        return replace(OFF, generation=pane + 10)

    def control_ready(self, pane: int) -> bool:
        return pane in self.ready


class WorldRig:
    """Two tabs: panes 1 and 2 in the first, which is active, 3 in the second."""

    def __init__(self) -> None:
        self.identity = FakeIdentity()
        self.workspace = Workspace(80, 24)
        self.workspace.add_tab()
        self.workspace.split(1, Direction.VERTICAL)
        self.workspace.add_tab(select=False)
        self.live: dict[int, Any] = {
            pane: SimpleNamespace(id=pane, ended=None, foreground=Foreground(1))
            for pane in (1, 2, 3)
        }
        self.world = LiveWorld(
            self.identity, self.workspace, self.find_live, lambda: Posture.STRICT
        )

    def find_live(self, pane: int) -> LivePane | None:
        return cast("LivePane | None", self.live.get(pane))


def test_a_panes_generation_is_that_of_its_grant() -> None:
    rig = WorldRig()
    rig.identity.ready = {1}
    assert rig.world.pane(1) == PaneFacts(11, ready=True, tab=1)
    assert rig.world.pane(3) == PaneFacts(13, ready=False, tab=2)
    assert rig.world.pane(4) is None


def test_a_pane_is_not_ready_without_a_program_that_runs() -> None:
    rig = WorldRig()
    rig.identity.ready = {1, 2}
    rig.live[1].ended = 1.0
    del rig.live[2]
    assert rig.world.pane(1) == PaneFacts(11, ready=False, tab=1, ended=True)
    assert rig.world.pane(2) == PaneFacts(12, ready=False, tab=1)


def test_the_own_record_is_what_is_held_now() -> None:
    rig = WorldRig()
    own = rig.world.own()
    assert own is not None
    assert (own.record, own.broker_epoch, own.connection_id) == (OWN_RECORD, EPOCH, "d" * 32)
    assert own.remaining_ms == 7_000
    rig.identity.authority = None
    assert rig.world.own() is None


def test_a_closed_tab_removes_its_panes_and_shows_another() -> None:
    rig = WorldRig()
    assert rig.world.removed("term.tab.close", 1) == {1, 2}
    assert rig.world.affected("term.tab.close", 1, None) == {1, 2, 3}
    assert rig.world.removed("term.pane.close", 1) == {1}
    assert rig.world.affected("term.pane.close", 1, None) == {1, 2}
    assert rig.world.removed("term.pane.zoom", 1) == frozenset()


# -- layouts --------------------------------------------------------------------------------------


def rises(rig: WorldRig, change: str) -> set[int]:
    """The panes whose foreground generation rises with a change of the layout."""
    workspace = rig.workspace
    workspace.on_change = LayoutWatch(workspace, rig.find_live).look
    before = {pane: live.foreground.generation for pane, live in rig.live.items()}
    match change:
        case "focus":
            workspace.select_pane(1)
        case "tab":
            workspace.select_tab(2)
        case "zoom":
            workspace.zoom(2)
        case "split":
            workspace.split(3, Direction.HORIZONTAL, select=False)
        case "close":
            workspace.close_pane(1)
        case "resize":
            workspace.resize(100, 24)
        case "swap":
            workspace.swap(1, 2)
        case "rename":
            workspace.rename_pane(1, "x")
    return {pane for pane, live in rig.live.items() if live.foreground.generation != before[pane]}


@pytest.mark.parametrize(
    ("change", "raised"),
    [
        ("focus", {1, 2}),
        ("tab", {2, 3}),
        ("zoom", {1, 2}),
        ("split", {3}),
        ("close", {2}),
        ("resize", {1, 2, 3}),
        ("swap", {1, 2}),
        ("rename", set()),
    ],
)
def test_place_size_and_focus_raise_the_panes_concerned(change: str, raised: set[int]) -> None:
    assert rises(WorldRig(), change) == raised


def test_a_watch_that_does_not_look_raises_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LayoutWatch, "look", lambda _self: None)
    assert rises(WorldRig(), "resize") == set()


# -- events ---------------------------------------------------------------------------------------


class FakeChecks:
    """Keeps what is asked for."""

    def __init__(self) -> None:
        self.wanted: list[Then] = []
        self.full = False

    def want(self, _ref: Ref, then: Then) -> None:
        if self.full:
            raise Refusal(cast("Any", "RESOURCE_LIMIT"), "full")
        self.wanted.append(then)


class EventRig:
    """Events of a service, and those of its native lane."""

    def __init__(self) -> None:
        self.world = FakeWorld()
        if self.world.mine is not None:
            record = replace(OWN_RECORD, owner_uid=ME.unix_uid)
            self.world.mine = replace(self.world.mine, record=record)
        self.leases = LeaseCache()
        self.checks = FakeChecks()
        self.now_ms = 1_000_000
        self.main = Events(wall_ms=lambda: 1, is_open=lambda: True)
        self.events = NativeEvents(
            self.main,
            self.world,
            self.leases,
            cast("LeaseChecks", self.checks),
            now_ms=lambda: self.now_ms,
        )
        self.sent: list[tuple[str, Mapping[str, object]]] = []
        self.rings = 0
        self.events.on_news = self._ring

    def _ring(self) -> None:
        self.rings += 1

    def begin(self, principal: Who = ME, **own: object) -> None:
        rig = Rig(world=self.world, leases=self.leases, now_ms=self.now_ms)
        ask = Ask(principal, "term.events", encoded({**body_for("term.events"), **own}))
        decision = rig.again(ask)
        if not isinstance(decision, Go):
            rig.lease(cast("Any", decision))
            decision = rig.again(ask)
        assert isinstance(decision, Go), decision
        self.events.begin(decision)

    def deliver(self) -> list[object]:
        """What is sent now, by kind."""
        before = len(self.sent)

        def send(connection: str, body: Mapping[str, object]) -> bool:
            self.sent.append((connection, body))
            return True

        self.left = self.events.deliver(send, 64, 4)
        return [body["kind"] for _, body in self.sent[before:]]


def shell() -> Any:  # noqa: ANN401
    return replace(child(1, 1), unix_uid=ME.unix_uid)


def test_only_events_of_the_target_are_told_and_of_no_other_pane() -> None:
    rig = EventRig()
    rig.begin(kinds=["layout", "bell"])
    rig.main.publish("bell", 2)
    rig.main.publish("layout", 2, panes=frozenset({1, 2, 3}))
    assert rig.deliver() == ["layout"]
    ((connection, body),) = rig.sent
    assert connection == ME.connection_id
    assert "panes" not in body
    assert cast("Any", body["target"])["pane_id"] == "1"
    assert rig.main.wanted("bell", 1), "what is wanted natively is wanted"
    assert not rig.main.wanted("bell", 2)


@pytest.mark.parametrize("what", ["strict", "generation", "gone", "another record"])
def test_who_may_not_read_any_more_is_told_nothing_and_forgotten(what: str) -> None:
    rig = EventRig()
    rig.begin()
    rig.main.publish("prompt", 1)
    assert rig.world.mine is not None
    if what == "strict":
        rig.world.stance = Posture.STRICT
        record = replace(rig.world.mine.record, policy="restricted")
        rig.world.mine = replace(rig.world.mine, record=record)
    elif what == "generation":
        rig.world.facts[1] = PaneFacts(2, ready=True, tab=1)
    elif what == "gone":
        del rig.world.facts[1]
    else:
        record = replace(rig.world.mine.record, incarnation="f" * 32)
        rig.world.mine = replace(rig.world.mine, record=record)
    assert rig.deliver() == []
    assert rig.events.statistics()["subscriptions"] == 0


@pytest.mark.parametrize("what", ["down", "no record", "not ready"])
def test_what_is_over_for_a_moment_is_told_afterwards(what: str) -> None:
    rig = EventRig()
    rig.begin()
    rig.main.publish("prompt", 1)
    mine = rig.world.mine
    rig.world.up = what != "down"
    rig.world.mine = None if what == "no record" else mine
    rig.world.facts[1] = PaneFacts(1, ready=what != "not ready", tab=1)
    assert rig.deliver() == []
    rig.world.up, rig.world.mine = True, mine
    rig.world.facts[1] = PaneFacts(1, ready=True, tab=1)
    assert rig.deliver() == ["prompt"]


def test_the_end_of_a_program_is_told() -> None:
    rig = EventRig()
    rig.begin(kinds=["exit"])
    rig.world.facts[1] = PaneFacts(1, ready=False, tab=1, ended=True)
    rig.main.publish("exit", 1)
    assert rig.deliver() == ["exit"]


def test_a_bound_callers_lease_is_checked_before_it_is_told_more() -> None:
    rig = EventRig()
    rig.world.stance = Posture.STRICT
    rig.begin(shell())
    rig.main.publish("prompt", 1)
    assert rig.deliver() == ["prompt"]
    rig.now_ms += 5_000
    assert rig.deliver() == []
    assert rig.checks.wanted == [], "nothing is due"
    rig.main.publish("prompt", 1)
    assert rig.deliver() == []
    assert rig.left is Left.NOTHING, "it is not asked again and again"
    rig.main.publish("prompt", 1)
    assert rig.deliver() == []
    (then,) = rig.checks.wanted
    check = rig.leases.begin(Ref("b" * 32, "8" * 32, 1), rig.now_ms)
    rig.leases.put(check, 10_000)
    before = rig.rings
    then(True)
    assert rig.rings > before
    assert rig.deliver() == ["prompt", "prompt"]


def test_a_bound_caller_whose_lease_is_over_is_forgotten() -> None:
    rig = EventRig()
    rig.world.stance = Posture.STRICT
    rig.begin(shell())
    rig.now_ms += 5_000
    rig.main.publish("prompt", 1)
    rig.deliver()
    (then,) = rig.checks.wanted
    then(False)
    assert rig.events.statistics()["subscriptions"] == 0


def test_without_room_for_a_check_the_next_event_asks_again() -> None:
    rig = EventRig()
    rig.world.stance = Posture.STRICT
    rig.begin(shell())
    rig.now_ms += 5_000
    rig.checks.full = True
    rig.main.publish("prompt", 1)
    assert rig.deliver() == []
    rig.checks.full = False
    assert rig.deliver() == []
    assert len(rig.checks.wanted) == 1


def test_events_that_ask_no_right_would_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guard that the tests above are about, taken out."""
    monkeypatch.setattr(NativeEvents, "_right", lambda *_: Right.HOLDS)
    rig = EventRig()
    rig.begin()
    rig.main.publish("prompt", 1)
    rig.world.mine = None
    assert rig.deliver() == ["prompt"]


def test_another_user_gets_no_events() -> None:
    rig = EventRig()
    with pytest.raises(Refusal) as refused:
        rig.begin(replace(ME, unix_uid=(ME.unix_uid or 0) + 1))
    assert refused.value.details["reason"] == "other_user"


def test_a_connection_may_be_told_of_several_panes() -> None:
    rig = EventRig()
    rig.begin()
    two = {**cast("dict[str, Any]", body_for("term.events")["target"]), "pane_id": "2"}
    rig.begin(target={**two, "pane_generation": "2"})
    assert rig.events.statistics()["subscriptions"] == 2
    rig.begin(stop=True)
    assert rig.events.statistics()["subscriptions"] == 1


# -- notices --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "generation", "trusted"),
    [
        ("attached", 1, True),
        ("attached", 2, False),
        ("suspended", 1, False),
        ("revoked", 1, False),
        ("suspended", 0, True),
    ],
)
def test_a_notice_ends_trust_in_what_it_is_about(
    state: str, generation: int, trusted: bool
) -> None:
    leases, ended, rechecked = LeaseCache(), list[str](), list[int]()
    ref = Ref("b" * 32, "8" * 32, 1)
    leases.put(leases.begin(ref, 0), 10_000)
    lane = SimpleNamespace(
        parts=SimpleNamespace(
            leases=leases, ledger=SimpleNamespace(ended=lambda key, _now: ended.append(key))
        ),
        _clock=lambda: 0.0,
        _recheck=lambda: rechecked.append(1),
    )
    notice = LifecycleNotice(replace_generation(ref, generation), state)
    NativeService.noticed(cast("NativeService", lane), notice)
    assert (leases.get(ref, 1) is not None) is trusted
    assert ended == ([ref.record_id] if state == "revoked" else [])
    assert rechecked == [1]
    NativeService.gapped(cast("NativeService", lane))
    assert leases.get(ref, 1) is None


def replace_generation(ref: Ref, generation: int) -> Ref:
    return Ref(ref.record_id, ref.incarnation, generation)
