"""Leases of callers: how long a check counts, what drops it, and how many there are."""

from __future__ import annotations

import pytest

from brokerd.client import Ref
from termnode.control.native.leases import LeaseCache
from termnode.control.native.limits import LEASE_FRESH_MS

A = Ref("a" * 32, "1" * 32, 1)
LATER = Ref("a" * 32, "1" * 32, 2)
B = Ref("b" * 32, "1" * 32, 1)


def checked(leases: LeaseCache, ref: Ref, started: int = 0, remaining: int = 15_000) -> None:
    assert leases.put(leases.begin(ref, started), remaining)


def test_a_check_counts_for_less_than_five_seconds_from_its_start() -> None:
    leases = LeaseCache()
    checked(leases, A, 1_000)
    assert leases.get(A, 1_000) == 16_000
    assert leases.get(A, 1_000 + LEASE_FRESH_MS - 1) == 16_000
    assert leases.get(LATER, 1_000) is None
    assert leases.get(A, 1_000 + LEASE_FRESH_MS) is None
    assert leases.statistics() == {"leases": 1, "lease_checks": 0}


def test_what_was_permitted_by_a_lease_is_trusted_until_that_ends_or_is_dropped() -> None:
    leases = LeaseCache()
    assert not leases.is_trusted(A, 0)
    checked(leases, A, 0, 15_000)
    assert leases.is_trusted(A, 14_999)
    assert not leases.is_trusted(A, 15_000)
    assert not leases.is_trusted(LATER, 0)
    leases.drop(A.record_id, 1)
    assert not leases.is_trusted(A, 0)


def test_a_lease_ends_at_its_deadline() -> None:
    leases = LeaseCache()
    checked(leases, A, 1_000, 10)
    assert leases.get(A, 1_009) == 1_010
    assert leases.get(A, 1_010) is None
    checked(leases, A, 1_000, 0)
    assert leases.get(A, 1_000) is None


def test_a_notice_that_overtakes_an_answer_voids_it() -> None:
    leases = LeaseCache()
    for drop in (
        leases.clear,
        lambda: leases.drop(A.record_id),
        lambda: leases.drop(A.record_id, 1),
    ):
        check = leases.begin(A, 0)
        drop()
        assert not leases.put(check, 15_000)
        assert leases.get(A, 0) is None
    check = leases.begin(A, 0)
    leases.drop(B.record_id)
    assert leases.put(check, 15_000)


def test_an_answer_to_an_earlier_question_counts_no_more() -> None:
    leases = LeaseCache()
    first = leases.begin(A, 0)
    second = leases.begin(A, 10)
    assert not leases.put(first, 15_000)
    assert leases.get(A, 10) is None
    assert leases.put(second, 15_000)
    assert not leases.put(second, 15_000)


def test_a_failed_check_takes_what_was_known() -> None:
    leases = LeaseCache()
    checked(leases, A)
    stale = leases.begin(A, 1)
    leases.failed(leases.begin(A, 2))
    assert leases.get(A, 2) is None
    leases.failed(stale)
    checked(leases, A)
    leases.failed(stale)
    assert leases.get(A, 0) == 15_000


@pytest.mark.parametrize(
    ("generation", "left"), [(None, []), (1, [LATER]), (2, []), (0, [A, LATER])]
)
def test_a_drop_takes_attachments_up_to_a_generation(
    generation: int | None, left: list[Ref]
) -> None:
    leases = LeaseCache()
    for ref in (A, LATER, B):
        checked(leases, ref)
    leases.drop(A.record_id, generation)
    assert [ref for ref in (A, LATER, B) if leases.get(ref, 0)] == [*left, B]


def test_the_one_checked_longest_ago_gives_way() -> None:
    leases = LeaseCache(most=2)
    checked(leases, A)
    checked(leases, B)
    checked(leases, A)
    checked(leases, LATER)
    assert [ref for ref in (A, LATER, B) if leases.get(ref, 0)] == [A, LATER]
    assert leases.statistics()["leases"] == 2
