"""The retry table of the native lane: what becomes of one id, and of its operation."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from brokerd.client import ErrorCode
from termnode.control.native.actors import Actor
from termnode.control.native.ledger import (
    RETENTION_S,
    Later,
    Ledger,
    New,
    Pending,
    Recorded,
    Settled,
)
from termnode.control.spec import U64_MAX
from termnode.lanes.calls import Sealed
from tests.support.ledger_bench import (
    ME,
    OTHER,
    PANE,
    T0,
    TICK,
    A,
    B,
    Said,
    ambient,
    bound,
    refusal,
    retired,
    run,
)

# -- one id -------------------------------------------------------------------------------------


def test_an_id_goes_from_new_to_pending_to_recorded() -> None:
    ledger: Ledger[Said] = Ledger()
    assert ledger.lookup(ME, 7, A, T0) == New()
    assert ledger.high_water(ME) == 0
    reservation = ledger.reserve(ME, 7, A, PANE, "term.type", now=T0)
    assert ledger.high_water(ME) == 7
    assert ledger.lookup(ME, 7, A, T0) == Pending(7)
    reservation.record(Said("done"), T0)
    assert ledger.lookup(ME, 7, A, T0) == Recorded(Said("done"))
    assert ledger.high_water(ME) == 7


def test_the_same_id_for_other_bytes_is_a_conflict_pending_or_recorded() -> None:
    ledger: Ledger[Said] = Ledger()
    with ledger.reserve(ME, 7, A, PANE, "term.type", now=T0) as reservation:
        pending = refusal(lambda: ledger.lookup(ME, 7, B, T0))
        reservation.record(Said("done"), T0)
    recorded = refusal(lambda: ledger.lookup(ME, 7, B, T0))
    assert pending.body() == recorded.body()
    assert recorded.code is ErrorCode.CONFLICT
    assert recorded.details == {
        "reason": "request_mismatch",
        "retry_requires": "byte_identical_body",
    }
    assert ledger.lookup(ME, 7, A, T0) == Recorded(Said("done"))


def test_ids_rise_gaps_are_allowed_and_a_lower_one_is_retired() -> None:
    ledger: Ledger[Said] = Ledger()
    run(ledger, 5)
    run(ledger, 9)
    assert retired(ledger, 4) == retired(ledger, 6) == retired(ledger, 8) == "9"
    assert ledger.lookup(ME, 10, A, T0) == New()
    run(ledger, U64_MAX)
    assert retired(ledger, U64_MAX - 1) == "connect anew"


def test_two_in_flight_that_arrive_reversed_run_once_at_most() -> None:
    ledger: Ledger[Said] = Ledger()
    run(ledger, 2)
    assert retired(ledger, 1) == "2"
    with pytest.raises(ValueError, match="not new"):
        ledger.reserve(ME, 1, A, PANE, "term.type", now=T0)
    with pytest.raises(ValueError, match="not new"):
        ledger.reserve(ME, 2, A, PANE, "term.type", now=T0)


def test_actors_are_apart() -> None:
    ledger: Ledger[Said] = Ledger()
    run(ledger, 5)
    strangers: list[Actor] = [
        ambient(2),
        ("ambient", 1001, "e" * 32, ME[3]),
        ("ambient", 1000, "f" * 32, ME[3]),
        ("bound", 1000, "e" * 32, ME[3]),
        bound(1),
    ]
    for stranger in strangers:
        assert ledger.lookup(stranger, 5, B, T0) == New()
        assert ledger.high_water(stranger) == 0


def test_a_resumed_record_finds_its_replies_and_a_new_connection_does_not() -> None:
    ledger: Ledger[Said] = Ledger()
    reply = run(ledger, 5, actor=bound(1))
    run(ledger, 5, actor=ambient(1))
    assert ledger.lookup(bound(1), 5, A, T0) == Recorded(reply)
    assert ledger.lookup(ambient(2), 5, A, T0) == New()


# -- how a reservation ends ---------------------------------------------------------------------


def test_cancel_unspends_the_id_and_leaves_no_trace() -> None:
    ledger: Ledger[Said] = Ledger()
    ledger.reserve(ME, 7, A, PANE, "term.type", now=T0).cancel()
    assert ledger.high_water(ME) == 0
    assert ledger.lookup(ME, 7, B, T0) == New()
    assert ledger.statistics() == Ledger[Said]().statistics()
    run(ledger, 3)
    before = ledger.statistics()
    ledger.reserve(ME, 7, A, PANE, "term.type", now=T0).cancel()
    assert (ledger.high_water(ME), ledger.statistics()) == (3, before)
    run(ledger, 4)


def test_cancel_is_refused_once_a_later_id_is_spent() -> None:
    ledger: Ledger[Said] = Ledger()
    first = ledger.reserve(ME, 1, A, PANE, "term.tab.new", now=T0)
    run(ledger, 2)
    with pytest.raises(ValueError, match="later id"):
        first.cancel()
    assert ledger.lookup(ME, 1, A, T0) == Pending(1)
    first.drop()
    assert retired(ledger, 1) == "2"
    ledger.verify()


def test_drop_keeps_the_mark_and_nothing_else() -> None:
    ledger: Ledger[Said] = Ledger()
    ledger.reserve(ME, 7, A, PANE, "term.type", now=T0).drop()
    assert retired(ledger, 7) == "7"
    assert ledger.statistics()["running"] == ledger.statistics()["kept"] == 0
    ledger.verify()


def test_a_reply_about_load_is_never_recorded() -> None:
    ledger: Ledger[Said] = Ledger()
    with ledger.reserve(ME, 7, A, PANE, "term.tab.new", now=T0) as reservation:
        reservation.record(Said("full", about_load=True), T0)
    assert retired(ledger, 7) == "7"
    assert ledger.statistics()["kept"] == 0


def test_a_sealed_reply_says_whether_it_is_about_load() -> None:
    ledger: Ledger[Sealed] = Ledger()
    for number, outcome in enumerate((ErrorCode.RESOURCE_LIMIT, ErrorCode.UNAVAILABLE, "ok"), 1):
        reservation = ledger.reserve(ME, number, A, PANE, "term.type", now=T0)
        reservation.record(Sealed(0, b"{}", str(outcome)), T0)
    assert ledger.statistics()["kept"] == 1


def test_a_verb_that_crashes_leaves_the_id_spent_and_unknown() -> None:
    ledger: Ledger[Said] = Ledger()
    with pytest.raises(KeyError), ledger.reserve(ME, 7, A, PANE, "term.type", now=T0):
        raise KeyError
    assert retired(ledger, 7) == "7"
    assert ledger.statistics()["running"] == 0


@pytest.mark.parametrize("again", ["record", "cancel", "drop"])
def test_a_reservation_is_settled_once(again: str) -> None:
    ledger: Ledger[Said] = Ledger()
    reservation = ledger.reserve(ME, 7, A, PANE, "term.type", now=T0)
    reservation.record(Said("done"), T0)
    calls: dict[str, Callable[[], None]] = {
        "record": lambda: reservation.record(Said("again"), T0),
        "cancel": reservation.cancel,
        "drop": reservation.drop,
    }
    with pytest.raises(ValueError, match="already settled"):
        calls[again]()
    assert ledger.lookup(ME, 7, A, T0) == Recorded(Said("done"))


# -- operations ---------------------------------------------------------------------------------


def test_an_operation_tells_its_first_reply_until_it_has_a_later_outcome() -> None:
    ledger: Ledger[Said] = Ledger()
    later = Later()
    reservation = ledger.reserve(ME, 7, A, PANE, "term.type", now=T0)
    assert ledger.operation(ME, PANE, 7, T0) == Pending(7)
    reservation.record(Said("accepted"), T0, later)
    assert ledger.operation(ME, PANE, 7, T0) == Recorded(Said("accepted"))
    later.settle({"status": "completed"})
    assert ledger.operation(ME, PANE, 7, T0) == Settled({"status": "completed"})
    assert ledger.lookup(ME, 7, A, T0) == Recorded(Said("accepted"))
    with pytest.raises(ValueError, match="has its outcome"):
        later.settle({"status": "unknown"})


def test_an_outcome_that_came_before_the_first_reply_is_told_too() -> None:
    ledger: Ledger[Said] = Ledger()
    later = Later()
    with ledger.reserve(ME, 7, A, PANE, "term.type", now=T0) as reservation:
        later.settle({"status": "completed"})
        assert ledger.operation(ME, PANE, 7, T0) == Pending(7)
        reservation.record(Said("accepted"), T0, later)
    assert ledger.operation(ME, PANE, 7, T0) == Settled({"status": "completed"})


def test_an_operation_of_another_target_is_forbidden_and_of_another_actor_unknown() -> None:
    ledger: Ledger[Said] = Ledger()
    run(ledger, 7)
    elsewhere = refusal(lambda: ledger.operation(ME, OTHER, 7, T0))
    assert (elsewhere.code, elsewhere.details) == (ErrorCode.FORBIDDEN, {})
    foreign = refusal(lambda: ledger.operation(ambient(2), PANE, 7, T0))
    assert foreign.code is ErrorCode.UNKNOWN_OUTCOME
    assert foreign.details == {"reason": "unknown_operation", "request_high_water": "0"}


def test_an_operation_lapses_with_its_entry() -> None:
    ledger: Ledger[Said] = Ledger()
    run(ledger, 7)
    assert ledger.operation(ME, PANE, 7, T0 + RETENTION_S - TICK)
    gone = refusal(lambda: ledger.operation(ME, PANE, 7, T0 + RETENTION_S))
    assert gone.details == {"reason": "retired_request_id", "request_high_water": "7"}
