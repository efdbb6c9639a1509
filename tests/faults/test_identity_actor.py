"""The identity actor against a real broker and zygote that stop, die and stand still."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
import trio

from brokerd.client import CAPABILITIES, RecordView, Ref, connect
from termnode.service.config import Config
from termnode.service.identity import actor as actor_module
from termnode.service.identity.actor import IdentityActor
from termnode.service.live_pane import LivePane
from tests.support.broker_process import BrokerProcess, broker_process
from tests.support.termnode_process import alive

WITHIN_S = 60.0


async def until(true: Callable[[], object]) -> None:
    """Look again and again, letting everybody else run; the caller's deadline ends it."""
    while not true():
        with trio.move_on_after(0.005):
            await trio.sleep_forever()


def live_pane(pane: int) -> LivePane:
    """As much of a pane as the actor looks at: its program is this very process."""
    terminal = SimpleNamespace(bytes_out=1, final=False, revision=1, tty=lambda: None)
    made = SimpleNamespace(
        id=pane, terminal=terminal, pid=os.getpid(), program=SimpleNamespace(cwd="/"), shell=None
    )
    return cast(LivePane, made)


class Lab:
    """An actor that runs, its broker, and the panes that were opened."""

    def __init__(self, broker: BrokerProcess) -> None:
        self.broker = broker
        self.last_pane = 0
        self.changes = 0
        config = Config(
            name="term", directory=broker.directory, cwd="/", environment={}, shell="/bin/sh"
        )
        self.actor = IdentityActor(config, lambda: self.last_pane + 1, on_change=self._changed)

    def _changed(self) -> None:
        self.changes += 1

    def open(self) -> LivePane:
        """One more pane."""
        self.last_pane += 1
        live = live_pane(self.last_pane)
        self.actor.panes.pane_started(live)
        return live

    async def ready(self, *panes: LivePane) -> None:
        """Wait until all of them are."""
        await until(lambda: all(self.actor.control_ready(live.id) for live in panes))

    async def records(self) -> list[RecordView]:
        """All there are."""
        async with connect(self.broker.directory) as bus:
            return await bus.sessions.list()


@asynccontextmanager
async def running(*arguments: str) -> AsyncIterator[Lab]:
    """A lab whose actor runs; ended by cancellation."""
    with broker_process(*arguments) as broker, trio.fail_after(WITHIN_S):
        lab = Lab(broker)
        async with trio.open_nursery() as nursery:
            await nursery.start(lab.actor.run)
            yield lab
            nursery.cancel_scope.cancel()


def native(lab: Lab) -> str:
    """How the service's own record stands."""
    return str(lab.actor.state.native)


def processes() -> set[int]:
    """The children of this process and theirs, which have not ended."""
    found: set[int] = set()
    waiting = [os.getpid()]
    while waiting:
        pid = waiting.pop()
        lists = Path(f"/proc/{pid}/task").glob("*/children")
        children = {int(each) for words in lists for each in words.read_text().split()}
        found |= children
        waiting += children
    return set(filter(alive, found))


def zygote() -> int | None:
    """The present zygote, once it has been exec'd."""
    for pid in processes():
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
        parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
        if b"termnode.paneshell" in words and int(parent) == os.getpid():
            return pid
    return None


def run(body: Callable[[], Awaitable[None]]) -> None:
    """Run a test; whatever it started has ended afterwards."""
    before = processes()
    trio.run(body)
    assert processes() <= before


def test_panes_are_ready_and_a_stop_leaves_nothing() -> None:
    async def body() -> None:
        async with running() as lab:
            panes = [lab.open() for _ in range(3)]
            await lab.ready(*panes)
            assert lab.changes
            assert native(lab) == "ready"
            lab.actor.panes.pane_gone(panes[0])
            assert not lab.actor.control_ready(panes[0].id)
            await lab.actor.stop()
            assert native(lab) == "lost"
            assert not any(lab.actor.control_ready(live.id) for live in panes)
            assert await lab.records() == []

    run(body)


