"""A subscriber knows what it has not seen, whatever happened on the way."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termnode.service.events.hub import Events, Left
from termnode.service.events.subscriptions import Subscriber, Subscription
from termnode.service.events.throttle import WINDOW_S, Throttle

KINDS = ("bell", "title", "exit")
KNOWN = 6

Step = tuple[str, Any]

steps = st.lists(
    st.one_of(
        st.tuples(st.just("publish"), st.tuples(st.sampled_from(KINDS), st.integers(1, 2))),
        st.tuples(st.just("pump"), st.tuples(st.integers(1, 4), st.integers(0, 9))),
        st.tuples(st.just("again"), st.integers(0, 1)),
    ),
    max_size=60,
)
filters = st.tuples(
    st.none() | st.integers(1, 2),
    st.none() | st.lists(st.sampled_from(KINDS), min_size=1, unique=True),
)


@dataclass
class Reader:
    """One subscriber: what it asked for, what it has seen, and what it has noticed."""

    name: str
    pane: int | None
    kinds: list[str] | None
    last: int = 0
    seen: set[int] = field(default_factory=set)
    unnoticed: int = 0

    def args(self, **more: object) -> dict[str, Any]:
        asked = {"pane": self.pane, "kinds": self.kinds}
        return {**{k: v for k, v in asked.items() if v is not None}, "stop": False, **more}

    def wants(self, event: tuple[str, int]) -> bool:
        kind, pane = event
        return self.pane in {None, pane} and (self.kinds is None or kind in self.kinds)

    def lost(self, events: list[tuple[str, int]], to: int) -> bool:
        """Whether it should have had something between what it saw last and ``to``."""
        return any(self.wants(events[seq - 1]) for seq in range(self.last + 1, to))

    def take(self, body: dict[str, Any], events: list[tuple[str, int]]) -> None:
        seq = body["seq"]
        assert seq > self.last, "in order, and never twice"
        assert self.wants(events[seq - 1]), "nothing that was not asked for"
        told = body["previous"] != self.last
        self.unnoticed += self.lost(events, seq) and not told
        self.last = seq
        self.seen.add(seq)


@dataclass
class World:
    """A hub that knows few events, and subscribers behind a queue with little room."""

    readers: list[Reader]
    hub: Events = field(
        default_factory=lambda: Events(wall_ms=lambda: 0, is_open=lambda: True, known=KNOWN)
    )
    events: list[tuple[str, int]] = field(default_factory=list)

    def run(self, script: list[Step]) -> None:
        for reader in self.readers:
            self.hub.subscribe(Subscriber(reader.name, "e", 1), reader.args())
        for step, value in script:
            getattr(self, step)(value)

    def publish(self, event: tuple[str, int]) -> None:
        self.events.append(event)
        self.hub.publish(event[0], event[1])

    def pump(self, sizes: tuple[float, float]) -> Left:
        limit, room = sizes
        by_name = {reader.name: reader for reader in self.readers}

        def send(connection: str, body: Any) -> bool:  # noqa: ANN401
            nonlocal room
            room -= 1
            if room >= 0:
                by_name[connection].take(dict(body), self.events)
            return room >= 0

        return self.hub.deliver(send, int(limit), 3)

    def again(self, number: int) -> None:
        """A subscriber asks for what it has not seen; it is told how much that is no more."""
        reader = self.readers[number]
        args = reader.args(after=reader.last)
        reply = self.hub.subscribe(Subscriber(reader.name, "e", 1), args)
        oldest = max(1, len(self.events) - KNOWN + 1)
        assert reply["seq"] == len(self.events)
        assert reply["missed"] == max(0, oldest - 1 - reader.last)
        reader.last += reply["missed"]  # told: it knows of these
        self.hub.subscribe(Subscriber(reader.name, "e", 1), reader.args(after=reader.last))


def world_after(script: list[Step], chosen: list[tuple[int | None, list[str] | None]]) -> World:
    world = World([Reader(str(n), pane, kinds) for n, (pane, kinds) in enumerate(chosen)])
    world.run(script)
    return world


@given(steps, st.tuples(filters, filters))
def test_no_loss_goes_unnoticed(script: list[Step], chosen: Any) -> None:  # noqa: ANN401
    world = world_after(script, list(chosen))
    assert [reader.unnoticed for reader in world.readers] == [0, 0]


@given(steps, st.tuples(filters, filters))
def test_with_room_everything_that_is_still_known_arrives(
    script: list[Step],
    chosen: Any,  # noqa: ANN401
) -> None:
    world = world_after(script, list(chosen))
    for number in (0, 1):
        world.again(number)
    while world.pump((1_000, math.inf)) is not Left.NOTHING:
        pass
    oldest = max(1, len(world.events) - KNOWN + 1)
    for reader in world.readers:
        due = {
            seq
            for seq in range(oldest, len(world.events) + 1)
            if reader.wants(world.events[seq - 1])
        }
        assert due <= reader.seen


OVERTAKEN: list[Step] = [
    ("publish", ("bell", 1)),
    ("pump", (9, 9)),
    *[("publish", ("bell", 1))] * (KNOWN + 2),
    ("pump", (9, 9)),
]


def _keeps_the_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hub that goes on after a loss as if nothing had been."""

    def catch_up(hub: Any, each: Subscription) -> None:  # noqa: ANN401
        each.cursor = max(each.cursor, hub._ring.oldest - 1)

    monkeypatch.setattr(Events, "_catch_up", catch_up)


@pytest.mark.parametrize(("broken", "unnoticed"), [(None, 0), (_keeps_the_chain, 1)])
def test_that_a_hub_that_hides_a_loss_would_be_seen(
    broken: Callable[[pytest.MonkeyPatch], None] | None,
    unnoticed: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if broken is not None:
        broken(monkeypatch)
    world = world_after(OVERTAKEN, [(None, None), (2, None)])
    assert [reader.unnoticed for reader in world.readers] == [unnoticed, 0]


@given(
    st.integers(2, 5),
    st.lists(st.tuples(st.sampled_from("xy"), st.floats(0, 2), st.booleans()), max_size=40),
)
def test_a_throttle_lets_few_through_and_loses_no_last_one(
    limit: int, script: list[tuple[str, float, bool]]
) -> None:
    throttle, now = Throttle(limit), 0.0
    told: list[tuple[float, str, int, int]] = []
    offered: dict[str, int] = {}
    counted: dict[str, int] = {}

    def note(kind: str, fields: Any) -> None:  # noqa: ANN401
        told.append((now, kind, fields["n"], fields.get("dropped", 0)))
        counted[kind] = counted.get(kind, 0) + 1 + fields.get("dropped", 0)

    for kind, pause, flush in script:
        now += pause
        offered[kind] = offered.get(kind, 0) + 1
        passed = throttle.offer(kind, {"n": offered[kind]}, now)
        if passed is not None:
            note(kind, passed)
        if flush:
            for held in throttle.flush(now):
                note(*held)
    while (due := throttle.due) is not None:
        now = max(now, due)
        for held in throttle.flush(now):
            note(*held)
    for at, (start, *_) in enumerate(told):
        assert len([1 for when, *_ in told[at:] if when < start + WINDOW_S]) <= limit
    assert counted == offered, "each is told or counted"
    for kind, number in offered.items():
        assert [n for _, k, n, _ in told if k == kind][-1] == number, "the last one is told"
