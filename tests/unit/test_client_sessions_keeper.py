"""The keeper of a record in virtual time: how often it asks, what it says, what it signs again."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import replace

import pytest
import trio
import trio.testing

from brokerd.client import (
    Authority,
    Bus,
    LifecycleNotice,
    MalformedReply,
    RecordView,
    SessionKeeper,
    attach_child,
    attach_term,
)
from brokerd.client.memory import MemoryBroker
from tests.support.session_lab import (
    CHILD_KEY,
    TERM_KEY,
    grant,
    running,
    until,
    virtual_ms,
)


def run(test: Callable[[MemoryBroker], Awaitable[None]]) -> None:
    async def main() -> None:
        with trio.fail_after(3600):
            await test(MemoryBroker())

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


class Told:
    """What a keeper told its owner."""

    def __init__(self, bus: Bus) -> None:
        self.changes: list[bool] = []
        self.notices: list[LifecycleNotice] = []
        self.gaps = 0
        self.keeper = SessionKeeper(
            bus,
            TERM_KEY,
            attach_term(TERM_KEY),
            clock_ms=virtual_ms,
            on_change=self._changed,
            on_notice=self.notices.append,
            on_gap=self._gapped,
        )

    def _changed(self) -> None:
        self.changes.append(self.keeper.authority is not None)

    def _gapped(self) -> None:
        self.gaps += 1


class Counted:
    """How often the broker was asked each of its verbs about sessions, by one bus."""

    def __init__(self, bus: Bus) -> None:
        self.times: dict[str, list[float]] = {}
        self._request, self._session = bus._session.request, bus._session
        bus._session.request = self  # type: ignore[method-assign]  # the one way out

    def __call__(self, to: str, command: str, *rest: object, **more: object) -> str:
        self.times.setdefault(command, []).append(trio.current_time())
        return self._request(to, command, *rest, **more)  # type: ignore[arg-type]


def test_it_renews_at_once_and_then_every_five_seconds() -> None:
    async def main(memory: MemoryBroker) -> None:
        async with memory.connect() as bus:
            counted = Counted(bus)
            async with running(Told(bus).keeper) as keeper:
                authority = await keeper.wait_authority()
                await trio.sleep(21)
                assert keeper.authority is authority
            renewals = [round(at, 3) for at in counted.times["session.renew"]]
            assert renewals == [0.0, 5.0, 10.0, 15.0, 20.0]

    run(main)


def test_a_gap_costs_the_authority_but_not_the_attachment() -> None:
    async def main(memory: MemoryBroker) -> None:
        async with memory.connect() as bus:
            told = Told(bus)
            async with running(told.keeper) as keeper:
                first = await keeper.wait_authority()
                bus._session.lifecycle.mark_gap()
                assert not first.live
                assert keeper.problem == "notices were missed"
                second = await keeper.wait_authority()
                assert second is not first
                assert second.ref == first.ref
                assert (told.changes, told.gaps) == ([True, False, True], 1)

    run(main)


def test_gaps_without_end_do_not_make_it_ask_without_end() -> None:
    async def main(memory: MemoryBroker) -> None:
        async with memory.connect() as bus:
            counted = Counted(bus)
            async with running(Told(bus).keeper):
                for _ in range(600):
                    await trio.sleep(0.1)
                    bus._session.lifecycle.mark_gap()
            assert len(counted.times["session.renew"]) < 25  # in 60 s

    run(main)


def test_two_holders_of_one_key_do_not_chase_each_other_without_end() -> None:
    async def main(memory: MemoryBroker) -> None:
        async with memory.connect() as one, memory.connect() as other:
            counted = Counted(one)
            async with running(Told(one).keeper), running(Told(other).keeper):
                await trio.sleep(60)
            assert len(counted.times["session.prove"]) < 30

    run(main)


def test_the_owner_hears_of_notices_about_others() -> None:
    async def main(memory: MemoryBroker) -> None:
        async with memory.connect() as bus, memory.connect() as pane:
            told = Told(bus)
            async with running(told.keeper) as keeper:
                authority = await keeper.wait_authority()
                child = await pane.sessions.enrol(CHILD_KEY, *await grant(bus, authority.ref))
                await until(lambda: told.notices[-1:] == [LifecycleNotice(child.ref, "attached")])
                assert keeper.authority is authority

    run(main)


def test_a_renewal_of_another_attachment_is_not_believed() -> None:
    async def main(memory: MemoryBroker) -> None:
        async with memory.connect() as bus:
            told, problems = Told(bus), []
            renew = bus.sessions.renew

            async def wrong(*args: object, **kwargs: object) -> RecordView:
                record = await renew(*args, **kwargs)  # type: ignore[arg-type]
                return replace(record, binding_generation=record.binding_generation + 1)

            bus.sessions.renew = wrong  # type: ignore[method-assign]
            async with running(told.keeper) as keeper:
                await trio.sleep(3)
                problems.append(keeper.problem)
            assert told.changes == []
            assert problems == [str(MalformedReply("renewed record"))]

    run(main)


def test_silence_of_the_broker_ends_authority_before_the_lease() -> None:
    async def main(memory: MemoryBroker) -> None:
        async with memory.connect() as bus, running(Told(bus).keeper) as keeper:
            authority = await keeper.wait_authority()
            memory.stall(bus)
            await trio.sleep(6.9)
            assert authority.remaining_ms() > 0
            await trio.sleep(0.2)  # the renewal at 5 s was given up after 2
            assert not authority.live
            assert "2 s" in keeper.problem
            memory.stall(bus, stalled=False)
            await keeper.wait_authority()
            assert not authority.live

    run(main)


def test_without_a_broker_it_waits_and_asks_nothing() -> None:
    async def main(memory: MemoryBroker) -> None:
        async with memory.connect() as bus, running(Told(bus).keeper) as keeper:
            await keeper.wait_authority()
            counted = Counted(bus)
            memory.kill()
            await trio.sleep(600)
            assert counted.times == {}
            assert keeper.problem
            memory.restart()
            await keeper.wait_authority()

    run(main)


def test_revoking_before_it_runs_ends_it_at_once() -> None:
    async def main(memory: MemoryBroker) -> None:
        async with memory.connect() as bus:
            keeper = Told(bus).keeper
            await keeper.revoke()
            await keeper.run()
            assert (keeper.authority, keeper.problem) == (None, "the keeper has ended")

    run(main)


# A pane shell


class Family:
    """A Term that is attached by hand, and a keeper for one of its panes' shells."""

    def __init__(self, bus: Bus, pane: Bus) -> None:
        self.bus, self.pane = bus, pane
        self.waiting: list[bool] = []

    async def begin(self) -> SessionKeeper:
        self.term = await self.bus.sessions.allocate(TERM_KEY)
        granted = await grant(self.bus, self.term.ref)
        attach = attach_child(CHILD_KEY, *granted, on_waiting=self.waiting.append)
        return SessionKeeper(self.pane, CHILD_KEY, attach, clock_ms=virtual_ms)

    async def revoked(self, keeper: SessionKeeper) -> Authority:
        """Attached, and then revoked by its parent; returns what it had."""
        authority = await keeper.wait_authority()
        await self.bus.sessions.renew(self.term.ref)
        assert await self.bus.sessions.revoke(authority.ref)
        await until(lambda: self.waiting[-1:] == [True])
        return authority


