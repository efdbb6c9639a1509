"""Children of a Term: granted, lost, granted again, revoked; against a small broker of its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from brokerd.client import Ref
from termnode.service.identity.asking import MAX_REVOKES, RECONCILE_PAUSE_S, Asking
from termnode.service.identity.child import Child, Stage
from termnode.service.identity.effects import Mint, Reconcile
from termnode.service.identity.schedule import RESTARTS
from tests.support.identity_lab import Lab


def test_a_pane_is_ready_once_the_broker_says_that_its_shell_is_attached() -> None:
    lab = Lab()
    pane = lab.open()
    assert lab.children.binding(pane) is not None
    lab.advance(0.2)
    assert lab.child(pane).launched
    assert not lab.children.control_ready(pane)
    lab.children.shell_said(lab.child(pane), "all is well", unbound=False)
    assert not lab.children.control_ready(pane), "the pane shell's own word opens nothing"
    lab.enrol(pane)
    assert lab.children.control_ready(pane)
    binding = lab.children.binding(pane)
    assert binding is not None
    assert (binding.state, binding.generation) == ("attached", 1)


def test_the_bundle_made_ahead_serves_the_next_pane_without_a_call() -> None:
    lab = Lab()
    assert lab.mints(1) == [1]
    lab.calls.clear()
    pane = lab.open()
    lab.advance(0.16)
    assert lab.child(pane).generation == 1
    assert [call.pane for call in lab.calls if isinstance(call, Mint)] == [pane + 1]


def test_a_bundle_too_old_is_not_handed_out_but_made_again_and_the_old_one_revoked() -> None:
    lab = Lab()
    lab.advance(18.5)
    assert lab.mints(1) == [1, 2]
    assert len(lab.broker.of_pane(1)) == 1
    assert lab.opened() == 1
    binding = lab.children.binding(1)
    assert binding is not None
    assert binding.generation == 2


def test_bundles_are_made_only_while_somebody_uses_the_terminal() -> None:
    lab = Lab()
    lab.advance(400.0)
    made = len(lab.broker.minted)
    lab.advance(400.0)
    assert len(lab.broker.minted) == made
    assert lab.asking.provision.idle(lab.now)
    lab.asking.provision.active(lab.now)
    lab.settle()
    assert len(lab.broker.minted) == made + 1


def test_a_pane_shell_waits_for_the_first_output_and_for_a_moment_without_new_panes() -> None:
    lab = Lab()
    lab.children.pane_started(1, lab.now)
    lab.last_pane = 1
    lab.advance(0.9)
    assert lab.running == [], "nothing was shown yet"
    lab.advance(0.1)
    assert len(lab.running) == 1, "but not for ever"
    for _ in range(10):
        lab.open()
        lab.advance(0.14)
    assert len(lab.running) == 1, "somebody opens one pane after the other"
    lab.advance(0.01)
    assert len(lab.running) == 11
    for _ in range(30):
        lab.open()
        lab.advance(0.14)
    assert len(lab.running) > 11, "but not for ever"


def test_without_a_zygote_no_grant_is_used_up() -> None:
    lab = Lab()
    lab.children.launching(possible=False)
    lab.last_pane = 6
    lab.children.pane_started(6, lab.now)
    lab.advance(100.0)
    assert lab.mints(6) == []
    binding = lab.children.binding(6)
    assert binding is not None
    assert binding.reason == "pane shells cannot be started now"
    lab.children.launching(possible=True)
    lab.advance(1.0)
    assert lab.mints(6) == [1]
    lab.enrol(6)


def test_a_start_that_failed_is_tried_again_with_another_grant_once_the_first_is_old() -> None:
    lab = Lab()
    lab.fork_fails = "no process is left"
    pane = lab.open()
    lab.advance(1.0)
    binding = lab.children.binding(pane)
    assert binding is not None
    assert (binding.state, binding.reason) == ("waiting", "no process is left")
    lab.advance(300.0)
    assert len(lab.mints(pane)) <= 6, "not more than one a minute"
    lab.fork_fails = ""
    while not lab.running:
        lab.advance(1.0)
    assert lab.now < 1_000.0 + 301.0 + 61.0
    lab.enrol(pane)
    assert len(lab.broker.of_pane(pane)) == 1


def test_a_grant_that_was_never_used_is_not_made_again() -> None:
    lab = Lab()
    pane = lab.open()
    lab.advance(3_600.0)
    assert lab.mints(pane) == [1]
    binding = lab.children.binding(pane)
    assert binding is not None
    assert binding.state == "lost"
    assert "in time" in binding.reason
    lab.asking.gap(lab.now)
    lab.advance(3_600.0)
    assert lab.mints(pane) == [1], "not even after a gap"


def test_a_child_that_had_enrolled_is_granted_again_with_its_key_ever_more_rarely() -> None:
    lab = Lab()
    pane = lab.opened()
    key = lab.child(pane).key
    lab.advance(100.0)
    record = lab.child(pane).record
    assert record is not None
    lab.broker.set(record.record_id, "revoked")
    lab.broker.minted.clear()
    begin = lab.now
    lab.advance(4_000.0)
    mine = [(at - begin, used) for at, at_pane, _, used in lab.broker.minted if at_pane == pane]
    assert [round(at) for at, _ in mine] == [0, 120, 360, 840]
    assert {used for _, used in mine} == {key.public_key}
    lab.asking.gap(lab.now)
    lab.advance(1.0)
    assert len(lab.mints(pane)) == 5, "a gap gives it another chance"
    lab.enrol(pane)
    assert lab.children.control_ready(pane)


def test_two_grants_of_a_child_are_a_minute_apart() -> None:
    lab = Lab()
    pane = lab.opened()
    for _ in range(3):
        record = lab.child(pane).record
        assert record is not None
        lab.broker.set(record.record_id, "revoked")
        before = len(lab.mints(pane))
        lab.advance(55.0)
        assert len(lab.mints(pane)) == before
        lab.advance(6.0)
        assert len(lab.mints(pane)) == before + 1
        lab.enrol(pane)


def test_after_a_broker_restart_every_child_is_granted_at_once_with_its_key() -> None:
    lab = Lab()
    panes = [lab.opened() for _ in range(5)]
    keys = {pane: lab.child(pane).key.public_key for pane in panes}
    lab.asking.authority(None, lab.now)
    lab.new_broker()
    for pane in panes:
        assert not lab.children.control_ready(pane)
        record = lab.child(pane).record
        assert record is not None
        assert lab.broker.keys[record.record_id] == keys[pane]
        lab.enrol(pane)
        binding = lab.children.binding(pane)
        assert binding is not None
        assert binding.generation == 2
    assert all(map(lab.children.control_ready, panes))
    assert len(lab.running) == 5


def test_a_parent_that_is_back_compares_before_it_believes_anything() -> None:
    lab = Lab()
    first, second, third = (lab.opened() for _ in range(3))
    lab.asking.authority(None, lab.now)
    for pane, state in ((first, "suspended"), (second, "revoked")):
        record = lab.child(pane).record
        assert record is not None
        lab.broker.set(record.record_id, state)
    lab.broker.notices.clear()  # nobody was there to hear them
    lab.asking.authority(lab.broker.parent, lab.now)
    lab.settle()
    assert isinstance(lab.calls[-1], Reconcile)
    ready = [lab.children.control_ready(pane) for pane in (first, second, third)]
    assert ready == [False, False, True]
    lab.enrol(first)
    assert lab.children.control_ready(first)


def test_after_missed_notices_no_pane_is_ready_until_the_broker_was_asked() -> None:
    lab = Lab()
    pane, lost = lab.opened(), lab.opened()
    record = lab.child(lost).record
    assert record is not None
    lab.broker.set(record.record_id, "revoked")
    lab.broker.notices.clear()
    lab.asking.authority(None, lab.now)
    lab.asking.gap(lab.now)
    lab.asking.authority(lab.broker.parent, lab.now)  # renewed, as after every gap
    call = lab.asking.next_call(lab.last_pane + 1, lab.now)
    assert isinstance(call, Reconcile)
    assert not any(map(lab.children.control_ready, (pane, lost)))
    lab.asking.reconciled(call, None, lab.now)
    assert lab.asking.next_call(lab.last_pane + 1, lab.now) is None, "not again at once"
    assert lab.children.wait(lab.last_pane + 1, lab.now) == RECONCILE_PAUSE_S
    assert not any(map(lab.children.control_ready, (pane, lost)))
    lab.advance(RECONCILE_PAUSE_S)
    assert [lab.children.control_ready(each) for each in (pane, lost)] == [True, False]


def test_a_list_older_than_a_notice_opens_nothing() -> None:
    lab = Lab()
    pane = lab.opened()
    lab.asking.gap(lab.now)
    call = lab.asking.next_call(lab.last_pane + 1, lab.now)
    assert isinstance(call, Reconcile)
    old = list(lab.broker.records.values())
    record = lab.child(pane).record
    assert record is not None
    lab.broker.set(record.record_id, "revoked")
    lab.deliver()
    lab.asking.reconciled(call, old, lab.now)
    assert lab.child(pane).stage is Stage.LOST


def test_strangers_whose_records_change_do_not_keep_the_table_from_its_work() -> None:
    """Whoever sent this Term something is told of too."""
    lab = Lab()
    pane = lab.opened()
    lab.asking.gap(lab.now)
    call = lab.asking.next_call(lab.last_pane + 1, lab.now)
    assert isinstance(call, Reconcile)
    lab.asking.notice(Ref("9" * 32, "8" * 32, 7), "attached", lab.now)
    lab.asking.reconciled(call, list(lab.broker.records.values()), lab.now)
    assert lab.children.control_ready(pane)
    assert not isinstance(lab.asking.next_call(lab.last_pane + 1, lab.now), Reconcile)


def _granting(lab: Lab) -> tuple[int, Mint]:
    """A pane whose record was revoked, and the grant that is asked for then."""
    pane = lab.opened()
    lab.advance(100.0)
    record = lab.child(pane).record
    assert record is not None
    lab.broker.set(record.record_id, "revoked")
    lab.deliver()
    call = lab.asking.next_call(lab.last_pane + 1, lab.now)
    assert isinstance(call, Mint)
    return pane, call


def test_a_notice_that_overtakes_its_grant_is_not_lost() -> None:
    lab = Lab()
    pane, call = _granting(lab)
    made = lab.broker.grant(call, lab.now)
    assert not isinstance(made, str)
    lab.broker.set(made[1].record_id, "attached")
    lab.deliver()
    lab.asking.minted(call, *made, lab.now)
    lab.settle()
    assert lab.children.control_ready(pane)


def test_a_grant_that_is_told_of_before_its_answer_asks_for_no_list() -> None:
    lab = Lab()
    _, call = _granting(lab)
    made = lab.broker.grant(call, lab.now)
    assert not isinstance(made, str)
    lab.asking.notice(made[1].ref, "pending", lab.now)
    lab.asking.minted(call, *made, lab.now)
    assert not isinstance(lab.asking.next_call(lab.last_pane + 1, lab.now), Reconcile)


def test_a_list_older_than_a_notice_is_asked_for_again() -> None:
    lab = Lab()
    pane = lab.opened()
    lab.asking.gap(lab.now)
    call = lab.asking.next_call(lab.last_pane + 1, lab.now)
    assert isinstance(call, Reconcile)
    old = list(lab.broker.records.values())
    record = lab.child(pane).record
    assert record is not None
    lab.broker.set(record.record_id, "suspended")
    lab.deliver()
    lab.asking.reconciled(call, old, lab.now)
    lab.settle()
    assert not lab.children.control_ready(pane)


def test_a_grant_for_a_pane_that_went_meanwhile_is_revoked() -> None:
    lab = Lab()
    lab.asking.provision.replace(None)
    lab.children.pane_started(1, lab.now)
    lab.last_pane = 1
    lab.now += 1.0
    call = lab.asking.next_call(2, lab.now)
    assert isinstance(call, Mint)
    assert call.child is not None
    made = lab.broker.grant(call, lab.now)
    assert not isinstance(made, str)
    lab.children.pane_gone(1)
    lab.asking.minted(call, *made, lab.now)
    lab.settle()
    assert made[1].record_id not in lab.broker.records


def test_a_closed_pane_ends_its_shell_and_its_record() -> None:
    lab = Lab()
    pane = lab.opened()
    lab.children.pane_gone(pane)
    lab.settle()
    assert lab.running == []
    assert lab.broker.of_pane(pane) == []
    assert lab.children.binding(pane) is None


def test_a_program_started_anew_gets_another_key_and_generation() -> None:
    lab = Lab()
    pane = lab.opened()
    key = lab.child(pane).key
    lab.children.program_ended(pane)
    lab.settle()
    assert lab.running == []
    binding = lab.children.binding(pane)
    assert binding is not None
    assert binding.state == "over"
    lab.children.pane_started(pane, lab.now)
    lab.advance(1.0)
    assert lab.child(pane).key != key
    lab.enrol(pane)
    assert lab.child(pane).generation == 2
    assert len(lab.broker.of_pane(pane)) == 1


def test_a_pane_shell_that_ends_is_started_again_with_a_fresh_key_and_then_given_up() -> None:
    lab = Lab()
    pane = lab.opened()
    keys = set()
    for times in range(RESTARTS):
        child = lab.child(pane)
        keys.add(child.key.public_key)
        lab.end(child)
        assert not lab.children.control_ready(pane)
        lab.advance(float(1 << times))
        lab.enrol(pane)
        assert lab.children.control_ready(pane)
        assert lab.child(pane).generation == times + 2
        assert len(lab.broker.of_pane(pane)) == 1
    assert len(keys) == RESTARTS
    lab.end(lab.child(pane))
    lab.advance(3_600.0)
    assert lab.running == []
    binding = lab.children.binding(pane)
    assert binding is not None
    assert binding.state == "unbound"
    assert lab.broker.of_pane(pane) == []


def test_a_refused_grant_is_tried_again_after_a_pause_and_says_why() -> None:
    lab = Lab()
    lab.broker.refuse = "grant_limit"
    lab.asking.provision.replace(None)
    pane = lab.open()
    lab.advance(1.0)
    calls = len(lab.calls)
    lab.advance(10.0)
    assert len(lab.calls) - calls <= 4 + 11, "its own tries and those for the bundle"
    binding = lab.children.binding(pane)
    assert binding is not None
    assert binding.reason == "grant_limit"
    lab.broker.refuse = ""
    lab.advance(10.0)
    lab.enrol(pane)


def test_revocations_that_wait_are_bounded() -> None:
    lab = Lab()
    panes = [lab.opened() for _ in range(3)]
    lab.asking.authority(None, lab.now)
    for _ in range(200):
        lab.children.pane_gone(panes[0])
        lab.children.pane_started(panes[0], lab.now)
        child = Child(panes[0], lab.now, stage=Stage.GRANTED)
        child.record = lab.child(panes[1]).record
        lab.asking.revoke(child)
    assert len(lab.asking.refs()) <= MAX_REVOKES + len(panes)


def _deaf(self: Asking, target: Ref, state: str, now: float) -> None:
    """Hears of nothing."""


def _credulous(self: Child, state: str, binding: int, now: float) -> None:
    """Believes an older binding."""
    self.bound = binding
    self.stage = Stage(state) if state in {"attached", "suspended"} else Stage.LOST


def _endless(self: Child, now: float) -> None:
    """Mints for those who never came."""
    self.stage, self.enrolled = Stage.LOST, True
    self.mint_at = now


@pytest.mark.parametrize(
    ("owner", "name", "broken", "check"),
    [
        (Asking, "notice", _deaf, test_a_closed_pane_ends_its_shell_and_its_record),
        (Child, "_lost", _endless, test_a_grant_that_was_never_used_is_not_made_again),
        (
            Child,
            "rearmed",
            _endless,
            test_a_parent_that_is_back_compares_before_it_believes_anything,
        ),
    ],
)
def test_the_checks_can_fail(
    monkeypatch: pytest.MonkeyPatch,
    owner: type,
    name: str,
    broken: Callable[..., None],
    check: Callable[[], None],
) -> None:
    monkeypatch.setattr(owner, name, broken)
    with pytest.raises(AssertionError):
        check()


def test_what_is_told_of_an_older_binding_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    def ready_after_an_old_word() -> bool:
        lab = Lab()
        pane = lab.opened()
        record = lab.child(pane).record
        assert record is not None
        lab.broker.set(record.record_id, "suspended")
        old = lab.broker.records[record.record_id].ref
        lab.broker.set(record.record_id, "attached")
        lab.deliver()
        lab.asking.notice(old, "suspended", lab.now)
        return lab.children.control_ready(pane)

    assert ready_after_an_old_word()
    monkeypatch.setattr(Child, "told", _credulous)
    assert not ready_after_an_old_word()
