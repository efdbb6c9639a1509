"""Running out: of descriptors, of memory, of patience with a peer that does not read."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import time
from collections.abc import Callable
from contextlib import ExitStack
from statistics import median

import pytest
import trio

from brokerd.client import BrokerLost, Bus, BusError, connect
from tests.support import zmtp
from tests.support.broker_process import BrokerProcess, broker_process
from tests.support.bus_labs import eventually
from tests.support.raw_bus import RawPeer, error_of, socket_of
from tests.support.zmtp import MORE, Dropped, ZmtpPeer

blocking = trio.to_thread.run_sync
PART = zmtp.frame(b"x" * 60_000, MORE)


def crowd(broker: BrokerProcess) -> None:
    """More connections than the broker has descriptors for."""
    resource.prlimit(broker.pid, resource.RLIMIT_NOFILE, (64, 64))
    with ExitStack() as stack, contextlib.suppress(OSError):
        for _ in range(120):
            stack.enter_context(ZmtpPeer.connect(socket_of(broker)))
        ended(broker, zmtp.PATIENCE)


def unfinished(broker: BrokerProcess) -> None:
    """One message whose end never comes; the cap on memory must show before 120 MB."""
    cap = 64 * 1_048_576
    resource.prlimit(broker.pid, resource.RLIMIT_DATA, (cap, cap))
    with RawPeer.open(socket_of(broker)) as peer:
        for _ in range(100):
            try:
                peer.write(PART * 20)
            except Dropped:
                return
    raise AssertionError("the cap had nothing to do with it")


def ended(broker: BrokerProcess, seconds: float) -> bool:
    """Whether the broker has ended, waiting so long for it."""
    descriptor = os.pidfd_open(broker.pid)
    try:
        return bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("attack", [crowd, unfinished])
def test_clients_outlive_what_their_broker_may_not(attack: Callable[[BrokerProcess], None]) -> None:
    """The broker may end: then who waits is told so, and the next broker serves the same client."""
    told: list[type[BusError]] = []

    async def wait_for_answer(bus: Bus) -> None:
        try:
            await bus.request("hole", "hole.x", timeout=None)
        except BusError as error:
            told.append(type(error))

    async def main(broker: BrokerProcess) -> None:
        with trio.fail_after(3 * zmtp.PATIENCE):
            async with (
                connect(broker.directory) as bus,
                bus.listen("hole") as requests,
                trio.open_nursery() as nursery,
            ):
                old = bus.broker_epoch
                nursery.start_soon(wait_for_answer, bus)
                await eventually(bus, lambda: len(requests) == 1)
                await blocking(attack, broker)
                if await blocking(ended, broker, 1.0):
                    await blocking(broker.kill)  # it is dead already; this takes its status
                    await blocking(broker.start)
                    assert await bus.wait_epoch_change(old) != old
                    assert told == [BrokerLost]
                assert (await bus.request("brokerd", "broker.ping")).body == {"pong": True}
                nursery.cancel_scope.cancel()

    with broker_process() as broker:
        trio.run(main, broker)


def flood(sender: RawPeer, number: int, body: bytes) -> int:
    """One request to ``stuck``; how many refusals have come by now."""
    sender.ask("stuck", body, id=f"f{number}")
    sender.verb("broker.ping")
    return len(sender.passed)


def round_trip(client: RawPeer, server: RawPeer) -> float:
    started = time.perf_counter()
    client.ask("echo")
    header, body, _ = server.receive()
    server.answer(header.from_, header.id, body)
    client.receive()
    return time.perf_counter() - started


def test_a_peer_that_does_not_read_delays_nobody() -> None:
    """Two brokers in turns, one with a stuck peer under fire: what slows both does not count."""
    with ExitStack() as stack:
        pairs, open_peer = [], stack.enter_context
        brokers = [open_peer(broker_process()) for _ in range(2)]
        for broker in brokers:
            server = open_peer(RawPeer.open(socket_of(broker)))
            server.serve("echo")
            pairs.append((open_peer(RawPeer.open(socket_of(broker))), server))
        stuck = open_peer(RawPeer.open(socket_of(brokers[0])))
        stuck.serve("stuck")
        sender = open_peer(RawPeer.open(socket_of(brokers[0])))
        sent = 0
        while not flood(sender, sent, b"x" * 100_000):
            sent += 1
            assert sent < 250, "the queue has no bound"
        assert error_of(sender.receive()) == (10, "RESOURCE_LIMIT", "recipient_queue_full")
        times: tuple[list[float], list[float]] = ([], [])
        for number in range(200):
            sender.ask("stuck", b"x" * 1_000_000, id=f"more{number}")
            sender.receive()
            for pair, spent in zip(pairs, times, strict=True):
                spent.append(round_trip(*pair))
        assert median(times[0]) <= 5 * median(times[1])


def test_a_gap_is_told_when_the_stuck_peer_reads_again() -> None:
    with (
        broker_process() as broker,
        RawPeer.open(socket_of(broker)) as stuck,
        RawPeer.open(socket_of(broker)) as sender,
    ):
        me = stuck.hello()
        stuck.verb("broker.subscribe", b'{"service":"svc"}')
        sender.serve("svc")
        sent = 0
        while not sender.counts()["queue_full"]:
            sender.tell(me, b"%d" % sent + b" " * 100_000)
            sent += 1
            assert sent < 1_000, "the queue has no bound"
        got = [stuck.receive() for _ in range(sent - 1)]
        assert [int(body) for _, body, _ in got] == list(range(sent - 1))
        # Said once, on the first message that went out after the drop.
        assert [header.gap for header, _, _ in got].count(True) == 1
        sender.tell(me, b"after")
        header, body, _ = stuck.receive()
        assert (header.gap, body) == (None, b"after")
