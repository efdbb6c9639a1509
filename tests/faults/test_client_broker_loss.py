"""What a client is told when its broker dies, stops, was never there, or drops it: never a hang."""

from __future__ import annotations

import signal
import socket
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

import pytest
import trio
import trio.testing
import zmq

from brokerd import wire
from brokerd.client import (
    RC_OK,
    BrokerLost,
    Bus,
    BusError,
    NotConnected,
    Overloaded,
    Request,
    RequestTimeout,
    RuntimeDirError,
    connect,
)
from tests.support.broker_process import BrokerProcess, broker_process, short_directory
from tests.support.bus_labs import DEADLINE_SECONDS, eventually

blocking = trio.to_thread.run_sync
Router: TypeAlias = "zmq.Socket[bytes]"


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def main() -> None:
        with trio.fail_after(DEADLINE_SECONDS):
            await test()

    trio.run(main)


async def echo(request: Request) -> tuple[int, bytes]:
    return RC_OK, request.raw


def test_kill_9_with_requests_pending() -> None:
    async def main() -> None:
        errors: list[BusError] = []

        async def ask(bus: Bus) -> None:
            try:
                await bus.request("hole", "hole.x", timeout=None)
            except BusError as error:
                errors.append(error)

        with broker_process() as broker:
            async with (
                connect(broker.directory) as server,
                connect(broker.directory) as client,
                server.listen("hole", capacity=100) as requests,
            ):
                async with trio.open_nursery() as nursery:
                    for _ in range(50):
                        nursery.start_soon(ask, client)
                    await eventually(server, lambda: len(requests) == 50)
                    await blocking(broker.kill)
                assert [type(error) for error in errors] == [BrokerLost] * 50
                with pytest.raises(NotConnected):
                    await client.request("hole", "hole.x")
                while len(requests):  # the server's connection sees it a moment later
                    await trio.lowlevel.checkpoint()

    run(main)


def test_nothing_sent_to_the_old_broker_runs_under_the_new_one() -> None:
    async def main() -> None:
        ran: list[str] = []

        async def handler(request: Request) -> tuple[int, bytes]:
            ran.append(request.command)
            return RC_OK, b""

        async def flood(bus: Bus) -> None:
            with pytest.raises(BrokerLost):
                await bus.request_raw("svc", "svc.old", b"x" * 100_000, timeout=None)

        with broker_process() as broker:
            async with (
                connect(broker.directory) as server,
                connect(broker.directory) as client,
                server.serve("svc", handler),
            ):
                old = client.broker_epoch
                broker.send(signal.SIGSTOP)
                async with trio.open_nursery() as nursery:
                    for _ in range(60):
                        nursery.start_soon(flood, client)
                    await trio.testing.wait_all_tasks_blocked(0.01)
                    # The socket took what it could; the rest waits in the client.
                    assert client.statistics().queued_messages > 0
                    await blocking(broker.kill)
                await blocking(broker.start)
                await client.wait_epoch_change(old)
                await server.wait_epoch_change(old)
                while not (await client.request("svc", "svc.new")).ok:
                    pass
                assert ran == ["svc.new"]

    run(main)


def test_a_stopped_broker_means_timeouts_then_overload_then_recovery() -> None:
    async def main() -> None:
        with broker_process() as broker:
            async with connect(broker.directory) as bus, bus.serve("svc", echo):
                broker.send(signal.SIGSTOP)
                with pytest.raises(RequestTimeout):
                    await bus.request("svc", "svc.x", timeout=0.05)
                sent = 0
                while bus.send_event(bus.connection_id, "svc.fill", b"x" * 10_000):
                    sent += 1
                    assert sent < 2_000
                with pytest.raises(Overloaded):
                    await bus.request("svc", "svc.x")
                epoch = bus.broker_epoch
                broker.send(signal.SIGCONT)
                await eventually_quiet(bus)
                assert (await bus.request_raw("svc", "svc.x", b"back")).raw == b"back"
                assert bus.broker_epoch == epoch

    async def eventually_quiet(bus: Bus) -> None:
        while bus.statistics().queued_messages:
            await trio.lowlevel.checkpoint()

    run(main)


def test_leaving_a_stopped_broker_does_not_hang() -> None:
    async def main() -> None:
        with broker_process() as broker:
            async with connect(broker.directory) as bus, bus.serve("svc", echo):
                broker.send(signal.SIGSTOP)
            with pytest.raises(NotConnected):
                await bus.request("svc", "svc.x")
            with trio.move_on_after(0.1):
                await use(broker.directory, timeout=DEADLINE_SECONDS)
                raise AssertionError("a stopped broker answered")
            broker.send(signal.SIGCONT)
            await use(broker.directory, timeout=DEADLINE_SECONDS)

    run(main)


def test_the_blocks_exception_comes_out_as_it_is() -> None:
    async def main() -> None:
        with broker_process() as broker, pytest.raises(KeyError):
            await fail_inside(broker.directory)

    async def fail_inside(directory: Path) -> None:
        async with connect(directory) as bus, bus.serve("svc", echo), bus.subscribe("topic"):
            raise KeyError

    run(main)


