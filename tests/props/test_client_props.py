"""Long waits and events over a bad line: whatever happens, nothing is lost or seen twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termnode.client import watching
from termnode.client.following import Follower, Lost
from termnode.client.seen import Event, Subscribed, Waited
from termnode.client.wait_plan import DEADLINE, LONGEST_S, SHORTEST_S, WaitPlan

# -- events ------------------------------------------------------------------------------------


@dataclass
class Line:
    """A service with events 1.. of which it still knows those from ``oldest``, and a bad line."""

    known: int
    events: int = 0
    previous: int = 0
    sent: list[dict[str, Any]] = field(default_factory=list)

    @property
    def oldest(self) -> int:
        return max(1, self.events - self.known + 1)

    def happen(self, *, arrives: bool) -> None:
        self.events += 1
        if arrives:
            self.sent.append(self.body(self.events))
        self.previous = self.events

    def body(self, seq: int) -> dict[str, Any]:
        return {"seq": seq, "previous": self.previous, "time": 0, "kind": "bell"}

    def subscribe(self, after: int | None) -> Subscribed:
        if after is None:
            self.previous = self.events
            return Subscribed(self.events, active=True)
        start = after if after <= self.events else 0
        self.previous = start
        for seq in range(max(start + 1, self.oldest), self.events + 1):
            self.sent.append(self.body(seq))
            self.previous = seq
        missed = max(0, self.oldest - 1 - start)
        return Subscribed(self.events, active=True, missed=missed)


def read(line: Line, follower: Follower, seen: list[Event]) -> None:
    """All that has arrived, asking again where something is missing."""
    while line.sent:
        try:
            event = follower.take(line.sent.pop(0))
        except Lost:
            follower.subscribed(line.subscribe(follower.after))
        else:
            if event is not None:
                seen.append(event)


STEPS = st.lists(st.sampled_from(["arrives", "lost", "read", "again"]), max_size=60)


def run(steps: list[str], known: int, follower: Follower) -> tuple[Line, list[Event]]:
    line, seen = Line(known), list[Event]()
    follower.subscribed(line.subscribe(follower.after))
    for step in steps:
        if step in {"arrives", "lost"}:
            line.happen(arrives=step == "arrives")
        elif step == "read":
            read(line, follower, seen)
        else:
            follower.subscribed(line.subscribe(follower.after))
    read(line, follower, seen)
    follower.subscribed(line.subscribe(follower.after))
    read(line, follower, seen)
    return line, seen


def check_all_are_seen(steps: list[str], known: int, follower: Follower) -> None:
    line, seen = run(steps, known, follower)
    numbers = [event.seq for event in seen]
    assert numbers == sorted(set(numbers)), "in order and none twice"
    missed = sum(event.missed for event in seen)
    assert len(numbers) + missed == (numbers[-1] if numbers else 0), "what is missing is said"
    assert not line.events or numbers[-1] == line.events


@given(STEPS, st.integers(1, 60))
def test_every_event_is_seen_once_or_said_to_be_missed(steps: list[str], known: int) -> None:
    check_all_are_seen(steps, known, Follower())


def test_a_follower_that_looks_at_no_numbers_fails_that() -> None:
    class Trusting(Follower):
        def take(self, body: Mapping[str, Any]) -> Event | None:
            self._order.after = body["seq"]
            return Event(body["seq"], 0, 0, "x")

    for steps in (["lost", "arrives"], ["arrives", "again"]):
        check_all_are_seen(steps, 60, Follower())
        with pytest.raises(AssertionError):
            check_all_are_seen(steps, 60, Trusting())


def test_numbers_that_began_anew_are_another_services() -> None:
    follower = Follower(after=50)
    follower.subscribed(Subscribed(3, active=True))
    event = follower.take({"seq": 1, "previous": 0, "time": 0, "kind": "bell"})
    assert event is not None


# -- waits -------------------------------------------------------------------------------------


def ended(outcome: str, revision: int) -> Waited:
    return Waited(1, 1, outcome, revision, lines_missed=1)


@given(
    st.floats(0, 400) | st.none(),
    st.lists(st.tuples(st.floats(0, 50), st.booleans()), min_size=1, max_size=30),
    st.floats(0.001, LONGEST_S),
)
def test_parts_keep_to_the_deadline(
    timeout: float | None, parts: list[tuple[float, bool]], longest: float
) -> None:
    """Each is of an allowed length, none begins after the end, and the last answer counts."""
    plan = WaitPlan(watching.wait(until="x", after=3), timeout, 100.0)
    now, after, answers = 100.0, 3, 0
    for revision, (took, matched) in enumerate(parts, start=10):
        part = plan.part(now, longest)
        if part is None:
            assert answers
            assert plan.over(now)
            break
        milliseconds = part.body["timeout_ms"]
        assert isinstance(milliseconds, int)
        assert 1 <= milliseconds <= max(1, round(1000 * longest) + 1)
        assert timeout is None or now + milliseconds / 1000 <= 100 + timeout + 0.002
        assert part.body["after"] == after
        now += min(took, milliseconds / 1000)
        plan.answered(ended("matched" if matched else DEADLINE, revision), now)
        after, answers = revision, answers + 1
        assert plan.result is not None
        assert plan.result.lines_missed == answers
        if matched:
            assert plan.part(now) is None
            assert plan.result.outcome == "matched"
            break


@pytest.mark.parametrize(
    ("conditions", "after"),
    [
        ({"until": "x"}, 7),
        ({"until": "x", "after": 3}, 7),
        ({"changed": True}, 7),
        ({"quiet_ms": 100}, 0),
        ({"quiet_ms": 100, "after": 3}, 0),
        ({"prompt": True}, None),
        ({"prompt": True, "after": 3}, 3),
    ],
)
def test_what_the_next_part_goes_on_from(conditions: dict[str, Any], after: int | None) -> None:
    plan = WaitPlan(watching.wait(**conditions), 100.0, 0.0)
    plan.part(0.0)
    plan.answered(ended(DEADLINE, 7), 45.0)
    part = plan.part(45.0)
    assert part is not None
    assert part.body.get("after") == after


@given(st.integers(50, 45_000), st.floats(0, 400), st.floats(0.001, LONGEST_S))
def test_a_part_has_room_for_the_silence_and_outstays_nobody(
    quiet_ms: int, age: float, longest: float
) -> None:
    """A shorter one could never hear it. No other is left behind for longer than it was old."""
    for asked in ({"quiet_ms": quiet_ms}, {"changed": True}):
        part = WaitPlan(watching.wait(**asked), None, 0.0).part(age, longest)
        assert part is not None
        milliseconds = part.body["timeout_ms"]
        assert isinstance(milliseconds, int)
        assert milliseconds <= 45_000
        if "quiet_ms" in asked:
            assert milliseconds >= min(45_000, quiet_ms + 1_000)
        else:
            assert milliseconds <= 1 + 1000 * max(SHORTEST_S, age)
