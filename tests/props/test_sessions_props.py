"""Verified sessions against a plain model: random histories, and guards whose loss must show.

``python -m tests.props.test_sessions_props 10000`` runs that many histories, each with its seed.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brokerd.core.sessions import life, making, proving
from brokerd.core.sessions.bindings import Bindings
from brokerd.core.sessions.challenges import Challenges
from brokerd.core.sessions.dependencies import Dependencies
from brokerd.core.sessions.grants import Grants
from brokerd.core.sessions.interests import Interests
from brokerd.core.sessions.model import GrantState, Record
from brokerd.core.sessions.notices import Notices
from brokerd.core.sessions.refusals import Quota
from brokerd.core.sessions.schedule import Schedule
from brokerd.core.sessions.tables import Tables
from brokerd.errors import forbidden
from tests.support.session_history import OPERATIONS, Step, random_steps, replay

SMALL = st.integers(0, 63)
STEPS = st.lists(st.tuples(st.integers(0, len(OPERATIONS) - 1), SMALL, SMALL, SMALL), max_size=60)
SEEDS = 150

Patch = pytest.MonkeyPatch


@settings(max_examples=150)
@given(steps=STEPS)
def test_the_store_does_what_the_model_does(steps: list[Step]) -> None:
    replay([(0, 0, 0, 0), (0, 1, 0, 0), *steps])


def test_long_random_histories_reach_what_there_is_to_reach() -> None:
    outcomes = run(SEEDS)
    wanted = {
        "already_bound",
        "key_in_use",
        "term_limit",
        "issued_name_limit",
        "STALE_GENERATION",
        "grant_limit",
        "challenge_outstanding",
        "challenge_limit",
        "challenge_consumed",
        "binding_pending",
        "EXPIRED",
        "dependency_missing",
        "dependency_limit",
        "wake interest_limit",
        "already",
        "same",
        "clock failed",
        "seen suspended",
    }
    assert not wanted - outcomes.keys()


def run(histories: int) -> Counter[str]:
    """Replay that many; what came of all their steps. Raises AssertionError with the seed."""
    outcomes: Counter[str] = Counter()
    for seed in range(histories):
        try:
            outcomes += replay(random_steps(seed)).outcomes
        except AssertionError as error:
            error.add_note(f"seed {seed}")
            raise
    return outcomes


# Each takes one guard away.


def _no_window(patch: Patch) -> None:
    real = life.suspend
    patch.setattr(life, "suspend", lambda t, record, at: real(t, record, t.now_ms))


def _children_stay(patch: Patch) -> None:
    patch.setattr(
        Record, "attached", property(lambda self: self.state == "attached" and not self.parent)
    )


def _keeps_children(patch: Patch) -> None:
    real = life.revoke

    def revoke(tables: Tables, record: Record, grant: GrantState = GrantState.REVOKED) -> None:
        record.children = {}
        real(tables, record, grant)

    patch.setattr(life, "revoke", revoke)


def _any_signature(patch: Patch) -> None:
    patch.setattr(proving, "verify", lambda *_: True)


def _any_allocation(patch: Patch) -> None:
    patch.setattr(making, "verify", lambda *_: True)


def _any_generation(patch: Patch) -> None:
    patch.setattr(proving, "_require_next", lambda _challenge: None)


def _replays(patch: Patch) -> None:
    real = Challenges.redeem

    def redeem(self: Challenges, connection_id: str, challenge_id: str | None) -> object:
        slot = self.slots().get(connection_id)
        if slot and slot.outstanding and slot.outstanding.id != challenge_id:
            raise forbidden()
        return real(self, connection_id, challenge_id)

    patch.setattr(Challenges, "redeem", redeem)


def _any_ref(patch: Patch) -> None:
    def held(self: Tables, caller: tuple[str, int], ref: object) -> Record:
        record = self.bindings.holds(caller[0])
        if record is None:
            raise forbidden()
        return record

    patch.setattr(Tables, "held", held)


def _no_cap(patch: Patch) -> None:
    patch.setattr(Quota, "full", lambda *_: False)


def _twice_bound(patch: Patch) -> None:
    patch.setattr(Bindings, "ever", lambda self, who: self.holds(who) is not None)


def _no_gap(patch: Patch) -> None:
    real = Notices.take
    patch.setattr(Notices, "take", lambda self, who: real(self, who) and self._gaps.clear())


def _grants_stay(patch: Patch) -> None:
    patch.setattr(Grants, "close", lambda self, grant, state: grant.move(state))


def _waits_for_ever(patch: Patch) -> None:
    patch.setattr(Interests, "drop", lambda _self, _who: None)


def _hears_for_ever(patch: Patch) -> None:
    patch.setattr(Dependencies, "forget_record", lambda _self, _record: None)


def _late_deadlines(patch: Patch) -> None:
    real = Schedule.set
    patch.setattr(Schedule, "set", lambda self, kind, what, due: real(self, kind, what, due + 1))


def _tells_nobody(patch: Patch) -> None:
    patch.setattr(life, "tell", lambda *_: None)


def _no_parent_needed(patch: Patch) -> None:
    patch.setattr(Tables, "lease_remaining", lambda t, record: max(0, record.ends_ms - t.now_ms))


BROKEN: list[Callable[[Patch], None]] = [
    _no_window,
    _children_stay,
    _keeps_children,
    _any_signature,
    _any_allocation,
    _any_generation,
    _replays,
    _any_ref,
    _no_cap,
    _twice_bound,
    _no_gap,
    _grants_stay,
    _waits_for_ever,
    _hears_for_ever,
    _late_deadlines,
    _tells_nobody,
    _no_parent_needed,
]


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.__name__)
def test_a_guard_that_is_missing_shows(broken: Callable[[Patch], None], monkeypatch: Patch) -> None:
    broken(monkeypatch)
    with pytest.raises((AssertionError, KeyError)):
        run(SEEDS)


def main(histories: int) -> None:
    """Run that many histories and say how long it took."""
    start = time.monotonic()
    outcomes = run(histories)
    print(f"{histories} histories in {time.monotonic() - start:.0f} s: every invariant held")
    print(*(f"{name}={count}" for name, count in outcomes.most_common()))


if __name__ == "__main__":
    main(int(sys.argv[1]))
