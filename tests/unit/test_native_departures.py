"""Marks of callers that have gone: the broker is asked; they go once nothing can come of them."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from brokerd.client import RC_OK, Bus, Request
from brokerd.client.memory import MemoryBroker
from termnode.control.native.actors import Actor
from termnode.control.native.ledger import Ledger
from termnode.lanes.calls import Sealed
from termnode.service.native import departures as module
from termnode.service.native.departures import AT_ONCE, Departures
from termnode.service.native.lane import NativeService
from termnode.service.state import Work

DIGEST = b"d" * 32
TERM = "term"


@dataclass
class Rig:
    """A Term that records one mutation of each request that it is sent, with room for one actor."""

    memory: MemoryBroker
    bus: Bus
    ledger: Ledger[Sealed]
    queued: deque[Work] = field(default_factory=deque)
    taken: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.departures = Departures(self.ledger, self.queued.append)

    def actor(self, connection: str) -> Actor:
        return "ambient", 1000, self.bus.broker_epoch, connection

    def spend(self, connection: str, number: int = 1) -> None:
        """A mutation that is carried out."""
        actor = self.actor(connection)
        reservation = self.ledger.reserve(actor, number, DIGEST, "pane", "term.type", now=0.0)
        reservation.record(Sealed(RC_OK, b"{}", "ok"), 0.0)
        self.ledger.verify()

    def take(self, request: Request) -> None:
        """One that has come waits for its turn, and runs if the ledger lets it."""

        async def turn() -> None:
            if self.ledger.high_water(self.actor(request.from_connection)) < 1:
                self.spend(request.from_connection)
                self.taken.append(request.from_connection)

        self.queued.append(turn)

    async def turns(self) -> None:
        while self.queued:
            await self.queued.popleft()()

    async def strangers(self, count: int) -> list[str]:
        """Connections that came, did one thing each, and went; the last of them stays an actor."""
        ids = []
        for _ in range(count):
            async with self.memory.connect() as caller:
                ids.append(caller.connection_id)
                self.spend(caller.connection_id)
        return ids


@asynccontextmanager
async def rig(marks: int) -> AsyncIterator[Rig]:
    memory = MemoryBroker()
    async with AsyncExitStack() as stack:
        bus = await stack.enter_async_context(memory.connect())
        made = Rig(memory, bus, Ledger(actors=1, marks=marks))
        await stack.enter_async_context(bus.attend(TERM, made.take))
        nursery = await stack.enter_async_context(trio.open_nursery())
        nursery.start_soon(made.departures.run, bus)
        yield made
        nursery.cancel_scope.cancel()


def in_rig(test: Callable[[Rig], Awaitable[None]], marks: int = 4) -> None:
    async def main() -> None:
        with trio.fail_after(100_000):
            async with rig(marks) as made:
                await test(made)

    trio.run(main, clock=MockClock(autojump_threshold=0))


def test_nobody_is_asked_about_until_three_quarters_are_taken() -> None:
    async def body(rig: Rig) -> None:
        await rig.strangers(4)
        await trio.sleep(3_600)
        assert rig.ledger.statistics()["marks"] == 3
        assert not rig.queued
        await rig.strangers(1)
        await trio.sleep(1)
        await rig.turns()
        assert rig.ledger.statistics()["marks"] == 0

    in_rig(body)


def test_ever_more_callers_are_never_refused_when_the_mutations_go_on() -> None:
    """Ten times as many one-shot callers as marks can be kept."""

    async def body(rig: Rig) -> None:
        for _ in range(10 * 64):
            await rig.strangers(1)
            await trio.sleep(1)
            await rig.turns()
        assert rig.ledger.statistics()["forgotten"] == 0

    in_rig(body, marks=64)


def test_who_is_connected_keeps_its_mark() -> None:
    async def body(rig: Rig) -> None:
        async with rig.memory.connect() as caller:
            rig.spend(caller.connection_id, 7)
            await rig.strangers(4)
            await trio.sleep(1)
            await rig.turns()
            assert rig.ledger.connections() == (caller.connection_id,)
            assert rig.ledger.high_water(rig.actor(caller.connection_id)) == 7

    in_rig(body)


async def _repeated(rig: Rig) -> str:
    """A caller whose request comes twice; it has gone, and the second still waits for its turn."""
    async with rig.memory.connect() as caller:
        gone = caller.connection_id
        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(_post, caller)
            await wait_all_tasks_blocked()
            await rig.queued.popleft()()
            nursery.cancel_scope.cancel()
    assert rig.taken == [gone]
    await rig.strangers(4)
    return gone


async def _post(caller: Bus) -> None:
    await caller.request(TERM, "term.type", {}, timeout=None)


def test_a_mark_goes_only_when_all_that_was_sent_has_had_its_turn() -> None:
    async def body(rig: Rig) -> None:
        gone = await _repeated(rig)
        await trio.sleep(3_600)
        assert gone in rig.ledger.connections()
        await rig.turns()
        assert rig.taken == [gone], "it ran twice"
        assert gone not in rig.ledger.connections()

    in_rig(body)


def test_a_mark_that_goes_with_the_answer_lets_it_run_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The guard of the test above, taken out."""

    async def ask(self: Departures, bus: Bus) -> None:
        self._ledger.gone(await module._gone(bus, self._ledger.connections()))

    monkeypatch.setattr(Departures, "_ask", ask)

    async def body(rig: Rig) -> None:
        gone = await _repeated(rig)
        await trio.sleep(1)
        await rig.turns()
        assert rig.taken == [gone, gone]

    in_rig(body)


