"""Native input in any order of keys, inputs and rises: nothing after its end, true counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.client import Principal, Refusal
from termnode.control.native.decisions import Go
from termnode.control.native.history import Later
from termnode.control.posture import Posture
from termnode.service.input.inputs import Inputs
from termnode.service.live_pane import LivePane
from termnode.service.native import input as native_input
from termnode.service.native import outcomes
from termnode.service.native.foreground import Foreground
from termnode.service.native.input import NativeInput
from termnode.service.native.revoked import Revoked
from termnode.service.state import State
from termnode.service.viewing.people import People
from termnode.terminal.pyte_engine import PyteEngine
from termnode.terminal.write_queue import Piece, QueueFull, WriteQueue
from tests.support.native_gate import AMBIENT, Rig, body_for

Step = tuple[str, int]

STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["agent", "agent", "other", "read", "read", "person", "global", "layout", "group",
             "strict", "open", "lost", "back", "recheck", "pass"]
        ),
        st.integers(1, 9),
    ),
    max_size=40,
)  # fmt: skip

BYTES = b"abcdefghijklmnopqrstuvwxyz0123456789!#$%&*+-="
"""Each input has one of its own."""

ROOM = 12
"""Bytes that the terminal takes while nobody reads."""


class Terminal:
    """A terminal that takes ``ROOM`` bytes more than were read, in the step of the write."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.queue = WriteQueue()
        self.engine = PyteEngine(80, 24, 0)
        self.group = 7
        self.room = ROOM
        self.got = bytearray()
        self.bytes_in = 0
        self._now = now

    def foreground_group(self) -> int:
        return self.group

    def line_discipline(self) -> None:
        return None

    def write(
        self, data: bytes, *, within: float, permit: Callable[[], bool] | None, closing: bytes = b""
    ) -> Piece:
        piece = Piece(data, self._now() + within, permit, closing=closing)
        self.queue.put(piece)
        self.flush()
        return piece

    def recheck_permits(self) -> None:
        if not self.queue.asking:
            self.queue.revoke()
            self.flush()

    def flush(self) -> None:
        while self.room and (chunk := self.queue.head(self._now())) is not None:
            taken = bytes(chunk[: self.room])
            self.got += taken
            self.room -= len(taken)
            self.queue.wrote(len(taken), self._now())

    def read(self, count: int) -> None:
        self.room = min(ROOM, self.room + count)
        self.queue.expire(self._now())
        self.flush()


@dataclass(eq=False)
class Sent:
    """One accepted input: when, of whom, and how much of it was there when its right ended."""

    number: int
    byte: bytes
    total: int
    at: float
    later: Later
    ended_with: int | None = None


