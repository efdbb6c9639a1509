"""Random interleavings of calls, ends and load refusals against a small model of the promise.

The model: a request key, per caller, is free, running or done; at most one run per stay in the
record; a replay gives the recorded bytes. The lane is driven as the service drives it.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brokerd.client import ErrorCode, Json, Refusal
from termnode.control.retry import Key, Lookup, New, RetryTable
from termnode.lanes.calls import Admitted, Answer, Call, Join, Reply, Sealed, Ticket
from termnode.lanes.global_lane import LaneRetries
from tests.support.lane import Local, Rig, code

DONE = 3
MUTATIONS = 4

CALLERS = st.sampled_from([Local(), Local(unix_uid=7)])
REQUESTS: list[tuple[str, dict[str, Json]]] = [
    ("term.tab.new", {}),
    ("term.tab.new", {"remain": 1}),
    ("term.tab.close", {}),
]


@dataclass(frozen=True)
class Ask:
    """A caller sends a request under one of its ids."""

    caller: Local
    number: int
    request: tuple[str, dict[str, Json]]


@dataclass(frozen=True)
class End:
    """One of the running requests ends: ok, refused or load."""

    number: int
    how: str


Step = Ask | End
STEPS: st.SearchStrategy[Step] = st.one_of(
    st.builds(Ask, CALLERS, st.integers(0, 5), st.sampled_from(REQUESTS)),
    st.builds(End, st.integers(0, 9), st.sampled_from(["ok", "refused", "load"])),
)

Id = tuple[int | None, int]
Content = tuple[str, str]


@dataclass
class Model:
    """What the record promises, in the fewest words."""

    running: dict[Id, Content] = field(default_factory=dict)
    done: OrderedDict[Id, tuple[Content, Sealed]] = field(default_factory=OrderedDict)

    def expected(self, key: Id, content: Content) -> str:
        """The verdict that a call must get."""
        known = self.running.get(key) or self.done.get(key, (None,))[0]
        if known is None:
            return "run" if len(self.running) < MUTATIONS else "load"
        if known != content:
            return "conflict"
        return "join" if key in self.running else "replay"

    def ended(self, key: Id, reply: Sealed, *, load: bool) -> None:
        content = self.running.pop(key)
        if load:
            return
        self.done[key] = content, reply
        while len(self.done) > DONE:
            self.done.popitem(last=False)


@dataclass
class Run:
    """The lane beside the model."""

    retries: LaneRetries
    model: Model = field(default_factory=Model)
    tickets: dict[Id, Ticket] = field(default_factory=dict)
    unanswered: set[Call] = field(default_factory=set)
    count: int = 0

    def __post_init__(self) -> None:
        self.rig = Rig(retries=self.retries, mutations_waiting=MUTATIONS - 1, joined=1000)

    def call(self, caller: Local, number: int, request: tuple[str, dict[str, Json]]) -> None:
        key, content = (caller.unix_uid, number), (request[0], repr(request[1]))
        verdict = self.rig.admit(
            request[0], {**request[1], "request_id": f"r-{number}"}, principal=caller
        )
        assert self.seen(verdict, key) == self.model.expected(key, content)
        if isinstance(verdict, Admitted):
            self.model.running[key] = content
            self.tickets[key] = verdict.ticket
            self.unanswered.add(verdict.ticket.call)

    def seen(self, verdict: object, key: Id) -> str:
        if isinstance(verdict, Admitted):
            return "run"
        if isinstance(verdict, Join):
            assert verdict.ticket is self.tickets[key]
            self.unanswered.add(verdict.ticket.joined[-1][0])
            return "join"
        assert isinstance(verdict, Answer)
        known = {"CONFLICT": "conflict", "RESOURCE_LIMIT": "load"}.get(code(verdict.reply))
        if known is None:
            assert verdict.reply == self.model.done[key][1]
        return known or "replay"

    def end(self, number: int, how: str) -> None:
        if not self.tickets:
            return
        key = list(self.tickets)[number % len(self.tickets)]
        self.count += 1
        settled = self.rig.settle(self.tickets.pop(key), self.reply(how))
        assert set(settled.calls) <= self.unanswered
        assert len(set(settled.calls)) == len(settled.calls)
        self.unanswered -= set(settled.calls)
        self.model.ended(key, settled.reply, load=how == "load")

    def reply(self, how: str) -> Reply:
        if how == "ok":
            return Reply.ok(run=self.count)
        reason = ErrorCode.RESOURCE_LIMIT if how == "load" else ErrorCode.NOT_FOUND
        return Reply.refused(Refusal(reason, "no", run=self.count))


def play(retries: LaneRetries, steps: list[Step]) -> None:
    run = Run(retries)
    for step in steps:
        if isinstance(step, Ask):
            run.call(step.caller, step.number, step.request)
        else:
            run.end(step.number, step.how)
    while run.tickets:
        run.end(0, "ok")
    assert not run.unanswered  # everybody got one answer
    assert run.rig.lane.statistics() == {
        "reads": 0, "mutations": 0, "waits": 0, "subscriptions": 0, "joined": 0,
        "pending": 0, "done": len(run.model.done),
    }  # fmt: skip


@settings(max_examples=200, deadline=None, database=None)
@given(steps=st.lists(STEPS, max_size=60))
def test_a_request_runs_once_and_replays_are_equal(steps: list[Step]) -> None:
    play(RetryTable(done=DONE), steps)


class Forgetful(RetryTable[Ticket, Sealed]):
    """Loses what is running: a repeat would run the verb a second time."""

    def lookup(self, key: Key, digest: bytes) -> New:
        return New()

    def reserve(self, key: Key, digest: bytes, owner: Ticket) -> None:
        self._pending[key] = digest, owner


class Careless(RetryTable[Ticket, Sealed]):
    """Does not look at what a request says."""

    def reserve(self, key: Key, digest: bytes, owner: Ticket) -> None:
        super().reserve(key, b"", owner)

    def lookup(self, key: Key, digest: bytes) -> Lookup[Sealed, Ticket]:
        return super().lookup(key, b"")


class Greedy(RetryTable[Ticket, Sealed]):
    """Keeps replies for ever, load refusals too."""

    def release(self, key: Key) -> None:
        self.record(key, Sealed(10, b'{"error_code":"NOT_FOUND"}', "NOT_FOUND"))


SCRIPT: list[Step] = [
    Ask(Local(), 1, REQUESTS[0]),
    Ask(Local(), 1, REQUESTS[0]),
    Ask(Local(), 1, REQUESTS[1]),
    End(0, "load"),
    Ask(Local(), 1, REQUESTS[0]),
    End(0, "ok"),
    Ask(Local(), 1, REQUESTS[0]),
]


@pytest.mark.parametrize("broken", [Forgetful, Careless, Greedy])
def test_the_model_finds_a_broken_record(broken: type[RetryTable[Ticket, Sealed]]) -> None:
    play(RetryTable(done=DONE), SCRIPT)
    with pytest.raises((AssertionError, KeyError)):
        play(broken(done=DONE), SCRIPT)
