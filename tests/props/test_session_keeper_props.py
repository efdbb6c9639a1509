"""Whatever befalls a keeper of a record, it never thinks to hold what it does not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, TypeAlias

import pytest
import trio
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st

from brokerd.client import (
    Authority,
    Bus,
    BusError,
    LifecycleNotice,
    SessionKeeper,
    attach_term,
)
from brokerd.client.memory import MemoryBroker
from tests.support.session_lab import TERM_KEY, running, virtual_ms

Step: TypeAlias = tuple[str, float]
SLICE: Final = 0.25
"""Seconds of virtual time between two looks."""

SETTLED: Final = 120.0
"""By when a keeper holds its record again once nothing disturbs it any more (virtual seconds)."""

steps = st.one_of(
    st.tuples(st.just("wait"), st.sampled_from([0.05, 0.5, 2.0, 4.9, 7.0, 20.0, 60.0])),
    st.tuples(
        st.sampled_from(["kill", "restart", "gap", "steal", "revoke", "stall", "read", "leave"]),
        st.just(0.0),
    ),
)


class World:
    """One keeper on one bus, what may happen to it, and the broker's own truth to compare with."""

    def __init__(self, memory: MemoryBroker, bus: Bus, keeper_type: type[SessionKeeper]) -> None:
        self.memory = memory
        self.bus = bus
        self.alive = True
        self.stalled = False
        self.seen: list[Authority] = []
        self.ended: set[int] = set()
        self.keeper = keeper_type(
            bus, TERM_KEY, attach_term(TERM_KEY), clock_ms=virtual_ms, on_change=self._changed
        )

    def _changed(self) -> None:
        authority = self.keeper.authority
        if authority is not None and all(authority is not other for other in self.seen):
            self.seen.append(authority)

    def check(self) -> None:
        """What is live is the one thing held, as the broker sees it, and never for longer."""
        for index, authority in enumerate(self.seen):
            if not authority.live:
                self.ended.add(index)
                continue
            assert index not in self.ended, "authority came back"
            assert authority is self.keeper.authority, "an old one lives on"
            self._check_live(authority)

    def _check_live(self, authority: Authority) -> None:
        assert self.alive, "authority without a broker"
        assert authority.connection_id == self.bus.connection_id, "of another connection"
        assert authority.remaining_ms() <= 15_000
        if self.stalled:
            return  # the broker could not tell; the deadline is what limits it
        self.memory.core.tick(virtual_ms())
        sessions = self.memory.core._bus.sessions
        record = sessions.binding(authority.connection_id)
        assert record is not None, "the broker knows of no such record"
        held = (record.record_id, record.incarnation, record.binding_generation)
        assert held == (
            authority.ref.record_id,
            authority.ref.incarnation,
            authority.ref.binding_generation,
        )
        assert authority.remaining_ms() <= sessions.lease_remaining(record)

    async def do(self, step: Step) -> None:
        kind, seconds = step
        act: dict[str, Callable[[], Awaitable[None]]] = {
            "kill": self._kill,
            "restart": self._restart,
            "gap": self._gap,
            "steal": self._steal,
            "revoke": self._revoke,
            "stall": self._stall,
            "read": self._read,
            "leave": self._leave,
        }
        if kind == "wait":
            await self.wait(seconds)
        else:
            await act[kind]()
        self.check()

    async def wait(self, seconds: float) -> None:
        end = trio.current_time() + seconds
        while trio.current_time() < end:
            await trio.sleep(min(SLICE, end - trio.current_time()))
            self.check()

    async def _kill(self) -> None:
        if self.alive:
            self.alive = False
            self.memory.kill()

    async def _restart(self) -> None:
        self.alive = True
        self.memory.restart()

    async def _gap(self) -> None:
        self.bus._session.lifecycle.mark_gap()

    async def _steal(self) -> None:
        """Another connection with the same key takes the record, for a moment."""
        if not self.alive:
            return
        async with self.memory.connect() as thief:
            with suppress(BusError):  # there may be nothing to take now
                await thief.sessions.by_key(TERM_KEY)
            self.check()

    async def _revoke(self) -> None:
        if not self.alive:
            return
        async with self.memory.connect() as thief:
            with suppress(BusError):
                record = await thief.sessions.by_key(TERM_KEY)
                await thief.sessions.revoke(record.ref)
            self.check()

    async def _stall(self) -> None:
        self.stalled = True
        self.memory.stall(self.bus)

    async def _read(self) -> None:
        self.memory.stall(self.bus, stalled=False)
        self.stalled = False

    async def _leave(self) -> None:
        await self.bus.reconnect()

    async def settle(self) -> None:
        """End all disturbances; the record is held again before long."""
        await self._read()
        if not self.alive:
            await self._restart()
        with trio.fail_after(SETTLED):
            while self.keeper.authority is None:
                await self.wait(1.0)
        await self.wait(30.0)
        assert self.keeper.authority is self.seen[-1], "undisturbed, it stays"