def test_more_than_one_question_when_there_are_more_than_fit_one() -> None:
    async def body(rig: Rig) -> None:
        most = 3 * AT_ONCE + 5
        await rig.strangers(most * 3 // 4 + 2)
        await trio.sleep(1)
        await rig.turns()
        assert rig.ledger.statistics()["marks"] == 0

    in_rig(body, marks=3 * AT_ONCE + 5)


@pytest.mark.parametrize("answer", [None, {}, {"connected": "all"}])
def test_without_an_answer_nothing_goes(answer: object) -> None:
    """As from a broker that does not know the verb."""

    async def body() -> None:
        async def request(*_: object, **__: object) -> object:
            return SimpleNamespace(ok=answer is not None, body=answer)

        bus = cast("Bus", SimpleNamespace(request=request))
        assert await module._gone(bus, ["a" * 32]) == []

    trio.run(body)


def test_a_broker_that_is_lost_is_asked_again_when_it_is_back() -> None:
    async def body(rig: Rig) -> None:
        gone = await rig.strangers(4)
        rig.memory.kill()
        rig.spend("f" * 32)
        await trio.sleep(60)
        assert set(gone) <= {*rig.ledger.connections()}
        rig.memory.restart()
        rig.spend("e" * 32)
        await trio.sleep(60)
        await rig.turns()
        assert rig.ledger.connections() == ()

    in_rig(body, marks=6)


def test_a_broker_is_not_asked_while_the_turn_of_before_has_not_come() -> None:
    async def body(rig: Rig) -> None:
        await rig.strangers(5)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(rig.departures.run, rig.bus)
            await trio.sleep(100)
            await rig.strangers(1)
            await trio.sleep(100)
            nursery.cancel_scope.cancel()
        await rig.strangers(1)
        await trio.sleep(100)
        assert len(rig.queued) == 1

    in_rig(body)


# -- another broker -------------------------------------------------------------------------------


def test_under_another_broker_all_marks_and_all_that_was_forgotten_go() -> None:
    ledger: Ledger[Sealed] = Ledger(actors=1, marks=2)
    departures = Departures(ledger, lambda _: None)
    departures.under("1" * 32)
    actors: list[Actor] = [
        *(("ambient", 1000, "1" * 32, f"{number:032x}") for number in range(6)),
        *(("bound", 1000, f"{number:032x}", "1" * 32) for number in range(10, 16)),
    ]
    for actor in actors:
        ledger.reserve(actor, 5, DIGEST, "pane", "term.type", now=0.0).drop()
    before = {actor: ledger.high_water(actor) for actor in actors}
    assert all(before.values())
    departures.under("1" * 32)
    assert {actor: ledger.high_water(actor) for actor in actors} == before
    departures.under("2" * 32)
    assert [actor for actor in actors if ledger.high_water(actor)] == [actors[-1]]
    statistics = ledger.statistics()
    assert (statistics["marks"], statistics["marks_ended"], statistics["forgotten"]) == (0, 0, 0)
    ledger.verify()


@pytest.mark.parametrize(("own", "told"), [("1" * 32, ["1" * 32]), (None, [])])
def test_the_lane_tells_of_its_broker_as_soon_as_it_holds_its_record(
    own: str | None, told: list[str]
) -> None:
    heard: list[str] = []
    mine = None if own is None else SimpleNamespace(broker_epoch=own)
    lane = SimpleNamespace(
        parts=SimpleNamespace(world=SimpleNamespace(own=lambda: mine)),
        _departures=SimpleNamespace(under=heard.append),
        _held=mine is not None,
    )
    NativeService.identity_changed(cast("NativeService", lane))
    assert heard == told
