"""The enforcement fixtures of isolated tasks, over real services and real pane shells.

Every fixture is run once as it is, and once without each guard that it is about: there it must
fail, in the place where that must be seen.
"""

from __future__ import annotations

import re
from typing import Final

import pytest

from tests.support.p4.bounds import p4_bounds_reported_and_refusals_leave_no_trace
from tests.support.p4.forwarding import p4_task_forwards_with_kind_and_actor_scoping
from tests.support.p4.inheritance import p4_inherits_only_what_is_given
from tests.support.p4.modes import p4_both_modes_accurate_and_surfaces_separate
from tests.support.p4.survivors import p4_survivor_cannot_wedge
from tests.support.p4.termination import p4_termination_hard_and_outcome_names_policy
from tests.support.stage_d.judging import must_fail
from tests.support.stage_d.lab import Fixture, pane_lab

pytestmark = pytest.mark.gate

FIXTURES: Final[tuple[Fixture, ...]] = (
    p4_both_modes_accurate_and_surfaces_separate,
    p4_bounds_reported_and_refusals_leave_no_trace,
    p4_inherits_only_what_is_given,
    p4_survivor_cannot_wedge,
    p4_task_forwards_with_kind_and_actor_scoping,
    p4_termination_hard_and_outcome_names_policy,
)

COUNT: Final = 6

WITHOUT: Final[tuple[tuple[Fixture, str, str], ...]] = (
    (p4_both_modes_accurate_and_surfaces_separate, "families", "_surfaces"),
    (p4_both_modes_accurate_and_surfaces_separate, "owners", "_surfaces"),
    (p4_bounds_reported_and_refusals_leave_no_trace, "room", "_as_many_as_may"),
    (p4_bounds_reported_and_refusals_leave_no_trace, "retries", "_as_many_as_may"),
    (p4_inherits_only_what_is_given, "descriptors", "_argv"),
    (p4_inherits_only_what_is_given, "environment", "_argv"),
    (p4_survivor_cannot_wedge, "clearing", "_settles"),
    (p4_task_forwards_with_kind_and_actor_scoping, "own_ids", "_submitted"),
    (p4_task_forwards_with_kind_and_actor_scoping, "own_operations", "_theirs_alone"),
    (p4_termination_hard_and_outcome_names_policy, "escalation", "_timeout"),
)
"""Fixtures, each with what it must fail without, and the function of it that must see that."""


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture.__name__)
def test_enforcement(fixture: Fixture) -> None:
    fixture(pane_lab)


@pytest.mark.self_test
@pytest.mark.parametrize(
    ("fixture", "guard", "sees"), WITHOUT, ids=[f"{each[1]}-{each[0].__name__}" for each in WITHOUT]
)
def test_enforcement_can_fail(
    fixture: Fixture, guard: str, sees: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    must_fail(fixture, guard, sees, monkeypatch)


def test_the_fixtures_are_these() -> None:
    """A filter that matches nothing passes: so what there is, is counted and named."""
    assert len(FIXTURES) == len(set(FIXTURES)) == COUNT
    defined = {name for name in globals() if re.match("p4_", name)}
    assert defined == {fixture.__name__ for fixture in FIXTURES}
    assert {fixture for fixture, _, _ in WITHOUT} == set(FIXTURES)