def test_the_actor_can_be_cancelled_before_it_has_anything() -> None:
    async def body() -> None:
        async with running() as lab:
            lab.open()

    run(body)


def test_authority_ends_with_its_lease_while_the_broker_stands_still() -> None:
    async def body() -> None:
        async with running("--set", "sessions.lease_ms=6000") as lab:
            live = lab.open()
            await lab.ready(live)
            lab.broker.send(signal.SIGSTOP)
            try:
                await until(lambda: not lab.actor.control_ready(live.id))
                assert native(lab) == "lost"
            finally:
                lab.broker.send(signal.SIGCONT)
            await lab.ready(live)
            assert native(lab) == "ready"

    run(body)


def test_a_stop_comes_back_although_the_broker_stands_still(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(actor_module, "STOP_S", 1.0)

    async def body() -> None:
        async with running() as lab:
            live = lab.open()
            await lab.ready(live)
            lab.broker.send(signal.SIGSTOP)
            try:
                await lab.actor.stop()
            finally:
                lab.broker.send(signal.SIGCONT)
            assert not lab.actor.control_ready(live.id)

    run(body)


def test_a_zygote_that_stands_still_is_not_waited_for_by_anybody_else() -> None:
    async def body() -> None:
        async with running() as lab:
            first = lab.open()
            await lab.ready(first)
            stuck = zygote()
            assert stuck is not None
            os.kill(stuck, signal.SIGSTOP)
            second = lab.open()
            await until(lambda: "answer" in lab.actor.binding_of(second.id).reason)
            assert lab.actor.control_ready(first.id)
            os.kill(stuck, signal.SIGKILL)
            await lab.ready(first, second)

    run(body)


def test_a_broker_restarted_again_and_again_is_followed() -> None:
    async def body() -> None:
        async with running() as lab:
            panes = [lab.open() for _ in range(3)]
            await lab.ready(*panes)
            for _ in range(3):
                state = lab.actor.state
                assert state.record is not None
                epoch = state.record.broker_epoch
                await trio.to_thread.run_sync(lab.broker.kill)
                await until(lambda: not lab.actor.control_ready(panes[0].id))
                await trio.to_thread.run_sync(lab.broker.start)
                await lab.ready(*panes)
                record = lab.actor.state.record
                assert record is not None
                assert record.broker_epoch != epoch
            children = [each for each in await lab.records() if each.attached and each.pane_id]
            assert sorted(each.pane_id or 0 for each in children) == [1, 2, 3]
            assert {each.capabilities for each in children} == {CAPABILITIES}

    run(body)


def test_a_child_that_was_revoked_comes_back_with_the_panes_next_program() -> None:
    async def body() -> None:
        async with running() as lab:
            live = lab.open()
            await lab.ready(live)
            record_id = lab.actor.binding_of(live.id).record_id
            (child,) = [each for each in await lab.records() if each.record_id == record_id]
            await _revoke(lab, child.ref)
            await until(lambda: not lab.actor.control_ready(live.id))
            assert lab.actor.binding_of(live.id).state == "lost"
            lab.actor.panes.pane_started(
                live
            )  # as term.pane.restart does: another shell, another key
            await lab.ready(live)
            assert lab.actor.binding_of(live.id).record_id != record_id

    run(body)


def test_a_stop_under_a_broker_that_stands_still_only_takes_its_time() -> None:
    async def body() -> None:
        async with running() as lab:
            await lab.ready(lab.open())
            os.kill(lab.broker.pid, signal.SIGSTOP)
            try:
                await lab.actor.stop()
            finally:
                os.kill(lab.broker.pid, signal.SIGCONT)
            assert lab.actor.authority is None

    run(body)


async def _revoke(lab: Lab, target: Ref) -> None:
    """As the parent may, on its own connection."""
    bus = lab.actor._bus
    assert bus is not None
    assert await bus.sessions.revoke(target)
