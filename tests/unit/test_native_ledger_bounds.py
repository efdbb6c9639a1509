"""The bounds of the native retry table: in time, per actor, in all, of actors; and its cost."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from functools import partial

import pytest

from brokerd.client import ErrorCode
from termnode.control.native import ledger as module
from termnode.control.native.actors import Actor
from termnode.control.native.histories import PURGED_PER_CALL, Histories
from termnode.control.native.ledger import (
    ACTORS,
    ENTRIES,
    PER_ACTOR,
    REPLY_BYTES,
    RETENTION_S,
    Ledger,
    New,
    Pending,
    Recorded,
)
from termnode.control.spec import U64_MAX
from tests.support.ledger_bench import (
    ME,
    PANE,
    T0,
    TICK,
    A,
    B,
    Said,
    ambient,
    refusal,
    retired,
    run,
    run_quickly,
)

# -- retention ----------------------------------------------------------------------------------


def test_a_reply_is_readable_for_fifteen_minutes_less_a_tick() -> None:
    ledger: Ledger[Said] = Ledger()
    reply = run(ledger, 1)
    assert ledger.lookup(ME, 1, A, T0 + RETENTION_S - TICK) == Recorded(reply)
    assert refusal(lambda: ledger.lookup(ME, 1, B, T0 + RETENTION_S - TICK)).code == "CONFLICT"
    assert retired(ledger, 1, T0 + RETENTION_S) == "1"
    assert retired(ledger, 1, T0 + RETENTION_S + TICK) == "1"


def test_what_has_lapsed_is_unreadable_before_it_is_purged() -> None:
    ledger: Ledger[Said] = Ledger()
    for number in range(1, 4 * PURGED_PER_CALL):
        run(ledger, number)
    late = T0 + RETENTION_S
    assert retired(ledger, 4 * PURGED_PER_CALL - 1, late) == str(4 * PURGED_PER_CALL - 1)
    assert ledger.statistics()["kept"] == 3 * PURGED_PER_CALL - 1


def test_retention_counts_from_the_reply() -> None:
    ledger: Ledger[Said] = Ledger()
    reservation = ledger.reserve(ME, 1, A, PANE, "term.tab.new", now=T0)
    assert ledger.lookup(ME, 1, A, T0 + 5 * RETENTION_S) == Pending(1)
    reservation.record(Said("done"), T0 + 5 * RETENTION_S)
    assert ledger.lookup(ME, 1, A, T0 + 6 * RETENTION_S - TICK) == Recorded(Said("done"))
    assert retired(ledger, 1, T0 + 6 * RETENTION_S) == "1"


def test_the_last_1024_replies_of_an_actor_are_kept() -> None:
    ledger: Ledger[Said] = Ledger()
    replies = [run_quickly(ledger, ME, number) for number in range(1, PER_ACTOR + 1)]
    assert ledger.lookup(ME, 1, A, T0) == Recorded(replies[0])
    run_quickly(ledger, ME, PER_ACTOR + 1)
    assert retired(ledger, 1) == str(PER_ACTOR + 1)
    assert ledger.lookup(ME, 2, A, T0) == Recorded(replies[1])
    ledger.verify()


def test_what_is_under_way_is_never_given_up_for_the_actor_bound() -> None:
    ledger: Ledger[Said] = Ledger(per_actor=2)
    oldest = ledger.reserve(ME, 1, A, PANE, "term.tab.new", now=T0)
    for number in (2, 3, 4):
        run(ledger, number)
    assert ledger.lookup(ME, 1, A, T0) == Pending(1)
    assert retired(ledger, 2) == "4"
    oldest.record(Said("done"), T0)
    assert ledger.lookup(ME, 1, A, T0) == Recorded(Said("done"))
    assert retired(ledger, 3) == "4"


# -- the bound in all ---------------------------------------------------------------------------


def full(count: int = ENTRIES) -> Ledger[Said]:
    ledger: Ledger[Said] = Ledger()
    for index in range(count):
        run_quickly(ledger, ambient(1 + index % 8), 1 + index)
    return ledger


def test_entry_4097_is_refused_and_spends_nothing() -> None:
    ledger = full(ENTRIES - 1)
    run_quickly(ledger, ambient(50), 1)
    before = ledger.statistics()
    for actor in (ambient(1), ambient(50), ambient(99)):
        mark = ledger.high_water(actor)
        assert ledger.lookup(actor, 9_000, A, T0) == New()
        limit = refusal(partial(ledger.reserve, actor, 9_000, A, PANE, "v", now=T0))
        assert limit.code is ErrorCode.RESOURCE_LIMIT
        assert limit.details == {
            "reason": "retained_requests", "limit": ENTRIES, "retry_after_ms": "900000",
        }  # fmt: skip
        assert ledger.high_water(actor) == mark
        assert ledger.lookup(actor, 9_000, A, T0) == New()
    assert ledger.statistics() == before
    ledger.verify()


def test_what_runs_counts_and_one_lapsed_reply_makes_room_for_one() -> None:
    ledger: Ledger[Said] = Ledger(entries=2)
    run(ledger, 1)
    with ledger.reserve(ME, 2, A, PANE, "term.tab.new", now=T0 + 1) as running:
        refusal(lambda: ledger.reserve(ME, 3, A, PANE, "v", now=T0 + RETENTION_S - TICK))
        run(ledger, 3, T0 + RETENTION_S)
        refusal(lambda: ledger.reserve(ME, 4, A, PANE, "v", now=T0 + RETENTION_S))
        running.drop()
    run(ledger, 4, T0 + RETENTION_S)


def test_old_replies_can_still_be_read_when_the_ledger_is_full() -> None:
    ledger = full()
    assert ledger.lookup(ambient(1), 1, A, T0) == Recorded(Said("1"))


def test_callers_with_their_full_share_go_on_and_the_others_wait() -> None:
    """Four of 1,024 replies each lock nobody of them out; the fifth is told for how long."""
    ledger: Ledger[Said] = Ledger()
    for number in range(1, PER_ACTOR + 1):
        for actor in range(1, 5):
            run_quickly(ledger, ambient(actor), number)
    fifth = refusal(lambda: ledger.reserve(ambient(5), 1, A, PANE, "v", now=T0 + 0.5))
    assert fifth.details["retry_after_ms"] == "899500"
    run(ledger, PER_ACTOR + 1, actor=ambient(1))
    assert ledger.statistics()["kept"] == ENTRIES
    assert retired(ledger, 1, actor=ambient(1)) == str(PER_ACTOR + 1)
    assert ledger.lookup(ambient(1), 2, A, T0) == Recorded(Said("2"))
    assert ledger.lookup(ambient(2), 1, A, T0) == Recorded(Said("1")), "no other pays for it"


def test_an_own_reply_goes_only_when_the_request_that_it_goes_for_is_begun() -> None:
    ledger: Ledger[Said] = Ledger(per_actor=2, entries=3)
    replies = [run(ledger, number) for number in (1, 2)]
    run(ledger, 1, actor=ambient(2))
    ledger.reserve(ME, 3, A, PANE, "v", now=T0).cancel()
    assert ledger.lookup(ME, 1, A, T0) == Recorded(replies[0])
    slow = ledger.reserve(ME, 3, A, PANE, "v", now=T0)
    ledger.verify()
    assert retired(ledger, 1) == "3"
    refusal(lambda: ledger.reserve(ambient(2), 2, A, PANE, "v", now=T0))
    running = ledger.reserve(ME, 4, A, PANE, "v", now=T0)
    assert retired(ledger, 2) == "4"
    nothing_left = refusal(lambda: ledger.reserve(ME, 5, A, PANE, "v", now=T0))
    assert nothing_left.details["reason"] == "retained_requests"
    assert ledger.lookup(ME, 3, A, T0) == Pending(3)
    slow.drop()
    running.drop()


def test_who_waits_is_not_told_for_how_long_when_nothing_lapses() -> None:
    ledger: Ledger[Said] = Ledger(entries=1)
    with ledger.reserve(ME, 1, A, PANE, "v", now=T0):
        limit = refusal(lambda: ledger.reserve(ambient(2), 1, A, PANE, "v", now=T0))
    assert limit.details == {"reason": "retained_requests", "limit": 1}


# -- the bound in bytes -------------------------------------------------------------------------


def keep(ledger: Ledger[Said], actor: Actor, number: int, size: int, now: float = T0) -> None:
    reservation = ledger.reserve(actor, number, A, PANE, "v", now=now)
    reservation.record(Said("x" * size), now)
    ledger.verify()


def test_the_oldest_reply_of_who_has_most_bytes_makes_room() -> None:
    ledger: Ledger[Said] = Ledger(reply_bytes=100)
    small, large = ambient(1), ambient(2)
    keep(ledger, small, 1, 10)
    keep(ledger, large, 1, 40)
    keep(ledger, large, 2, 40)
    keep(ledger, small, 2, 20)
    assert ledger.statistics()["bytes"] == 70
    assert retired(ledger, 1, actor=large) == "2"
    assert ledger.lookup(large, 2, A, T0) == Recorded(Said("x" * 40))
    assert ledger.lookup(small, 1, A, T0) == Recorded(Said("x" * 10))


def test_a_reply_that_has_just_come_stays_and_what_runs_too() -> None:
    ledger: Ledger[Said] = Ledger(reply_bytes=100)
    running = ledger.reserve(ambient(3), 1, A, PANE, "term.tab.new", now=T0)
    for number in range(1, 4):
        keep(ledger, ambient(1), number, 30)
    keep(ledger, ambient(2), 1, 100)
    assert ledger.lookup(ambient(2), 1, A, T0) == Recorded(Said("x" * 100))
    assert [retired(ledger, number, actor=ambient(1)) for number in (1, 2, 3)] == ["3"] * 3
    assert ledger.lookup(ambient(3), 1, A, T0) == Pending(1)
    running.drop()


def test_what_has_lapsed_makes_room_first() -> None:
    ledger: Ledger[Said] = Ledger(reply_bytes=100)
    slow = ledger.reserve(ambient(3), 1, A, PANE, "term.tab.new", now=T0)
    keep(ledger, ambient(1), 1, 20)
    keep(ledger, ambient(2), 1, 70, T0 + 1)
    slow.record(Said("x" * 30), T0 + RETENTION_S)
    ledger.verify()
    assert ledger.statistics()["bytes"] == 100
    assert ledger.lookup(ambient(2), 1, A, T0 + RETENTION_S) == Recorded(Said("x" * 70))


# -- the bound on actors --------------------------------------------------------------------------


def crowd(ledger: Ledger[Said], numbers: range, now: float = T0) -> None:
    for number in numbers:
        run_quickly(ledger, ambient(number), 5, now)


def test_256_actors_are_kept_and_the_coldest_gives_way_to_the_next() -> None:
    ledger: Ledger[Said] = Ledger()
    crowd(ledger, range(1, ACTORS + 1))
    assert ledger.lookup(ambient(1), 5, A, T0) == Recorded(Said("5"))
    run(ledger, 1, actor=ambient(500))
    assert ledger.statistics()["actors"] == ACTORS
    assert retired(ledger, 5, actor=ambient(1)) == "5"
    assert ledger.lookup(ambient(2), 5, A, T0) == Recorded(Said("5"))


def test_a_reply_makes_an_actor_warm_and_a_look_does_not() -> None:
    ledger: Ledger[Said] = Ledger()
    crowd(ledger, range(1, ACTORS + 1))
    run(ledger, 6, actor=ambient(1))
    ledger.lookup(ambient(2), 5, A, T0)
    run(ledger, 1, actor=ambient(500))
    assert ledger.lookup(ambient(1), 6, A, T0) == Recorded(Said(f"{ambient(1)[3]} 6"))
    assert retired(ledger, 5, actor=ambient(2)) == "5"


def test_an_actor_whose_replies_have_lapsed_goes_first() -> None:
    ledger: Ledger[Said] = Ledger(actors=3)
    cold, middle, warm = ambient(1), ambient(2), ambient(3)
    run(ledger, 5, T0, actor=cold)
    run(ledger, 5, T0, actor=middle)
    run(ledger, 5, T0 + 10, actor=warm)
    run(ledger, 6, T0 + 20, actor=cold)
    late = T0 + RETENTION_S
    run(ledger, 1, late, actor=ambient(4))
    assert ledger.lookup(cold, 6, A, late) == Recorded(Said(f"{cold[3]} 6"))
    assert ledger.lookup(warm, 5, A, late) == Recorded(Said(f"{warm[3]} 5"))
    assert retired(ledger, 5, late, actor=middle) == "5"


def test_an_actor_of_whose_ids_nothing_is_kept_goes_before_a_colder_one() -> None:
    ledger: Ledger[Said] = Ledger(actors=2)
    run(ledger, 5, actor=ambient(1))
    ledger.reserve(ambient(2), 5, A, PANE, "term.type", now=T0).drop()
    run(ledger, 1, actor=ambient(3))
    assert ledger.lookup(ambient(1), 5, A, T0) == Recorded(Said(f"{ambient(1)[3]} 5"))
    assert retired(ledger, 5, actor=ambient(2)) == "5"


def test_an_actor_with_work_under_way_stays_and_too_many_of_them_are_refused() -> None:
    ledger: Ledger[Said] = Ledger(actors=2)
    first = ledger.reserve(ambient(1), 1, A, PANE, "term.tab.new", now=T0)
    second = ledger.reserve(ambient(2), 1, A, PANE, "term.tab.new", now=T0)
    limit = refusal(lambda: ledger.reserve(ambient(3), 1, A, PANE, "v", now=T0))
    assert limit.details == {"reason": "retained_actors", "limit": 2}
    assert ledger.high_water(ambient(3)) == 0
    second.drop()
    run(ledger, 1, actor=ambient(3))
    first.record(Said("done"), T0)
    assert ledger.lookup(ambient(1), 1, A, T0) == Recorded(Said("done"))
    assert retired(ledger, 1, actor=ambient(2)) == "1"


def test_an_evicted_actor_that_comes_back_goes_on_above_its_mark() -> None:
    ledger: Ledger[Said] = Ledger(actors=1)
    run(ledger, 7, actor=ambient(1))
    run(ledger, 1, actor=ambient(2))
    assert ledger.high_water(ambient(1)) == 7
    run(ledger, 8, actor=ambient(1))
    assert retired(ledger, 7, actor=ambient(1)) == "8"
    assert ledger.statistics()["marks"] == 1
    ledger.reserve(ambient(2), 2, A, PANE, "term.type", now=T0).cancel()
    assert (ledger.high_water(ambient(1)), ledger.high_water(ambient(2))) == (8, 1)
    ledger.verify()


def test_320_connections_one_after_the_other_all_have_their_mutations() -> None:
    ledger: Ledger[Said] = Ledger()
    for number in range(1, 321):
        run(ledger, 1, actor=ambient(number))
    assert all(ledger.high_water(ambient(number)) == 1 for number in range(1, 321))
    assert ledger.statistics()["marks"] == 320 - ACTORS


def test_strangers_who_only_ask_take_no_place() -> None:
    ledger: Ledger[Said] = Ledger()
    before = ledger.statistics()
    for number in range(1, 2 * ACTORS):
        assert ledger.lookup(ambient(number), 1, A, T0) == New()
        refusal(partial(ledger.operation, ambient(number), PANE, 1, T0))
        ledger.reserve(ambient(number), 1, A, PANE, "term.type", now=T0).cancel()
    assert ledger.statistics() == before


def test_a_newcomer_who_is_turned_away_costs_no_other_its_replies() -> None:
    ledger: Ledger[Said] = Ledger(actors=1)
    reply = run(ledger, 5)
    ledger.reserve(ambient(2), 1, A, PANE, "term.type", now=T0).cancel()
    assert ledger.lookup(ME, 5, A, T0) == Recorded(reply)
    other = ledger.reserve(ambient(3), 1, A, PANE, "term.tab.new", now=T0)
    assert ledger.statistics()["actors"] == 1
    ledger.verify()
    assert retired(ledger, 5) == "5"  # the next call: it is no longer the same step
    other.cancel()
    assert ledger.high_water(ambient(3)) == 0


def test_a_cancelled_request_does_not_call_off_what_another_came_for() -> None:
    ledger: Ledger[Said] = Ledger(actors=2)
    first = ledger.reserve(ME, 1, A, PANE, "term.tab.new", now=T0)
    run(ledger, 1, actor=ambient(2))
    second = ledger.reserve(ambient(3), 1, A, PANE, "term.tab.new", now=T0)
    first.cancel()
    ledger.verify()
    assert retired(ledger, 1, actor=ambient(2)) == "1"
    second.drop()
    assert (ledger.high_water(ME), ledger.high_water(ambient(3))) == (0, 1)
    ledger.verify()


# -- cost -----------------------------------------------------------------------------------------


def steps(work: Callable[[], object]) -> int:
    """Lines of Python that a call executes: a cost that no other load of the machine changes."""
    count = 0

    def trace(frame: object, event: str, arg: object) -> object:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    gc.disable()  # what ends by it meanwhile may run lines of its own
    sys.settrace(trace)  # type: ignore[arg-type]  # the stubs know no tracer that returns itself
    try:
        work()
    finally:
        sys.settrace(before)
        gc.enable()
    return count


def test_a_full_ledger_costs_no_more_than_an_empty_one() -> None:
    def costs(ledger: Ledger[Said], actor: Actor) -> list[int]:
        def mutate() -> None:
            assert ledger.lookup(actor, 90_000, A, T0) == New()
            ledger.reserve(actor, 90_000, A, PANE, "v", now=T0).record(Said("x"), T0)

        retry = steps(lambda: ledger.lookup(actor, 90_000, A, T0))
        old = steps(lambda: refusal(lambda: ledger.lookup(actor, 0, A, T0)))
        return [steps(mutate), retry, old]

    empty, filled = Ledger[Said](), full(ENTRIES - 1)
    run_quickly(empty, ambient(1), 1)
    assert costs(filled, ambient(1)) == costs(empty, ambient(1))


def test_a_newcomer_among_256_costs_no_more_however_full_it_is() -> None:
    def cost(per_actor: int) -> int:
        ledger: Ledger[Said] = Ledger()
        run_quickly(ledger, ambient(1), 1)
        for actor in range(2, ACTORS + 1):
            for number in range(1, per_actor):
                run_quickly(ledger, ambient(actor), number)
        return steps(lambda: run_quickly(ledger, ambient(999), 1))

    assert cost(15) == cost(2)


def test_a_call_purges_no_more_than_its_share() -> None:
    ledger = full()
    late = T0 + RETENTION_S
    ledger.lookup(ambient(1), U64_MAX, A, late)
    assert ledger.statistics()["kept"] == ENTRIES - PURGED_PER_CALL


# -- the guards of this file can fail -------------------------------------------------------------


def test_verify_finds_what_disagrees() -> None:
    ledger: Ledger[Said] = Ledger()
    run(ledger, 7)
    histories: Histories[Said] = ledger._histories
    history = histories.find(ME)
    assert history is not None
    history.mark = 6
    with pytest.raises(AssertionError, match="over its mark"):
        ledger.verify()
    history.mark = 7
    history.kept.clear()
    with pytest.raises(AssertionError, match="kept entries, bytes kept, a busy actor has none"):
        ledger.verify()


def test_the_numbers_are_those_of_the_contract() -> None:
    assert (RETENTION_S, PER_ACTOR, ENTRIES, ACTORS) == (900, 1_024, 4_096, 256)
    assert REPLY_BYTES == 16 * 2**20
    assert set(module.__all__) <= set(dir(module))
