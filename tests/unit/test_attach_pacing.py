"""Frames: the first at once, never more than 60 a second on average."""

from __future__ import annotations

import pytest

from termnode.attach.pacing import FRAME_S, Pacing


def _drawn(pacing: Pacing, until: float, step: float) -> list[float]:
    """When frames are drawn by something that always has one."""
    times, ticks = [], int(until / step)
    for tick in range(ticks):
        now = tick * step
        if pacing.wait(now) == 0.0:
            pacing.drawn(now)
            times.append(now)
    return times


def test_the_first_change_after_a_while_is_drawn_at_once() -> None:
    pacing = Pacing()
    for now in (100.0, 100.0 + 2 * FRAME_S, 150.0):
        assert pacing.wait(now) == 0.0
        pacing.drawn(now)


@pytest.mark.parametrize("step", [0.0001, 0.001, 0.009])
def test_never_more_than_sixty_a_second(step: float) -> None:
    assert 40 * 10 <= len(_drawn(Pacing(), 10.0, step)) <= 60 * 10 + 2


def test_a_beat_of_sixty_is_kept_although_it_is_uneven() -> None:
    pacing = Pacing()
    for number in range(600):
        now = number * FRAME_S + (0.006 if number % 2 else 0.0)
        assert pacing.wait(now) == 0.0
        pacing.drawn(now)


def test_the_wait_that_is_told_is_enough() -> None:
    pacing, now = Pacing(), 5.0
    for _ in range(100):
        now += pacing.wait(now)
        assert pacing.wait(now) <= 1e-9
        pacing.drawn(now)


class _Without(Pacing):
    """A pacing that forgets what was drawn."""

    def drawn(self, now: float) -> None:
        pass


def test_the_check_sees_too_many_frames() -> None:
    assert len(_drawn(_Without(), 10.0, 0.001)) > 602
