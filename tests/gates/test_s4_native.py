"""The enforcement fixtures of native control, over a real broker, service and pane shells.

Every fixture is run once as it is, and once against a service without the guard that it is about:
there it must fail.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Final

import pytest

from tests.support import raw_bus, termnode_process, zmtp
from tests.support.s4.affected import p0i_07_affected_set_and_live_generation_authority
from tests.support.s4.capabilities import p0i_07_capability_separation_and_bound_termination
from tests.support.s4.churn import p0i_07_actor_table_survives_reconnect_churn
from tests.support.s4.guards import GUARDS
from tests.support.s4.lab import Fixture, Lab, lab_of
from tests.support.s4.launches import p0i_10_launch_failures_reach_real_recipient_denial
from tests.support.s4.leases import (
    p0i_08_lease_window_refresh_and_successor_binding_invalidation,
)
from tests.support.s4.lifetimes import p0i_08_child_pane_term_and_broker_lifetime
from tests.support.s4.observation import p0i_09_real_payload_tap_observe_and_logs
from tests.support.s4.outage import p0i_10_parent_bootstrap_outage_has_only_diagnostic_lane
from tests.support.s4.policies import p0i_07_real_recipient_both_policies
from tests.support.s4.production import p0i_01_production_child_proof
from tests.support.s4.queued import p0i_08_queued_input_human_revoke_and_deadline
from tests.support.s4.retries import p0i_07_owner_mutations_and_retired_retries
from tests.support.s4.stale import (
    p0i_08_stale_cleanup_and_private_event_connection_guard,
)
from tests.support.s4.tcp import p0i_10_real_tcp_fallback_is_control_free
from tests.support.s4.unbound import p0i_10_unbound_pane_has_no_control
from tests.support.s4.users import p0i_07_other_uid_both_policies
from tests.support.zmtp import Dropped

pytestmark = pytest.mark.gate

FIXTURES: Final[tuple[Fixture, ...]] = (
    p0i_01_production_child_proof,
    p0i_07_actor_table_survives_reconnect_churn,
    p0i_07_affected_set_and_live_generation_authority,
    p0i_07_capability_separation_and_bound_termination,
    p0i_07_other_uid_both_policies,
    p0i_07_owner_mutations_and_retired_retries,
    p0i_07_real_recipient_both_policies,
    p0i_08_child_pane_term_and_broker_lifetime,
    p0i_08_lease_window_refresh_and_successor_binding_invalidation,
    p0i_08_queued_input_human_revoke_and_deadline,
    p0i_08_stale_cleanup_and_private_event_connection_guard,
    p0i_09_real_payload_tap_observe_and_logs,
    p0i_10_launch_failures_reach_real_recipient_denial,
    p0i_10_parent_bootstrap_outage_has_only_diagnostic_lane,
    p0i_10_real_tcp_fallback_is_control_free,
    p0i_10_unbound_pane_has_no_control,
)

COUNT: Final = 16

_LEASES: Final = p0i_08_lease_window_refresh_and_successor_binding_invalidation

WITHOUT: Final[tuple[tuple[Fixture, str, str], ...]] = (
    (p0i_01_production_child_proof, "proof", "_killed"),
    (p0i_07_actor_table_survives_reconnect_churn, "room", "survives_reconnect_churn"),
    (p0i_07_actor_table_survives_reconnect_churn, "marks", "_not_again/refused"),
    (p0i_07_affected_set_and_live_generation_authority, "affected", "_must_be_named/denied"),
    (p0i_07_affected_set_and_live_generation_authority, "generation", "_live_generations/denied"),
    (p0i_07_capability_separation_and_bound_termination, "capability", "_just_that/denied"),
    (p0i_07_capability_separation_and_bound_termination, "scope", "_nowhere_else/denied"),
    (p0i_07_other_uid_both_policies, "users", "_denied_everything"),
    (p0i_07_owner_mutations_and_retired_retries, "retries", "_mutate/once"),
    (p0i_07_owner_mutations_and_retired_retries, "ageing", "retire"),
    (p0i_07_real_recipient_both_policies, "policy", "_has_nothing/denied"),
    (p0i_08_child_pane_term_and_broker_lifetime, "incarnation", "_broker_bounce/denied"),
    (p0i_08_child_pane_term_and_broker_lifetime, "ready", "_child_exit"),
    (_LEASES, "lease", "_window/good"),
    (_LEASES, "writer", "_successor/keeps_out"),
    (_LEASES, "successor", "_successor/typed"),
    (p0i_08_queued_input_human_revoke_and_deadline, "person", "_person"),
    (p0i_08_queued_input_human_revoke_and_deadline, "deadline", "_deadline/_sound"),
    (p0i_08_stale_cleanup_and_private_event_connection_guard, "private", "_told_alone"),
    (p0i_09_real_payload_tap_observe_and_logs, "logs", "tap_observe_and_logs"),
    (p0i_10_launch_failures_reach_real_recipient_denial, "ready", "every_verb_denied/denied"),
    (p0i_10_parent_bootstrap_outage_has_only_diagnostic_lane, "posture", "_diagnostic_only"),
    (p0i_10_real_tcp_fallback_is_control_free, "node", "_ask"),
    (p0i_10_unbound_pane_has_no_control, "ready", "every_verb_denied/denied"),
    (p0i_10_unbound_pane_has_no_control, "target", "_no_active_pane/refused"),
)  # fmt: skip
"""Fixtures, each with a guard without which it must fail, and where in it that must be seen."""

AS_ROOT: Final = {p0i_07_other_uid_both_policies}
"""These become another user."""


def _name(fixture: Fixture) -> str:
    return fixture.__name__


def _needs(fixture: Fixture) -> None:
    if fixture in AS_ROOT and os.geteuid() != 0:
        pytest.skip("needs root to become another user")


@pytest.mark.parametrize("fixture", FIXTURES, ids=_name)
def test_enforcement(fixture: Fixture) -> None:
    _needs(fixture)
    fixture(lab_of)


@pytest.mark.self_test
@pytest.mark.parametrize(
    ("fixture", "guard", "sees"), WITHOUT, ids=[f"{each[1]}-{_name(each[0])}" for each in WITHOUT]
)
def test_enforcement_can_fail(
    fixture: Fixture, guard: str, sees: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _needs(fixture)

    def without_its_guard(
        *broker: str, settings: Mapping[str, Any] = {}, **environment: str
    ) -> AbstractContextManager[Lab]:
        return lab_of(*broker, settings=settings, off=guard, **environment)

    # What never comes without the guard is not waited for as long as what must come with it.
    for module in (zmtp, raw_bus):
        monkeypatch.setattr(module, "PATIENCE", 8.0)
    monkeypatch.setattr(termnode_process, "DEADLINE_S", 15.0)
    with pytest.raises((AssertionError, TimeoutError, Dropped)) as failed:
        fixture(without_its_guard)
    inside = [entry.name for entry in failed.traceback if "/s4/" in str(entry.path)]
    assert "/".join(inside).endswith(sees), inside


def test_the_fixtures_are_these() -> None:
    """A filter that matches nothing passes: so what there is, is counted and named."""
    assert len(FIXTURES) == len(set(FIXTURES)) == COUNT
    defined = {name for name in globals() if re.match("p0i_[0-9]", name)}
    assert defined == {_name(fixture) for fixture in FIXTURES}
    assert {fixture for fixture, _, _ in WITHOUT} == set(FIXTURES)
    assert {guard for _, guard, _ in WITHOUT} == set(GUARDS)
