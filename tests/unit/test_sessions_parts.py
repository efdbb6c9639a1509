"""Parts of the store of sessions: the schedule, the queues of notices, names, refusals, tables."""

from __future__ import annotations

import inspect
import re
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.core.sessions import GAP, GrantState, Notice, RecordState, Ref, Sessions, refusals
from brokerd.core.sessions.issued_names import IssuedNames, base36
from brokerd.core.sessions.model import GRANT_MOVES, RECORD_MOVES, moved
from brokerd.core.sessions.notices import Notices
from brokerd.core.sessions.schedule import Kind, Schedule
from brokerd.limits import SessionLimits

RESERVED = re.compile(r"[tc][0-9a-z]{1,7}-[a-z2-7]{22}")


def test_the_tables_of_changes_are_whole_and_end_where_they_should() -> None:
    assert RECORD_MOVES.keys() == set(RecordState)
    assert GRANT_MOVES.keys() == set(GrantState)
    for old in RecordState:
        for new in RecordState:
            if new not in RECORD_MOVES[old]:
                with pytest.raises(AssertionError):
                    moved(RECORD_MOVES, old, new)
    assert [old for old, to in RECORD_MOVES.items() if not to] == [RecordState.REVOKED]
    assert [old for old, to in GRANT_MOVES.items() if to] == [GrantState.PENDING]


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["set", "cancel", "pass"]),
        st.sampled_from(list(Kind)),
        st.integers(0, 3),
        st.integers(1, 20),
    ),
    max_size=60,
)


@given(steps=STEPS)
def test_the_schedule_ends_each_thing_in_its_turn(
    steps: list[tuple[str, Kind, int, int]],
) -> None:
    schedule = Schedule()
    # By key: when, and the turn in which it was first set.
    model: dict[tuple[Kind, int], tuple[int, int]] = {}
    now = 0
    for turn, (do, kind, what, number) in enumerate(steps):
        if do == "set":
            schedule.set(kind, what, now + number)
            model[kind, what] = (now + number, model.get((kind, what), (0, turn))[1])
        elif do == "cancel":
            schedule.cancel(kind, what)
            model.pop((kind, what), None)
        else:
            now += number
            due = sorted((at, key[0], turn, key) for key, (at, turn) in model.items() if at <= now)
            first = schedule.next()
            assert not due or (first is not None and first <= due[0][0])
            ended = list(schedule.expired(now))
            assert ended == [(at, *key) for at, _, _, key in due]
            model = {key: when for key, when in model.items() if when[0] > now}
        schedule.verify()
        assert (schedule.next() is None) == (not model)


def test_whoever_renews_often_leaves_no_trail() -> None:
    schedule = Schedule()
    for n in range(10_000):
        schedule.set(Kind.LEASE, "a", n + 15)
        schedule.set(Kind.GRANT, n, n + 30)
        schedule.cancel(Kind.GRANT, n)
    schedule.verify()
    assert len(schedule._heap) < 100


def notice(n: int) -> Notice:
    return Notice(Ref("0" * 32, "0" * 32, n), RecordState.ATTACHED)


CALLS = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "put", "take", "restore", "forget"]), st.integers(0, 3)
    ),
    max_size=80,
)


@given(calls=CALLS)
def test_a_longest_queue_gives_way_and_learns_of_it(calls: list[tuple[str, int]]) -> None:
    notices = Notices(SessionLimits(notices_per_connection=3, notices=6))
    queues: dict[str, deque[Notice]] = {str(n): deque() for n in range(4)}
    gaps: set[str] = set()
    for turn, (do, n) in enumerate(calls):
        who = str(n)
        if do == "put":
            total = sum(map(len, queues.values()))
            sizes = {each: len(queue) for each, queue in notices.queues().items()}
            notices.put(who, notice(turn))
            if len(queues[who]) >= 3:
                gaps.add(who)
            else:
                if total >= 6:
                    loser = lost_one(sizes, notices, who)
                    assert sizes[loser] == max(sizes.values())
                    queues[loser].popleft()
                    gaps.add(loser)
                queues[who].append(notice(turn))
        elif do == "take":
            expected = GAP if who in gaps else queues[who].popleft() if queues[who] else None
            gaps.discard(who)
            assert notices.take(who) == expected
        elif do == "restore":
            if (told := notices.take(who)) is not None:
                notices.restore(who, told)
        else:
            notices.forget(who)
            queues[who].clear()
            gaps.discard(who)
        notices.verify()
        assert {each: queue for each, queue in queues.items() if queue} == dict(notices.queues())
        assert set(notices.waiting()) == gaps | {each for each, queue in queues.items() if queue}


def lost_one(before: dict[str, int], notices: Notices, who: str) -> str:
    """Whose oldest went: its queue is one shorter than it would be."""
    after = {each: len(notices.queues().get(each, ())) for each in before}
    lost = [each for each in before if after[each] < before[each] + (each == who)]
    assert len(lost) == 1
    return lost[0]


def test_names_have_the_reserved_form() -> None:
    assert [base36(n) for n in (0, 9, 35, 36, 2**32 - 1)] == ["0", "9", "z", "10", "1z141z3"]
    names = IssuedNames(SessionLimits(), bytes)
    highest = IssuedNames(SessionLimits(), lambda size: b"\xff" * size)
    for issued in (names.issue("term", 0), highest.issue("pane-shell", 2**32 - 1)):
        assert RESERVED.fullmatch(issued)
    assert "t0-" + "a" * 22 in names
    assert not RESERVED.fullmatch("t01234567-" + "a" * 22)


def test_every_refusal_has_a_remedy() -> None:
    for reason in refusals._REASONS:
        body = refusals.because(reason).body()
        assert body["details"] == {"reason": reason}
        assert re.search(r"[;:,] ", str(body["message"])), reason


def test_every_verb_says_what_it_raises() -> None:
    for name in ("allocate", "create_grant", "prove", "renew", "revoke", "lease_check"):
        assert "Refusal" in (inspect.getdoc(getattr(Sessions, name)) or ""), name