def test_a_child_without_a_grant_asks_once_a_minute() -> None:
    async def main(memory: MemoryBroker) -> None:
        async with memory.connect() as bus, memory.connect() as pane:
            family = Family(bus, pane)
            async with running(await family.begin()) as keeper:
                await family.revoked(keeper)
                counted = Counted(pane)
                await trio.sleep(10 * 60 + 30)
                assert 9 <= len(counted.times["session.challenge"]) <= 14
                assert counted.times.keys() == {"session.challenge"}

    run(main)


def test_a_child_hears_of_its_grant_at_once() -> None:
    async def main(memory: MemoryBroker) -> None:
        async with memory.connect() as bus, memory.connect() as pane:
            family = Family(bus, pane)
            async with running(await family.begin()) as keeper:
                first = await family.revoked(keeper)
                before = trio.current_time()
                await grant(bus, family.term.ref, generation=2)
                second = await keeper.wait_authority()
                assert trio.current_time() - before < 1
                assert second.ref.record_id != first.ref.record_id
                assert family.waiting[-1] is False

    run(main)


def test_proofs_that_fail_are_five_seconds_apart() -> None:
    async def main(memory: MemoryBroker) -> None:
        async with memory.connect() as bus, memory.connect() as pane:
            family = Family(bus, pane)
            async with running(await family.begin()) as keeper:
                await keeper.wait_authority()
                counted = Counted(pane)
                memory.stall(bus)  # its lease runs out, and with it what its child may prove
                await trio.sleep(40)
                proofs = counted.times["session.prove"]
                assert len(proofs) >= 2
                assert all(b - a >= 5 for a, b in itertools.pairwise(proofs))
                assert keeper.authority is None

    run(main)