def test_no_broker_fails_at_once() -> None:
    async def main(directory: Path) -> None:
        with trio.fail_after(DEADLINE_SECONDS):
            with pytest.raises(NotConnected, match="termnode up"):
                await use(directory / "r", timeout=10 * DEADLINE_SECONDS)
            assert not (directory / "r").exists()
            (directory / "r").mkdir(mode=0o700)
            with closing(socket.socket(socket.AF_UNIX)) as dead:
                dead.bind(str(directory / "r" / "bus.sock"))
            with pytest.raises(NotConnected, match="nobody answers"):
                await use(directory / "r", timeout=10 * DEADLINE_SECONDS)
            with pytest.raises(NotConnected, match="within"):
                await use(directory / "r", timeout=0.1, wait=True)

    with short_directory() as directory:
        trio.run(main, directory)


def test_a_listener_that_is_no_broker_times_out() -> None:
    async def main(directory: Path) -> None:
        with trio.fail_after(DEADLINE_SECONDS), pytest.raises(NotConnected, match="within"):
            await use(directory, timeout=0.2)

    with short_directory() as directory, closing(socket.socket(socket.AF_UNIX)) as mute:
        mute.bind(str(directory / "bus.sock"))
        mute.listen()
        trio.run(main, directory)


def test_a_broker_that_ends_while_it_is_being_reached_is_noticed() -> None:
    async def main(broker: BrokerProcess) -> None:
        with trio.fail_after(DEADLINE_SECONDS):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(refused, broker.directory)
                await trio.testing.wait_all_tasks_blocked(0.05)
                await blocking(broker.kill)

    async def refused(directory: Path) -> None:
        # Not "within", which would be the timeout.
        with pytest.raises(NotConnected, match=r"ended before it|dropped the"):
            await use(directory, timeout=DEADLINE_SECONDS)

    with broker_process() as broker:
        broker.send(signal.SIGSTOP)
        trio.run(main, broker)


def test_a_directory_open_to_others_is_not_used() -> None:
    with short_directory() as directory:
        directory.chmod(0o755)
        with pytest.raises(RuntimeDirError, match="chmod 700"):
            trio.run(use, directory)


def test_waiting_for_a_broker_that_comes_later() -> None:
    async def main(broker: BrokerProcess) -> None:
        with trio.fail_after(DEADLINE_SECONDS):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(blocking, broker.start)
                await use(broker.directory, timeout=DEADLINE_SECONDS, wait=True)

    with short_directory() as directory, closing(BrokerProcess(directory / "r")) as broker:
        trio.run(main, broker)


def test_many_restarts_leave_no_descriptors() -> None:
    async def main() -> None:
        with broker_process() as broker:
            async with connect(broker.directory) as bus, bus.serve("svc", echo):
                before = open_descriptors()
                for _ in range(5):
                    old = bus.broker_epoch
                    await blocking(broker.kill)
                    await blocking(broker.start)
                    await bus.wait_epoch_change(old)
                    while not (await bus.request("svc", "svc.x")).ok:
                        pass
                assert open_descriptors() <= before + 3  # threads' wake-ups come and go

    run(main)


def test_a_connection_that_is_dropped_while_its_broker_lives_is_made_again() -> None:
    """As after a heartbeat that was missed: no process ends, so no pidfd tells."""

    async def main(directory: Path, first: Router, second: Router) -> None:
        endpoint = f"ipc://{directory}/bus.sock"
        with trio.fail_after(DEADLINE_SECONDS):
            first.bind(endpoint)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(answer_hello, first, "1" * 32)
                async with connect(directory) as bus:
                    first.close(linger=0)
                    second.bind(endpoint)
                    nursery.start_soon(answer_hello, second, "2" * 32)
                    assert await bus.wait_epoch_change("1" * 32) == "2" * 32

    with short_directory() as directory, zmq.Context() as context:
        first, second = context.socket(zmq.ROUTER), context.socket(zmq.ROUTER)
        with closing(first), closing(second):
            trio.run(main, directory, first, second)


async def answer_hello(router: Router, epoch: str) -> None:
    """As much of a broker as a client needs to believe that it is connected."""
    routing_id, raw, _ = await receive(router)
    asked = wire.decode_header(raw, from_broker=False)
    me = "a" * 32
    fields = {"v": 1, "type": "response", "id": asked.id, "to": me, "rc": 0, "from": wire.BROKER}
    body = b'{"broker_epoch":"%s","connection_id":"%s"}' % (epoch.encode(), me.encode())
    router.send_multipart([routing_id, wire.encode_header(fields), body, b""])


async def receive(router: Router) -> list[bytes]:
    while not int(router.get(zmq.EVENTS)) & int(zmq.POLLIN):
        await trio.lowlevel.wait_readable(int(router.get(zmq.FD)))
    return router.recv_multipart()


async def use(directory: Path, *, timeout: float = 5.0, wait: bool = False) -> None:
    async with connect(directory, timeout=timeout, wait=wait) as bus:
        assert (await bus.request("brokerd", "broker.ping")).ok


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