class Lab:
    """A pane at which all meet."""

    def __init__(self) -> None:
        self.now = 100.0
        self.rig = Rig()
        self.terminal = Terminal(lambda: self.now)
        self.live = LivePane(1, cast(Any, None), 7, cast(Any, self.terminal), cast(Any, None), 0.0)
        self.live.writer._clock = lambda: self.now
        self.people = People(lambda: self.now)
        self.revoked = Revoked(10_000)
        self.input = NativeInput(
            self.rig.world,
            self.rig.leases,
            self.revoked,
            clock=lambda: self.now,
            now_ms=lambda: self.now_ms,
        )
        self.state = cast(
            State,
            SimpleNamespace(
                find_live=lambda _: self.live,
                inputs=Inputs(),
                people=self.people,
                config=SimpleNamespace(write_deadline_s=2.0),
            ),
        )
        self.sent: list[Sent] = []
        self.refused: list[str] = []
        self.people_wrote = 0

    @property
    def now_ms(self) -> int:
        return round(self.now * 1000)

    # -- steps --

    def agent(self, count: int, principal: Principal = AMBIENT) -> None:
        self.rig.now, self.rig.now_ms = self.now, self.now_ms
        seen = self.live.observe_foreground()
        number = len(self.sent) + 1
        byte = BYTES[number : number + 1]
        body = body_for(
            "term.type",
            text=byte.decode() * count,
            enter=False,
            request_id=str(number),
            request_epoch=principal.connection_id,
            foreground_generation=str(seen),
        )
        decision = self.rig.evaluate(principal, "term.type", body)
        if not isinstance(decision, Go):
            self.refused.append("gate")
            return
        try:
            done = self.input.perform(self.state, decision)
        except Refusal as refusal:
            self.refused.append(str(refusal.code))
            return
        assert done.later is not None
        self.sent.append(Sent(number, byte, count, self.now, done.later))

    def other(self, count: int) -> None:
        self.agent(count, replace(AMBIENT, connection_id="9" * 32))

    def read(self, count: int) -> None:
        self.terminal.read(count)

    def person(self, count: int) -> None:
        self.people.interrupt(self.live)
        self._ends()
        self._writes(b"P" * count)

    def global_(self, count: int) -> None:
        self.live.foreground.raise_("input")
        self._ends()
        self._writes(b"G" * count)

    def layout(self, _: int) -> None:
        self.live.foreground.raise_("layout")
        self._ends()

    def group(self, _: int) -> None:
        """Nobody looks: it is to be seen at the next write."""
        self.terminal.group += 1
        self._ends()

    def strict(self, _: int) -> None:
        self.rig.world.stance = Posture.STRICT

    def open(self, _: int) -> None:
        self.rig.world.stance = Posture.OPEN

    def lost(self, _: int) -> None:
        self.rig.world.up = False

    def back(self, _: int) -> None:
        self.rig.world.up = True

    def recheck(self, _: int) -> None:
        self.live.recheck_permits()
        if not self.rig.world.up:
            self._ends()

    def pass_(self, tenths: int) -> None:
        self.now += tenths / 10
        self.terminal.queue.expire(self.now)

    def _writes(self, data: bytes) -> None:
        try:
            self.terminal.write(data, within=300.0, permit=None)
            self.people_wrote += len(data)
        except QueueFull:
            pass

    def _ends(self) -> None:
        """Of all that was accepted before, no byte may come any more."""
        for sent in self.sent:
            if sent.ended_with is None:
                sent.ended_with = self.got(sent)

    def got(self, sent: Sent) -> int:
        """Bytes of it that the terminal has."""
        return self.terminal.got.count(sent.byte)

    @staticmethod
    def bound(sent: Sent) -> int | None:
        outcome = sent.later.outcome
        return None if outcome is None else int(str(outcome["delivered_bytes_lower_bound"]))

    # -- all of it --

    def run(self, steps: list[Step]) -> None:
        names = {"global": "global_", "pass": "pass_"}
        for kind, number in steps:
            getattr(self, names.get(kind, kind))(number)
            for sent in self.sent:
                assert (self.bound(sent) or 0) <= self.got(sent)
                assert sent.ended_with is None or self.got(sent) == sent.ended_with
        self.now += 2
        self.rig.world.up = True
        for _ in range(100):
            self.terminal.read(ROOM)

    def check(self) -> None:
        notices = [each.body for each in self.revoked._waiting]
        told = {int(str(each["request_id"])): each for each in notices}
        assert len(told) == len(notices)
        for sent in self.sent:
            outcome = sent.later.outcome
            assert outcome is not None
            bound = self.bound(sent)
            assert bound == self.got(sent)
            assert (outcome["status"] == "completed") == (bound == sent.total)
            event = told.get(sent.number)
            assert event is not None or bound == sent.total
            if event is not None:
                assert event["delivered_bytes_lower_bound"] == bound
                assert (event["outcome"] == "complete") == (bound == sent.total)
        people = self.terminal.got.count(b"P") + self.terminal.got.count(b"G")
        assert people == self.people_wrote
        assert self.live.writer.waiting == 0


def run(steps: list[Step]) -> Lab:
    lab = Lab()
    lab.run(steps)
    lab.check()
    return lab


@given(STEPS)
def test_nothing_is_written_after_its_end_and_every_count_is_true(steps: list[Step]) -> None:
    run(steps)


def test_strict_keeps_a_second_writer_out_in_this_lab_too() -> None:
    lab = run([("strict", 1), ("agent", 3), ("other", 3), ("person", 1), ("other", 3)])
    assert lab.refused == ["BUSY"]
    assert lab.terminal.got == b"bbbPccc"


# -- broken variants, which must be seen -----------------------------------------------------------

FILLED: list[Step] = [("agent", 9), ("agent", 9)]


def test_a_rise_that_discards_nothing_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Foreground, "raise_", lambda *_: None)
    with pytest.raises(AssertionError):
        run([*FILLED, ("layout", 1), ("read", 9)])


def test_a_group_that_is_not_looked_at_when_writing_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        native_input, "_may_write", lambda _live, lease, permit: not lease.ended and permit.holds()
    )
    with pytest.raises(AssertionError):
        run([*FILLED, ("group", 1), ("read", 9)])


def test_a_permit_that_is_asked_once_only_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_input, "_may_write", lambda *_: True)
    with pytest.raises(AssertionError):
        run([*FILLED, ("lost", 1), ("recheck", 1), ("read", 9)])


def test_a_count_of_what_was_admitted_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def counts_all(go: Any, sent: Any) -> dict[str, object]:  # noqa: ANN401 - as it is
        return {"status": "completed", "delivered_bytes_lower_bound": sent.total}

    monkeypatch.setattr(outcomes, "operation", counts_all)
    with pytest.raises(AssertionError):
        run([*FILLED, ("person", 1)])
