"""Pacing: slices fit the engine's speed, and flooding panes share one turn."""

from __future__ import annotations

from termnode.terminal.pacing import (
    MAX_SLEEP,
    MAX_SLICE,
    MIN_SLICE,
    TURN,
    FloodShare,
    Pacer,
)


def settle(pacer: Pacer, bytes_per_second: float) -> None:
    for _ in range(40):
        pacer.fed(pacer.slice, pacer.slice / bytes_per_second)


def test_the_slice_of_a_slow_engine_takes_about_a_turn() -> None:
    pacer = Pacer(FloodShare())
    settle(pacer, 5_000_000)
    assert 0.5 * TURN <= pacer.slice / 5_000_000 <= 1.5 * TURN


def test_the_slice_stays_within_its_bounds() -> None:
    pacer = Pacer(FloodShare())
    settle(pacer, 1e12)
    assert pacer.slice >= MAX_SLICE - 1
    settle(pacer, 1.0)
    assert pacer.slice == MIN_SLICE
    pacer.fed(MAX_SLICE, 0.0)
    assert pacer.slice <= MAX_SLICE


def test_small_reads_do_not_change_the_slice() -> None:
    pacer = Pacer(FloodShare())
    before = pacer.slice
    pacer.fed(10, 1.0)
    assert pacer.slice == before


def test_flooding_panes_share_one_turn() -> None:
    share = FloodShare()
    panes = [Pacer(share) for _ in range(4)]
    for pane in panes:
        pane.flooding(True)
        pane.flooding(True)
    assert share.budget == TURN / 4
    assert panes[0].turn_over(TURN / 4)
    for pane in panes:
        pane.flooding(False)
    assert share.active == 0
    assert not panes[0].turn_over(TURN / 4)


def test_a_pane_sleeps_only_for_what_was_too_much() -> None:
    pacer = Pacer(FloodShare())
    assert pacer.rest(TURN) == 0.0
    assert 0.0 < pacer.rest(4 * TURN) < 4 * TURN
    assert pacer.rest(60.0) == MAX_SLEEP
