"""A keeper of a record and a real broker that is killed, replaced, stopped or left."""

from __future__ import annotations

import signal
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

import trio

from brokerd.client import (
    Authority,
    Bus,
    GrantView,
    RecordView,
    SessionKeeper,
    SessionKey,
    attach_child,
    attach_term,
    connect,
)
from tests.support.broker_process import BrokerProcess, broker_process
from tests.support.session_lab import TERM_KEY, running, until

WITHIN = 60.0
PANES = 5


def run(test: Callable[[BrokerProcess], Awaitable[None]], *arguments: str) -> None:
    async def main(broker: BrokerProcess) -> None:
        with trio.fail_after(WITHIN):
            await test(broker)

    with broker_process(*arguments) as broker:
        trio.run(main, broker)


def term_keeper(bus: Bus, *, renew_every: float = 5.0, timeout: float = 2.0) -> SessionKeeper:
    attach = attach_term(TERM_KEY, timeout=timeout)
    return SessionKeeper(bus, TERM_KEY, attach, renew_every=renew_every, timeout=timeout)


def test_kill_9_ends_authority_at_once_and_the_next_broker_gives_another() -> None:
    async def main(broker: BrokerProcess) -> None:
        async with connect(broker.directory) as bus, running(term_keeper(bus)) as keeper:
            for _ in range(3):
                authority = await keeper.wait_authority()
                assert authority.broker_epoch == bus.broker_epoch
                await trio.to_thread.run_sync(broker.kill)
                await until(lambda: not bus.connected)
                assert (authority.live, keeper.authority) == (False, None)
                await trio.to_thread.run_sync(broker.start)
                later = await keeper.wait_authority()
                assert later.broker_epoch == bus.broker_epoch != authority.broker_epoch
                assert not authority.live

    run(main)


def test_a_stopped_broker_costs_the_authority_only_while_it_is_stopped() -> None:
    async def main(broker: BrokerProcess) -> None:
        async with (
            connect(broker.directory) as bus,
            running(term_keeper(bus, renew_every=0.1, timeout=0.3)) as keeper,
        ):
            authority = await keeper.wait_authority()
            broker.send(signal.SIGSTOP)
            await until(lambda: not authority.live)
            assert keeper.problem
            broker.send(signal.SIGCONT)
            later = await keeper.wait_authority()
            assert later.broker_epoch == authority.broker_epoch
            assert later.ref.record_id == authority.ref.record_id
            assert not authority.live

    run(main)


def test_a_lease_that_ran_out_at_a_stopped_broker_is_begun_anew() -> None:
    async def main(broker: BrokerProcess) -> None:
        async with connect(broker.directory) as bus, connect(broker.directory) as other:
            # Renewed too seldom on purpose: what counts is the deadline itself.
            keeper = term_keeper(bus, renew_every=600.0)
            async with running(keeper):
                authority = await keeper.wait_authority()
                assert authority.remaining_ms() <= 500
                broker.send(signal.SIGSTOP)
                await until(lambda: not authority.live)
                broker.send(signal.SIGCONT)
                later = await keeper.wait_authority()
                assert later.ref.binding_generation > authority.ref.binding_generation
                record = await other.sessions.self_record(later.ref.record_id)
                assert record.binding_generation >= later.ref.binding_generation

    run(main, "--set", "sessions.lease_ms=500")


def test_leaving_is_coming_back_as_another_connection_with_the_same_record() -> None:
    async def main(broker: BrokerProcess) -> None:
        async with connect(broker.directory) as bus, running(term_keeper(bus)) as keeper:
            authority = await keeper.wait_authority()
            await bus.reconnect()
            await until(lambda: not authority.live)
            later = await keeper.wait_authority()
            assert later.connection_id == bus.connection_id != authority.connection_id
            assert later.name == authority.name
            assert later.broker_epoch == authority.broker_epoch

    run(main)


class Shells:
    """A Term and the shells of its panes, each on a connection of its own."""

    def __init__(self, broker: BrokerProcess, stack: AsyncExitStack) -> None:
        self._broker = broker
        self._stack = stack
        self._keys = [SessionKey.generate() for _ in range(PANES)]
        self.children: list[SessionKeeper] = []

    async def begin(self) -> None:
        self.bus = await self._stack.enter_async_context(connect(self._broker.directory))
        self.term = await self._stack.enter_async_context(running(term_keeper(self.bus)))
        parent = await self.term.wait_authority()
        for pane, key in enumerate(self._keys, 1):
            grant, record = await self._grant(parent, pane, key)
            bus = await self._stack.enter_async_context(connect(self._broker.directory))
            keeper = SessionKeeper(bus, key, attach_child(key, grant, record))
            self.children.append(await self._stack.enter_async_context(running(keeper)))

    async def grant_again(self) -> None:
        parent = await self.term.wait_authority()
        for pane, key in enumerate(self._keys, 1):
            await self._grant(parent, pane, key)

    async def _grant(
        self, parent: Authority, pane: int, key: SessionKey
    ) -> tuple[GrantView, RecordView]:
        return await self.bus.sessions.grant_create(
            parent.ref,
            pane_id=pane,
            pane_generation=1,
            public_key=key.public_key,
            capabilities=["read_state"],
        )

    async def bound(self) -> list[Authority]:
        return [await child.wait_authority() for child in self.children]


def test_five_pane_shells_follow_their_term_through_the_death_of_the_broker() -> None:
    async def main(broker: BrokerProcess) -> None:
        async with AsyncExitStack() as stack:
            shells = Shells(broker, stack)
            await shells.begin()
            before = await shells.bound()
            await trio.to_thread.run_sync(broker.kill)
            await until(lambda: not any(each.live for each in before))
            await trio.to_thread.run_sync(broker.start)
            await shells.grant_again()
            after = await shells.bound()
            parent = await shells.term.wait_authority()
            assert {each.record.parent_instance for each in after} == {parent.record.instance_id}
            assert {each.record.pane_id for each in after} == set(range(1, PANES + 1))
            assert not any(each.live for each in before)

    run(main)
