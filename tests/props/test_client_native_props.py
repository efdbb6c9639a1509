"""Mutations over a bad line to the real gate: whatever happens, none runs twice or for another."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import MockClock

from brokerd.client import ErrorCode, Refusal
from brokerd.client.memory import MemoryBroker
from termnode.client import native_attempts
from termnode.client.errors import TermnodeError, UnknownOutcome
from termnode.client.link import open_link
from termnode.client.native import Native
from termnode.client.native_caller import NativeCaller
from termnode.client.native_calls import NativeCall
from termnode.client.native_pane import NativePane
from termnode.client.runner import Direct
from termnode.client.session import Session
from tests.support.native_term import BROKEN, DROP, LATE, MUTE, TWICE, NativeTerm

WAYS = ["", DROP, MUTE, TWICE, LATE]
STEPS = st.lists(
    st.sampled_from(["type", "type", "rename", "both", "skip", "slow", "refuse", "age", "stale"]),
    min_size=1,
    max_size=12,
)
PLAN = st.lists(st.sampled_from([*WAYS, BROKEN]), max_size=20)


class Ran:
    """One history: what was acknowledged, and what the Term saw and did."""

    def __init__(self) -> None:
        self.term = NativeTerm(MemoryBroker())
        self.acknowledged = 0
        self.unknown = 0
        self.refused = 0

    async def ask(self, pane: NativePane, text: str) -> None:
        """One mutation that only this text has."""
        try:
            await (pane.rename(text) if text.startswith("r") else pane.type(text))
        except UnknownOutcome:
            self.unknown += 1
        except TermnodeError:
            self.refused += 1
        else:
            self.acknowledged += 1

    async def skip(self, pane: NativePane, number: int) -> None:
        """An id far above those given out is spent on the same connection."""
        native, high = Native(pane._runner, pane._term), str(1_000 * (number + 1))
        try:
            await native.call("term.type", pane, text=f"s{number}", request_id=high,
                              foreground_generation=str(self.term.foreground))  # fmt: skip
        except UnknownOutcome:
            self.unknown += 1
        except TermnodeError:
            self.refused += 1
        else:
            self.acknowledged += 1

    async def step(self, pane: NativePane, step: str, number: int) -> None:
        term = self.term
        term.slow_s = 3.0 if step == "slow" else 0.0
        term.refuses = Refusal(ErrorCode.BUSY, "busy") if step == "refuse" else None
        if step == "stale":
            term.foreground += 1
        if step == "age":
            await trio.sleep(1_000)
        if step == "skip":
            await self.skip(pane, number)
        elif step == "both":
            async with trio.open_nursery() as nursery:
                for letter in "tr":
                    nursery.start_soon(self.ask, pane, f"{letter}{number}")
        else:
            await self.ask(pane, f"{step[0]}{number}")

    def check(self) -> None:
        """The promises that are the client's."""
        bodies: dict[tuple[str, str], set[bytes]] = {}
        order: dict[str, list[int]] = {}
        for connection, command, raw in self.term.seen:
            body = json.loads(raw)
            if "request_id" not in body:
                continue
            number = body["request_id"]
            assert body["request_epoch"] == connection, "the epoch is the connection's own"
            bodies.setdefault((connection, number), set()).add(command.encode() + raw)
            if not str(body.get("text")).startswith("s"):
                order.setdefault(connection, []).append(int(number))
        assert all(len(each) == 1 for each in bodies.values()), "the very bytes"
        for numbers in order.values():
            assert numbers == sorted(numbers), "ids only rise"
        texts = Counter(self._text(key, bodies) for key in self.term.effects)
        assert set(texts.values()) <= {1}, "nothing ran under two ids"
        assert set(self.term.effects.values()) <= {1}, "nothing ran twice"
        ran = len(self.term.effects)
        assert self.acknowledged <= ran <= self.acknowledged + self.unknown

    def _text(self, key: tuple[str, int], bodies: dict[tuple[str, str], set[bytes]]) -> str:
        (raw,) = bodies[key[0], str(key[1])]
        body = json.loads(raw[raw.index(b"{") :])
        return str(body.get("text") or body.get("title"))


def run(steps: list[str], plan: list[str]) -> Ran:
    ran = Ran()

    async def main() -> None:
        with trio.fail_after(1_000_000):
            async with ran.term.running(), open_link(ran.term.memory.connect, "term") as link:
                pane = await (await Session(Direct(link)).native()).pane(1)
                ran.term.plan.extend(plan)
                for number, step in enumerate(steps):
                    await ran.step(pane, step, number)
                ran.term.slow_s = 0

    trio.run(main, clock=MockClock(autojump_threshold=0))
    return ran


@settings(max_examples=60, deadline=None)
@given(STEPS, PLAN)
def test_nothing_runs_twice_and_no_bytes_change(steps: list[str], plan: list[str]) -> None:
    run(steps, plan).check()


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.sampled_from(["type", "skip"]), max_size=12),
    st.lists(st.sampled_from(["", TWICE, LATE]), max_size=20),
)
def test_a_mark_that_is_told_costs_one_request(steps: list[str], plan: list[str]) -> None:
    ran = run(steps, plan)
    ran.check()
    told = sum(pair == ("skip", "type") for pair in pairwise(steps))
    assert (ran.unknown, ran.refused) == (told, 0)


HISTORY = (["type", "rename", "both"], [MUTE, "", MUTE, TWICE])


def test_that_check_fails_for_a_client_that_numbers_each_sending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run(*HISTORY).check()
    once = native_attempts.MUTATION_SENDS
    monkeypatch.setattr(native_attempts, "MUTATION_SENDS", 1)
    ask = Ran.ask

    async def again(self: Ran, pane: NativePane, text: str) -> None:
        before = self.unknown
        await ask(self, pane, text)
        if self.unknown > before:
            await ask(self, pane, text)

    monkeypatch.setattr(Ran, "ask", again)
    with pytest.raises(AssertionError, match="two ids"):
        run(*HISTORY).check()
    assert once > 1


def test_that_check_fails_for_a_client_that_invents_an_epoch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    honest = NativeCall.mutation

    def invented(self: NativeCall[object], request_id: int, epoch: str) -> bytes:
        return honest(self, request_id, "f" * len(epoch))

    monkeypatch.setattr(NativeCall, "mutation", invented)
    with pytest.raises(AssertionError, match="own"):
        run(*HISTORY).check()


def test_that_check_fails_for_a_client_that_says_it_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    honest, spaces = NativeCaller._send, iter(range(1, 99))

    async def anew(self: NativeCaller, *args: Any) -> object:  # noqa: ANN401  # those of _send
        term, call, raw, *rest = args
        return await honest(self, term, call, raw + b" " * next(spaces), *rest)

    monkeypatch.setattr(NativeCaller, "_send", anew)
    with pytest.raises(AssertionError, match="very bytes"):
        run(*HISTORY).check()