def play(history: list[Step], keeper_type: type[SessionKeeper] = SessionKeeper) -> World:
    async def main() -> World:
        memory = MemoryBroker()
        async with memory.connect() as bus:
            world = World(memory, bus, keeper_type)
            async with running(world.keeper):
                await world.wait(1.0)
                for step in history:
                    await world.do(step)
                await world.settle()
            world.check()
            assert world.keeper.authority is None, "it ends with its keeper"
        memory.core.verify()
        return world

    return trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


@settings(max_examples=60, deadline=None)
@given(st.lists(steps, max_size=14))
def test_authority_is_never_more_than_what_the_broker_gave(history: list[Step]) -> None:
    play(history)


# Each of these leaves out one rule; the history beside it finds that out.


class HeedsNoNotice(SessionKeeper):
    def notice(self, notice: LifecycleNotice) -> None:
        pass


class HeedsNoLoss(SessionKeeper):
    def lost(self) -> None:
        pass


class CountsFromTheAnswer(SessionKeeper):
    """Its renewals count from when the answer came."""

    async def _renew(self) -> None:
        before = self._authority
        await super()._renew()
        if self._authority is not None and self._authority is before:
            self._authority.extend(self._clock_ms() + 15_000)


class BelievesLateAnswers(SessionKeeper):
    """A notice that overtook the answer to a renewal is forgotten when that arrives."""

    async def _renew(self) -> None:
        ref, started = self._ref, self._clock_ms()
        if ref is not None:
            record = await self._bus.sessions.renew(ref, timeout=self._timeout)
            assert record.lease_remaining_ms is not None
            self._extend(record, started + record.lease_remaining_ms)


class KeepsWhatItCouldNotRenew(SessionKeeper):
    """A renewal that failed changes nothing, and the deadline is nobody's business."""

    async def _renew(self) -> None:
        try:
            await super()._renew()
        except BusError:
            assert self._authority is not None
            self._authority._deadline_ms += 15_000


SLOW: Final[list[Step]] = [("wait", 3.5), ("stall", 0), ("wait", 1.5), ("read", 0)]
"""A renewal at 5 s whose answer is read 1 s later."""

MUTANTS: Final[list[tuple[type[SessionKeeper], list[Step]]]] = [
    (HeedsNoNotice, [("steal", 0)]),
    (HeedsNoLoss, [("kill", 0)]),
    (CountsFromTheAnswer, SLOW),
    (BelievesLateAnswers, [("wait", 3.5), ("stall", 0), ("wait", 1.0), ("steal", 0), ("read", 0)]),
    (KeepsWhatItCouldNotRenew, [("stall", 0), ("wait", 60.0)]),
]


@pytest.mark.parametrize(("mutant", "history"), MUTANTS)
def test_leaving_out_a_rule_is_found(mutant: type[SessionKeeper], history: list[Step]) -> None:
    play(history)
    with pytest.raises(BaseExceptionGroup) as found:
        play(history, mutant)
    assert found.value.subgroup((AssertionError, trio.TooSlowError)) is not None
