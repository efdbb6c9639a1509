"""The rules of the pump, against a real broker: no wake-up is lost, whoever touches the socket."""

from __future__ import annotations

import select
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
import zmq
from trio.testing import wait_all_tasks_blocked

from brokerd.client import RC_OK, Request, connect
from brokerd.client.pump import Pump
from brokerd.client.session import Session
from brokerd.client.slots import Slot
from brokerd.client.streams import Requests
from brokerd.client.target import LocalTarget
from brokerd.limits import DEFAULTS
from brokerd.rundir import socket_path
from tests.support.broker_process import BrokerProcess, broker_process
from tests.support.bus_labs import DEADLINE_SECONDS, ProcessLab


class ForgetsToLook(Pump):
    """A deliberate mistake: sends from outside its task, and does not read EVENTS afterwards."""

    def flush(self) -> None:
        self._send()


@asynccontextmanager
async def serving(
    kind: type[Pump], broker: BrokerProcess, name: str
) -> AsyncIterator[tuple[Pump, Session, Requests]]:
    """A pump that serves ``name``, and waits."""
    session, requests, registered = Session(), Requests(8), Slot()
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    pump = kind(context, LocalTarget(socket_path(broker.directory)), session, DEFAULTS)
    try:
        pump.open()
        await pump.run_until_open()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pump.run)
            session.names.serve(name, requests, registered.complete)
            while registered.outcome is None:
                await trio.lowlevel.checkpoint()
            await wait_all_tasks_blocked()
            yield pump, session, requests
            nursery.cancel_scope.cancel()
    finally:
        pump.close()
        context.destroy(linger=0)


async def loses_a_wakeup(kind: type[Pump], broker: BrokerProcess, name: str) -> bool:
    """Whether a send, while a message has arrived and the pump still waits, makes it miss it."""
    with trio.fail_after(DEADLINE_SECONDS):
        async with serving(kind, broker, name) as (pump, session, requests):
            lab = ProcessLab(broker)
            peer = lab.peer()
            await peer.hello()
            await wait_all_tasks_blocked()
            peer.ask("1", name, "svc.x")
            # Without a checkpoint, so that only the send below comes between signal and pump.
            assert select.select([pump._descriptor], [], [], DEADLINE_SECONDS)[0]
            session.send_event(peer.connection_id, "svc.x", b"")
            await wait_all_tasks_blocked()
            lab.close()
            return len(requests) == 0


def test_a_send_from_outside_loses_no_wakeup() -> None:
    with broker_process() as broker:
        for number in range(10):
            assert not trio.run(loses_a_wakeup, Pump, broker, f"svc{number}")
        lost = [trio.run(loses_a_wakeup, ForgetsToLook, broker, f"bad{n}") for n in range(10)]
        assert any(lost)  # the check can fail


def test_many_tasks_at_once_lose_nothing() -> None:
    async def handler(request: Request) -> tuple[int, bytes]:
        return RC_OK, request.raw

    async def main(broker: BrokerProcess) -> None:
        with trio.fail_after(DEADLINE_SECONDS):
            async with (
                connect(broker.directory) as server,
                connect(broker.directory) as client,
                server.serve("svc", handler, concurrency=8),
                trio.open_nursery() as nursery,
            ):

                async def ask(task: int) -> None:
                    for number in range(150):
                        body = b"%d.%d" % (task, number) * (1 + number % 7 * 1_000)
                        reply = await client.request_raw("svc", "svc.x", body)
                        assert reply.raw == body

                for task in range(8):
                    nursery.start_soon(ask, task)

    with broker_process() as broker:
        trio.run(main, broker)


@pytest.mark.parametrize("size", [0, 1, 65_536, 1_000_000])
def test_bodies_of_any_size(size: int) -> None:
    async def handler(request: Request) -> tuple[int, bytes]:
        return RC_OK, request.raw

    async def main(broker: BrokerProcess) -> None:
        with trio.fail_after(DEADLINE_SECONDS):
            async with connect(broker.directory) as bus, bus.serve("svc", handler):
                body = b"x" * size
                assert (await bus.request_raw("svc", "svc.x", body)).raw == body

    with broker_process() as broker:
        trio.run(main, broker)
