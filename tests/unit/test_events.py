"""The events of a service: what is known, what is due to whom, how often a program is told of."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from brokerd.client import ErrorCode, Refusal
from termnode.service.events.hub import Events, Left
from termnode.service.events.subscriptions import Subscriber
from termnode.service.events.throttle import BELLS, MARKS, Hearing, Throttle

ALL: dict[str, Any] = {"stop": False}


def who(name: str = "a", pid: int = 1, epoch: str = "e") -> Subscriber:
    return Subscriber(name, epoch, pid)


@dataclass
class Lab:
    """A hub, its posture, and what each connection got; ``takes`` is how many it still takes."""

    known: int = 1_024
    begin: int = 0
    subscriptions: int = 64
    is_open: bool = True
    takes: float = math.inf
    got: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.hub = Events(
            wall_ms=lambda: 7,
            is_open=lambda: self.is_open,
            subscriptions=self.subscriptions,
            known=self.known,
            begin=self.begin,
        )

    def send(self, connection: str, body: Mapping[str, object]) -> bool:
        if self.takes <= 0:
            return False
        self.takes -= 1
        self.got.setdefault(connection, []).append(json.loads(json.dumps(body)))
        return True

    def pump(self, limit: int = 10_000, share: int = 10_000) -> Left:
        return self.hub.deliver(self.send, limit, share)

    def seqs(self, name: str = "a") -> list[int]:
        return [body["seq"] for body in self.got.get(name, [])]

    def chain(self, name: str = "a") -> list[tuple[int, int]]:
        return [(body["previous"], body["seq"]) for body in self.got.get(name, [])]


def test_an_event_says_what_when_where_and_what_went_before() -> None:
    lab = Lab()
    lab.hub.publish("bell", 3)
    assert lab.hub.subscribe(who(), ALL) == {"seq": 1, "active": True}
    lab.hub.publish("exit", 3, generation=2, revision=9, exit={"code": 0}, core=None)
    assert lab.pump() is Left.NOTHING
    assert lab.got["a"] == [
        {
            "seq": 2, "time": 7, "kind": "exit", "pane": 3, "generation": 2, "revision": 9,
            "exit": {"code": 0}, "previous": 1,
        }
    ]  # fmt: skip


def test_only_what_was_asked_for_is_sent_and_the_chain_has_no_hole() -> None:
    lab = Lab()
    lab.hub.subscribe(who("a"), {**ALL, "kinds": ["bell"], "pane": 1})
    lab.hub.subscribe(who("b"), {**ALL, "pane": 2})
    for pane in (1, 2):
        lab.hub.publish("bell", pane)
        lab.hub.publish("title", pane, title="t")
    lab.hub.publish("bell", 1)
    lab.pump()
    assert lab.chain("a") == [(0, 1), (1, 5)]
    assert lab.chain("b") == [(0, 3), (3, 4)]


def test_a_layout_event_is_for_the_panes_it_concerns_or_for_all() -> None:
    lab = Lab()
    lab.hub.subscribe(who(), {**ALL, "pane": 2})
    lab.hub.publish("layout", 3, panes=frozenset({1, 2}), verb="term.pane.split")
    lab.hub.publish("layout", 3, panes=frozenset({1}), verb="term.pane.split")
    lab.hub.publish("layout", verb="term.tab.rename")
    lab.pump()
    assert lab.seqs() == [1, 3]
    assert lab.got["a"][0]["panes"] == [1, 2]
    assert "pane" not in lab.got["a"][1]


def test_after_sends_again_what_is_known_and_says_what_is_not() -> None:
    lab = Lab(known=3)
    for _ in range(5):
        lab.hub.publish("bell", 1)
    assert lab.hub.subscribe(who("a"), {**ALL, "after": 3}) == {
        "seq": 5, "active": True, "missed": 0,
    }  # fmt: skip
    assert lab.hub.subscribe(who("b"), {**ALL, "after": 0})["missed"] == 2
    lab.pump()
    assert lab.chain("a") == [(3, 4), (4, 5)]
    assert lab.chain("b") == [(0, 3), (3, 4), (4, 5)]


def test_a_number_that_was_never_given_is_of_an_earlier_service() -> None:
    lab = Lab()
    lab.hub.publish("bell", 1)
    assert lab.hub.subscribe(who(), {**ALL, "after": 2**64 - 1}) == {
        "seq": 1, "active": True, "missed": 0,
    }  # fmt: skip
    lab.pump()
    assert lab.chain() == [(0, 1)]


def test_numbers_of_an_earlier_service_stand_for_none_of_these() -> None:
    lab = Lab(known=3, begin=1_000)
    for _ in range(2):
        lab.hub.publish("bell", 1)
    reply = lab.hub.subscribe(who("a"), {**ALL, "after": 998})
    assert reply == {"seq": 1_002, "active": True, "missed": 0}
    for _ in range(2):
        lab.hub.publish("bell", 1)
    assert lab.hub.subscribe(who("b"), {**ALL, "after": 0})["missed"] == 1
    lab.pump()
    assert lab.chain("a") == [(1_001, 1_002), (1_002, 1_003), (1_003, 1_004)]
    assert lab.chain("b") == [(0, 1_002), (1_002, 1_003), (1_003, 1_004)]


def test_a_second_subscription_of_a_connection_replaces_the_first() -> None:
    lab = Lab()
    lab.hub.subscribe(who(), {**ALL, "kinds": ["bell"]})
    lab.hub.subscribe(who(), {**ALL, "kinds": ["title"]})
    lab.hub.publish("bell", 1)
    lab.hub.publish("title", 1, title="t")
    lab.pump()
    assert lab.seqs() == [2]
    assert lab.hub.statistics()["subscriptions"] == 1


def test_stop_ends_it_and_is_no_error_without_one() -> None:
    lab = Lab()
    lab.hub.subscribe(who(), ALL)
    for _ in range(2):
        assert lab.hub.subscribe(who(), {"stop": True}) == {"seq": 0, "active": False}
    lab.hub.publish("bell", 1)
    lab.pump()
    assert lab.got == {}


def test_what_cannot_go_now_goes_later_and_nothing_is_sent_twice() -> None:
    lab = Lab(takes=1)
    lab.hub.subscribe(who(), ALL)
    for _ in range(3):
        lab.hub.publish("bell", 1)
    assert lab.pump() is Left.STUCK
    lab.takes = math.inf
    assert lab.pump() is Left.NOTHING
    assert lab.chain() == [(0, 1), (1, 2), (2, 3)]
    assert lab.hub.statistics()["failed"] == 1


def test_a_subscription_that_is_overtaken_is_told_so() -> None:
    lab = Lab(known=4, takes=1)
    lab.hub.subscribe(who(), ALL)
    lab.hub.publish("bell", 1)
    lab.pump()
    for _ in range(9):
        lab.hub.publish("bell", 1)
    lab.takes = math.inf
    lab.pump()
    assert lab.chain() == [(0, 1), (6, 7), (7, 8), (8, 9), (9, 10)]
    assert lab.hub.statistics()["overtaken"] == 1


def test_a_turn_is_bounded_and_serves_first_who_is_furthest_behind() -> None:
    lab = Lab()
    lab.hub.subscribe(who("a"), ALL)
    lab.hub.subscribe(who("b"), ALL)
    for _ in range(4):
        lab.hub.publish("bell", 1)
    assert lab.pump(3) is Left.MORE
    assert (lab.seqs("a"), lab.seqs("b")) == ([1, 2, 3], [])
    assert lab.pump(3) is Left.MORE
    assert (lab.seqs("a"), lab.seqs("b")) == ([1, 2, 3], [1, 2, 3])
    assert lab.pump(3) is Left.NOTHING
    assert lab.seqs("a") == lab.seqs("b") == [1, 2, 3, 4]


def test_a_turn_has_something_for_everybody() -> None:
    lab = Lab()
    for name in "abc":
        lab.hub.subscribe(who(name), ALL)
    for _ in range(4):
        lab.hub.publish("bell", 1)
    assert lab.pump(4, 2) is Left.MORE
    assert [len(lab.seqs(name)) for name in "abc"] == [2, 2, 0]
    assert lab.pump(4, 2) is Left.MORE
    assert [len(lab.seqs(name)) for name in "abc"] == [4, 2, 2]


def test_strict_posture_ends_every_subscription_before_the_next_event() -> None:
    lab = Lab()
    lab.hub.subscribe(who(), ALL)
    lab.hub.publish("bell", 1)
    lab.is_open = False
    lab.pump()
    lab.is_open = True
    lab.pump()
    assert lab.got == {}
    assert lab.hub.statistics()["subscriptions"] == 0


def test_a_posture_that_is_seen_to_be_strict_ends_them_without_an_event() -> None:
    lab = Lab()
    lab.hub.subscribe(who(), ALL)
    lab.hub.recheck()
    assert lab.hub.statistics()["subscriptions"] == 1
    lab.is_open = False
    lab.hub.recheck()
    assert lab.hub.statistics()["subscriptions"] == 0


def test_subscriptions_end_with_their_process_and_their_broker() -> None:
    lab = Lab()
    for name, pid, epoch in (("a", 1, "e"), ("b", 1, "f"), ("c", 2, "f"), ("d", 3, "e")):
        lab.hub.subscribe(who(name, pid, epoch), ALL)
    assert lab.hub.pids() == {1, 2, 3}
    lab.hub.end_process(1)
    assert lab.hub.pids() == {2, 3}
    lab.hub.keep_epoch("f")
    assert lab.hub.pids() == {2}


def test_there_is_a_cap_and_a_process_takes_its_own_oldest_place() -> None:
    lab = Lab(subscriptions=2)
    lab.hub.subscribe(who("a", pid=1), ALL)
    lab.hub.subscribe(who("b", pid=2), ALL)
    with pytest.raises(Refusal) as refused:
        lab.hub.subscribe(who("c", pid=3), ALL)
    assert refused.value.code is ErrorCode.RESOURCE_LIMIT
    assert refused.value.details["limit"] == 2
    lab.hub.subscribe(who("b", pid=2), ALL)  # its own: no new one
    lab.hub.subscribe(who("d", pid=1), ALL)
    lab.hub.publish("bell", 1)
    lab.pump()
    assert set(lab.got) == {"b", "d"}


def test_news_is_given_only_where_somebody_listens() -> None:
    lab = Lab()
    calls: list[int] = []
    lab.hub.on_news = lambda: calls.append(1)
    lab.hub.publish("bell", 1)
    assert calls == []
    lab.hub.subscribe(who(), ALL)
    lab.hub.publish("bell", 1)
    assert calls == [1, 1]
    lab.hub.end_process(99)
    assert calls == [1, 1]


def test_wanted_knows_kinds_and_panes() -> None:
    lab = Lab()
    assert not lab.hub.wanted("quiet", 1)
    lab.hub.subscribe(who(), {**ALL, "pane": 1, "kinds": ["quiet"]})
    assert lab.hub.wanted("quiet", 1)
    assert not lab.hub.wanted("quiet", 2)
    assert not lab.hub.wanted("bell", 1)
    lab.hub.subscribe(who("b"), ALL)
    assert lab.hub.wanted("bell", 2)


def test_bells_are_ten_a_second_and_the_rest_is_counted() -> None:
    hearing = Hearing()
    told = [hearing.offer("bell", {}, 0.5) for _ in range(1_000)]
    assert [each for each in told if each is not None] == [{}] * BELLS
    due = [hearing.due]
    assert hearing.flush(1.49) == []
    assert hearing.flush(1.5) == [("bell", {"dropped": 989})]
    assert [*due, hearing.due] == [1.5, None]
    assert hearing.offer("bell", {}, 1.5) == {}


def test_the_last_title_is_told_although_it_came_too_fast() -> None:
    hearing = Hearing()
    for number in range(100):
        hearing.offer("title", {"title": str(number)}, 0.0)
    assert hearing.flush(1.0) == [("title", {"title": "99", "dropped": 89})]


def test_a_prompt_is_not_told_before_the_command_that_it_follows() -> None:
    hearing = Hearing()
    for _ in range(MARKS):
        assert hearing.offer("prompt", {}, 0.0) is not None
    assert hearing.offer("command", {"status": 1}, 0.9) is None
    assert hearing.offer("prompt", {}, 1.1) is None, "what is held goes first"
    assert hearing.flush(1.1) == [("command", {"status": 1}), ("prompt", {})]
    assert hearing.offer("bell", {}, 1.1) == {}, "another kind is not held up"


def test_what_is_held_can_go_at_once_and_what_comes_later_is_told_too() -> None:
    hearing = Hearing()
    for _ in range(BELLS + 1):
        hearing.offer("bell", {}, 0.0)
    assert hearing.flush(0.0, at_once=True) == [("bell", {})]
    assert hearing.offer("bell", {}, 1.0) == {}


def test_that_a_throttle_that_holds_nothing_would_be_seen() -> None:
    class Leaky(Throttle):
        def offer(self, kind: str, fields: Mapping[str, object], now: float) -> Any:  # noqa: ANN401
            super().offer(kind, fields, now)
            return fields

    told = [Leaky(BELLS).offer("bell", {}, 0.0) for _ in range(1_000)]
    assert len([each for each in told if each is not None]) > BELLS
