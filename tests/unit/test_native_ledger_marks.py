"""High-water marks of actors that have no history any more: kept, given up, or refused."""

from __future__ import annotations

from random import Random

import pytest

from termnode.control.native.actors import ENDED_PER_CALL, Actor, Filter, Marks, anchor
from termnode.control.native.ledger import (
    RETENTION_S,
    Ledger,
    New,
)
from termnode.control.spec import U64_MAX
from tests.support.ledger_bench import (
    ME,
    PANE,
    T0,
    TICK,
    A,
    Said,
    ambient,
    bound,
    retired,
    run,
)

# -- the end of actors ----------------------------------------------------------------------------


@pytest.mark.parametrize("actor", [ambient(1), bound(1)])
def test_the_mark_of_an_ended_actor_goes_when_nothing_it_sent_can_be_under_way(
    actor: Actor,
) -> None:
    ledger: Ledger[Said] = Ledger(actors=1)
    run(ledger, 7, actor=actor)
    run(ledger, 1, actor=ambient(2))
    ledger.ended(anchor(actor), T0)
    assert retired(ledger, 7, T0 + RETENTION_S - TICK, actor=actor) == "7"
    ledger.lookup(ambient(2), 9, A, T0 + RETENTION_S)
    assert ledger.high_water(actor) == 0
    assert ledger.statistics()["marks"] == ledger.statistics()["marks_ended"] == 0


def test_an_actor_that_ended_before_it_was_evicted_leaves_its_mark_for_a_while() -> None:
    ledger: Ledger[Said] = Ledger(actors=1)
    run(ledger, 7, actor=ambient(1))
    ledger.ended(anchor(ambient(1)), T0)
    run(ledger, 1, T0 + 5, actor=ambient(2))
    assert retired(ledger, 7, T0 + 5, actor=ambient(1)) == "7"
    ledger.lookup(ambient(2), 9, A, T0 + 5 + RETENTION_S)
    assert ledger.high_water(ambient(1)) == 0


def test_a_request_of_an_ended_actor_that_runs_late_leaves_no_mark_for_ever() -> None:
    ledger: Ledger[Said] = Ledger(actors=1)
    ledger.reserve(ME, 7, A, PANE, "v", now=T0, live=False).record(Said("done"), T0)
    run(ledger, 1, actor=ambient(2))
    assert ledger.statistics()["marks_ended"] == 1


def test_an_ended_actor_that_comes_back_from_its_mark_is_still_ended() -> None:
    ledger: Ledger[Said] = Ledger(actors=1)
    run(ledger, 7, actor=ME)
    run(ledger, 1, actor=ambient(2))
    ledger.ended(anchor(ME), T0)
    run(ledger, 8, actor=ME)
    assert ledger.statistics()["marks_ended"] == 0
    run(ledger, 2, actor=ambient(2))
    assert ledger.statistics()["marks_ended"] == 1
    assert ledger.high_water(ME) == 8


def test_the_end_of_a_stranger_changes_nothing() -> None:
    ledger: Ledger[Said] = Ledger()
    run(ledger, 7)
    before = ledger.statistics()
    ledger.ended("no id at all", T0)
    assert (ledger.statistics(), ledger.high_water(ME)) == (before, 7)


def test_more_ended_marks_than_one_call_gives_up_go_in_the_end() -> None:
    ledger: Ledger[Said] = Ledger(actors=1)
    for number in range(1, 3 * ENDED_PER_CALL + 2):
        run(ledger, 1, actor=ambient(number))
        ledger.ended(anchor(ambient(number)), T0)
    late = T0 + RETENTION_S
    for _ in range(3):
        assert ledger.statistics()["marks"]
        ledger.lookup(ME, U64_MAX, A, late)
    assert ledger.statistics()["marks"] == 0


# -- marks that cannot be kept --------------------------------------------------------------------


def test_a_mark_that_cannot_be_kept_refuses_every_id_of_its_actor() -> None:
    ledger: Ledger[Said] = Ledger(actors=1, marks=2)
    for number in range(1, 5):
        run(ledger, 1, actor=ambient(number))
    assert ledger.statistics()["forgotten"] == 1
    assert retired(ledger, 1, actor=ambient(1)) == "connect anew"
    assert retired(ledger, U64_MAX, actor=ambient(1)) == "connect anew"
    assert [ledger.high_water(ambient(number)) for number in (2, 3, 4)] == [1, 1, 1]
    assert ledger.lookup(ambient(9), 1, A, T0) == New()
    ledger.verify()


def test_connections_that_come_and_go_do_not_push_out_the_marks_of_records() -> None:
    ledger: Ledger[Said] = Ledger(actors=1, marks=2)
    run(ledger, 7, actor=bound(1))
    for number in range(1, 9):
        run(ledger, 1, actor=ambient(number))
    assert ledger.high_water(bound(1)) == 7


def test_an_actor_does_not_push_out_its_own_mark() -> None:
    ledger: Ledger[Said] = Ledger(actors=1, marks=1)
    for number in (1, 2):
        run(ledger, 5, actor=ambient(number))
    run(ledger, 6, actor=ambient(1))
    assert ledger.high_water(ambient(1)) == 6
    assert ledger.statistics()["forgotten"] == 0


def test_a_filter_knows_all_that_was_added_and_few_others() -> None:
    rng = Random(1)
    known, strangers = ([f"{rng.getrandbits(128):032x}" for _ in range(20_000)] for _ in range(2))
    ids = Filter()
    assert known[0] not in ids
    for key in known:
        ids.add(key)
    assert ids.added == len(known)
    assert all(key in ids for key in known)
    assert sum(key in ids for key in strangers) < 20


def test_marks_never_fall() -> None:
    marks = Marks(linger=RETENTION_S)
    marks.put(ME, 9)
    marks.put(ME, 3)
    assert marks.get(ME) == 9
