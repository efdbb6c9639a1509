"""The enforcement fixtures of commands at a pane's prompt, over real services and real shells.

Every fixture is run once as it is, and once without each guard that it is about: there it must
fail, in the place where that must be seen.
"""

from __future__ import annotations

import re
from typing import Final

import pytest

from tests.support.stage_d.admitting import p0j_d_admits_with_echo_and_structured_result
from tests.support.stage_d.cancelling import p0j_d_cancellation_resolves_the_exact_operation
from tests.support.stage_d.forwarding import (
    p0j_d_execute_forwards_under_the_callers_own_name_and_ids,
)
from tests.support.stage_d.judging import must_fail
from tests.support.stage_d.lab import Fixture, pane_lab
from tests.support.stage_d.reporting import p0j_d_capability_report_and_unauthorised
from tests.support.stage_d.signals import p0j_d_signal_does_not_reach_the_next
from tests.support.stage_d.states import (
    p0j_d_refuses_every_ineligible_state_without_discarding,
)
from tests.support.stage_d.unsupported import p0j_d_unsupported_not_busy_without_editor

pytestmark = pytest.mark.gate

FIXTURES: Final[tuple[Fixture, ...]] = (
    p0j_d_admits_with_echo_and_structured_result,
    p0j_d_cancellation_resolves_the_exact_operation,
    p0j_d_capability_report_and_unauthorised,
    p0j_d_execute_forwards_under_the_callers_own_name_and_ids,
    p0j_d_refuses_every_ineligible_state_without_discarding,
    p0j_d_signal_does_not_reach_the_next,
    p0j_d_unsupported_not_busy_without_editor,
)

COUNT: Final = 7

_FORWARDS: Final = p0j_d_execute_forwards_under_the_callers_own_name_and_ids
_STATES: Final = p0j_d_refuses_every_ineligible_state_without_discarding

WITHOUT: Final[tuple[tuple[Fixture, str, str], ...]] = (
    (p0j_d_admits_with_echo_and_structured_result, "announcement", "_announced"),
    (p0j_d_admits_with_echo_and_structured_result, "retries", "_a_retry_is_the_same"),
    (p0j_d_cancellation_resolves_the_exact_operation, "owners", "_program"),
    (p0j_d_capability_report_and_unauthorised, "authority", "_denied"),
    (_FORWARDS, "own_ids", "accepted"),
    (_FORWARDS, "own_operations", "_theirs_alone"),
    (_FORWARDS, "originator", "_shown"),
    (_STATES, "human+draft", "_draft"),
    (_STATES, "generation", "_another_prompt"),
    (p0j_d_signal_does_not_reach_the_next, "over", "_late"),
    (p0j_d_unsupported_not_busy_without_editor, "editor", "_unsupported"),
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
    defined = {name for name in globals() if re.match("p0j_d_", name)}
    assert defined == {fixture.__name__ for fixture in FIXTURES}
    assert {fixture for fixture, _, _ in WITHOUT} == set(FIXTURES)