def test_a_lost_answer_to_the_proof_does_not_lose_the_record() -> None:
    async def main(memory: MemoryBroker) -> None:
        async with memory.connect() as bus, memory.connect() as pane:
            family = Family(bus, pane)
            keeper = await family.begin()
            prove = pane.sessions.prove
            lost: list[RecordView] = []

            async def proves(challenge_id: str, signature: bytes, **more: float) -> RecordView:
                record = await prove(challenge_id, signature, **more)
                if not lost:
                    lost.append(record)
                    raise MalformedReply("record")
                return record

            pane.sessions.prove = proves  # type: ignore[method-assign]
            async with running(keeper):
                with trio.fail_after(10):
                    authority = await keeper.wait_authority()
                assert authority.ref == replace(lost[0].ref, binding_generation=2)

    run(main)


def test_a_grant_that_came_too_late_is_asked_for_by_the_key() -> None:
    async def main(memory: MemoryBroker) -> None:
        async with memory.connect() as bus, memory.connect() as pane:
            family = Family(bus, pane)
            keeper = await family.begin()
            for _ in range(4):  # past the 30 s of the grant, with a parent that lives on
                await trio.sleep(10)
                await bus.sessions.renew(family.term.ref)
            async with running(keeper):
                await until(lambda: family.waiting == [True])
                await grant(bus, family.term.ref, generation=2)
                assert (await keeper.wait_authority()).record.pane_generation == 2

    run(main)


def test_a_term_allocates_where_nothing_of_it_is_known() -> None:
    async def main(memory: MemoryBroker) -> None:
        async with memory.connect() as bus, memory.connect() as other:
            attach = attach_term(TERM_KEY, "restricted")
            record = await attach(bus)
            assert record.policy == "restricted"
            assert (await attach(other)).ref == replace(record.ref, binding_generation=2)

    run(main)


def test_somebody_elses_notices_under_the_streams_capacity() -> None:
    async def main(memory: MemoryBroker) -> None:
        async with memory.connect() as bus, memory.connect() as other:
            record = await bus.sessions.allocate(TERM_KEY)
            with bus.lifecycle(2) as notices:
                for holder in (other, bus, other, bus):
                    await holder.sessions.by_key(TERM_KEY)
                assert notices.gapped
                assert len(notices) == 2
                await trio.lowlevel.checkpoint()
                items = [await notices.__anext__() for _ in range(3)]
                assert [type(item).__name__ for item in items] == [
                    "LifecycleGap",
                    "LifecycleNotice",
                    "LifecycleNotice",
                ]
                assert isinstance(items[1], LifecycleNotice)
                assert items[1].ref.record_id == record.record_id
                notices.clear()
                assert not notices.gapped

    run(main)


def closes(context: AbstractContextManager[object]) -> None:
    with context:
        pass


def test_streams_leave_nothing_behind() -> None:
    async def main(memory: MemoryBroker) -> None:
        async with memory.connect() as bus:
            closes(bus.lifecycle())
            closes(bus.private_events())
            closes(bus.attend_bound(lambda request: None))
            closes(bus.attend_bound(lambda request: None))
            assert len(bus._session.lifecycle) == 0
            assert bus.statistics().subscriptions == 0
            with pytest.raises(ValueError, match="capacity"):
                closes(bus.lifecycle(0))

    run(main)
