"""Retries through the real gate against a plain model, and guards whose loss must show.

``python -m tests.props.test_native_ledger_props 100000`` runs that many random histories.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from tests.support import broken_ledger
from tests.support.broken_ledger import BROKEN, Patch
from tests.support.ledger_lab import ACTIONS, Lab, play, random_steps
from tests.support.ledger_recipient import REPLY_BYTES

PICKS = st.integers(0, 2**12 - 1)
SEEDS = 400


class Retries(RuleBasedStateMachine):
    """The lab in Hypothesis' hands: it picks the actions, and makes a failing history short."""

    @initialize(marks=st.sampled_from([4_096, 1]), reply_bytes=st.sampled_from(REPLY_BYTES))
    def start(self, marks: int, reply_bytes: int) -> None:
        self.lab = Lab(marks=marks, reply_bytes=reply_bytes)
        for pick in range(3):
            self.lab.connect(pick)

    @rule(action=st.sampled_from(list(ACTIONS)), pick=PICKS)
    def act(self, action: Callable[[Lab, int], None], pick: int) -> None:
        action(self.lab, pick)

    @rule(pick=PICKS)
    def do(self, pick: int) -> None:
        self.lab.do(pick)

    @invariant()
    def parts_agree(self) -> None:
        if hasattr(self, "lab"):
            self.lab.ledger.verify()

    def teardown(self) -> None:
        if hasattr(self, "lab"):
            self.lab.audit()


TestRetries = Retries.TestCase
TestRetries.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


def run(seeds: int, *, marks: int = 4_096, blind: bool = False) -> Counter[str]:
    """Random histories with these many seeds; what was seen in all of them."""
    seen: Counter[str] = Counter()
    for seed in range(seeds):
        lab = Lab(marks=marks, reply_bytes=REPLY_BYTES[seed % 4 == 3], blind=blind)
        seen += play(lab, random_steps(seed))
    return seen


def test_random_histories_reach_what_there_is_to_reach() -> None:
    seen = run(SEEDS)
    wanted = {
        "go", "replayed", "pending", "mismatch", "retired", "kept", "later", "busy", "cancelled",
        "asked", "not told", "crash", "load", "retained_requests", "retained_actors", "reconnect",
        "stale_request_epoch", "swept", "INVALID_ARGUMENT", "FORBIDDEN",
    }  # fmt: skip
    assert set(seen) == wanted


def test_marks_that_could_not_be_kept_refuse_and_never_let_run() -> None:
    seen = run(SEEDS, marks=1)
    assert seen["retired"] > seen["replayed"] > 0


# -- guards whose loss must show ------------------------------------------------------------------


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.__name__)
def test_a_guard_that_is_missing_shows(broken: Callable[[Patch], None], monkeypatch: Patch) -> None:
    broken(monkeypatch)
    with pytest.raises((AssertionError, ValueError)):
        run(SEEDS)


def test_hypothesis_finds_a_missing_guard_too(monkeypatch: Patch) -> None:
    broken_ledger.no_look_up(monkeypatch)
    search = settings(
        max_examples=200, stateful_step_count=40, deadline=None, database=None, derandomize=True,
        phases=[Phase.generate], print_blob=False, report_multiple_bugs=False,
    )  # fmt: skip
    with pytest.raises((AssertionError, ValueError)):
        run_state_machine_as_test(Retries, settings=search)


@pytest.mark.parametrize(
    ("broken", "what"),
    [
        (broken_ledger.eviction_forgets_the_mark, "ran after it had been called retired|ran twice"),
        (broken_ledger.the_end_of_a_connection_forgets_at_once, "ran twice"),
        (broken_ledger.marks_go_before_what_was_sent_has_its_turn, "ran twice"),
        (broken_ledger.running_unlocked, "ran twice"),
        (broken_ledger.actors_confused, "acknowledged"),
    ],
)
def test_the_promises_alone_show_it_without_the_model(
    broken: Callable[[Patch], None], what: str, monkeypatch: Patch
) -> None:
    run(SEEDS, blind=True)
    broken(monkeypatch)
    with pytest.raises(AssertionError, match=what):
        run(8 * SEEDS, blind=True)


def test_a_mark_that_is_lost_shows(monkeypatch: Patch) -> None:
    broken_ledger.marks_that_cannot_be_kept_are_lost(monkeypatch)
    with pytest.raises((AssertionError, ValueError)):
        run(SEEDS, marks=1)


def main(histories: int) -> None:
    """Run that many histories and say what they came to."""
    start = time.monotonic()
    seen = run(histories)
    print(f"{histories} histories in {time.monotonic() - start:.0f} s: every promise held")
    print(*(f"{name}={count}" for name, count in seen.most_common()))


if __name__ == "__main__":
    main(int(sys.argv[1]))
