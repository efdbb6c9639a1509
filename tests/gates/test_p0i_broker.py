"""The broker's part of the enforcement fixtures p0i, against a real broker.

Every fixture is run once as it is, and once against a broker without the guard that it is about:
there it must fail.
"""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from typing import Final

import pytest

from tests.support import raw_bus, zmtp
from tests.support.broken_broker import GUARDS, LoggedBroker, logged_broker
from tests.support.p0i.binding import p0i_01_legitimate_binding
from tests.support.p0i.bounds import p0i_10_bootstrap_bounds
from tests.support.p0i.forgery import p0i_06_envelope_forgery
from tests.support.p0i.impostor import p0i_02_names_only_impostor
from tests.support.p0i.lab import Fixture
from tests.support.p0i.life import p0i_08_broker_part
from tests.support.p0i.observation import p0i_09_observation_confidentiality
from tests.support.p0i.owners import p0i_05_multi_owner_allocation
from tests.support.p0i.replay import p0i_04_replay_and_resumption
from tests.support.p0i.scope import p0i_03_wrong_scope
from tests.support.zmtp import Dropped

FIXTURES: Final[tuple[Fixture, ...]] = (
    p0i_01_legitimate_binding,
    p0i_02_names_only_impostor,
    p0i_03_wrong_scope,
    p0i_04_replay_and_resumption,
    p0i_05_multi_owner_allocation,
    p0i_06_envelope_forgery,
    p0i_08_broker_part,
    p0i_09_observation_confidentiality,
    p0i_10_bootstrap_bounds,
)

WITHOUT: Final[tuple[tuple[Fixture, str, str], ...]] = (
    (p0i_01_legitimate_binding, "stamps", "_stamp_says"),
    (p0i_02_names_only_impostor, "signatures", "denied"),
    (p0i_02_names_only_impostor, "reserved", "p0i_02_names_only_impostor"),
    (p0i_03_wrong_scope, "holder", "denied"),
    (p0i_04_replay_and_resumption, "once", "_proofs_count_once"),
    (p0i_04_replay_and_resumption, "nobody", "_heard_nothing_of"),
    (p0i_05_multi_owner_allocation, "owners", "p0i_05_multi_owner_allocation"),
    (p0i_06_envelope_forgery, "envelope", "p0i_06_envelope_forgery"),
    (p0i_08_broker_part, "lost", "_holders_that_die"),
    (p0i_08_broker_part, "ends", "_windows_that_end"),
    (p0i_09_observation_confidentiality, "payloads", "p0i_09_observation_confidentiality"),
    (p0i_09_observation_confidentiality, "classes", "_only_metadata"),
    (p0i_10_bootstrap_bounds, "bounds", "_sizes"),
)
"""Fixtures, each with a guard without which it must fail, and the function that must see it."""


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture.__name__)
def test_enforcement(fixture: Fixture) -> None:
    fixture(logged_broker)


@pytest.mark.self_test
@pytest.mark.parametrize(("fixture", "guard", "sees"), WITHOUT, ids=[each[1] for each in WITHOUT])
def test_enforcement_can_fail(
    fixture: Fixture, guard: str, sees: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_its_guard(*arguments: str) -> AbstractContextManager[LoggedBroker]:
        return logged_broker(*arguments, off=guard)

    # What never comes without the guard is not waited for as long as what must come with it.
    monkeypatch.setattr(zmtp, "PATIENCE", 6.0)
    monkeypatch.setattr(raw_bus, "PATIENCE", 6.0)
    with pytest.raises((AssertionError, TimeoutError, Dropped)) as failed:
        fixture(without_its_guard)
    inside = [entry.name for entry in failed.traceback if "/p0i/" in str(entry.path)]
    assert inside[-1] == sees


def test_the_fixtures_are_these() -> None:
    """A filter that matches nothing passes: so what there is, is counted."""
    numbers = [fixture.__name__.split("_")[1] for fixture in FIXTURES]
    assert numbers == ["01", "02", "03", "04", "05", "06", "08", "09", "10"]
    defined = {name for name in globals() if re.match("p0i_[0-9]", name)}
    assert defined == {fixture.__name__ for fixture in FIXTURES}
    assert {fixture for fixture, _, _ in WITHOUT} == set(FIXTURES)
    assert {guard for _, guard, _ in WITHOUT} == set(GUARDS)
