"""The parts around the core, each by itself: the ZAP answer, routing ids, probes, pidfds."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Iterator
from typing import TypeAlias

import pytest
import zmq

from brokerd.errors import limit_reached
from brokerd.io.clock import Clock
from brokerd.io.peers import Peer, Peers
from brokerd.io.processes import Processes, start_time
from brokerd.io.router import Router
from brokerd.io.zap import DOMAIN, ZapHandler, by_kernel, not_now
from brokerd.limits import DEFAULTS
from brokerd.peers import PeerCredentials

EPOCH = "e" * 32
REQUEST = [b"1.0", b"77", b"brokerd", b"localhost:1000:100:42", b"", b"NULL"]


def admit(peer: PeerCredentials) -> str:
    if peer.uid == 8:
        raise limit_reached("connections_per_uid", 1, "too many")
    if peer.uid == 9:
        raise not_now("no such process")
    return "c" * 32


@pytest.fixture
def zap() -> Iterator[ZapHandler]:
    with zmq.Context() as context:
        handler = ZapHandler(context, EPOCH, {DOMAIN: by_kernel(admit)})
        yield handler
        handler.close()


def test_zap_answers_with_the_connection_id_and_the_epoch(zap: ZapHandler) -> None:
    version, request_id, status, _, user_id, metadata = zap.reply(REQUEST)
    assert (version, request_id, status, user_id) == (b"1.0", b"77", b"200", b"c" * 32)
    assert metadata == b"\x07X-Epoch\x00\x00\x00\x20" + EPOCH.encode()


@pytest.mark.parametrize(
    ("index", "value", "status"),
    [
        (0, b"2.0", b"400"),
        (2, b"other", b"400"),
        (2, b"", b"400"),
        (3, b"", b"400"),
        (3, b"localhost", b"400"),
        (3, b"localhost:65534:0:1", b"400"),
        (3, b"localhost:0:0:0", b"400"),
        (3, b"\xff\xfe:0:0:x", b"400"),
        (3, b"localhost:8:0:1", b"300"),
        (3, b"localhost:9:0:1", b"300"),
        (5, b"PLAIN", b"400"),
    ],
)
def test_zap_lets_nobody_else_in(zap: ZapHandler, index: int, value: bytes, status: bytes) -> None:
    request = [*REQUEST[:index], value, *REQUEST[index + 1 :]]
    answer = zap.reply(request)
    assert (answer[2], answer[4], answer[5]) == (status, b"", b"")


@pytest.mark.parametrize("size", range(6))
def test_zap_refuses_a_request_that_is_cut_off(zap: ZapHandler, size: int) -> None:
    assert zap.reply(REQUEST[:size])[2] == b"400"


@pytest.mark.parametrize(
    ("routing_id", "automatic"),
    [(b"\0abcd", True), (b"me", False), (b"abcde", False), (b"\0abcde", False), (b"", False)],
)
def test_a_routing_id_is_known_for_whose_choice_it_is(routing_id: bytes, automatic: bool) -> None:
    assert Router.gave(routing_id) is automatic


@pytest.fixture
def routers() -> Iterator[tuple[Router, Router]]:
    with zmq.Context() as context:
        made = Router(context, DEFAULTS, b"one"), Router(context, DEFAULTS, b"other")
        yield made
        for each in made:
            each.close()


Routers: TypeAlias = "tuple[Router, Router]"


def test_a_connection_keeps_the_socket_and_routing_id_it_was_first_seen_with(
    routers: Routers,
) -> None:
    router, other = routers
    peers = Peers(probe_ms=100)
    assert not peers.hear("a", router, b"1", 0)
    peers.add(Peer("a", 5, router=router))
    assert not peers.hear("a", other, b"1", 0)
    assert peers.hear("a", router, b"1", 0)
    assert not peers.hear("a", router, b"2", 0)
    assert not peers.hear("a", other, b"1", 0)
    assert peers.hear("a", router, b"1", 0)


def test_idle_connections_are_probed_slowly_and_busy_ones_not(routers: Routers) -> None:
    router, _ = routers
    peers = Peers(probe_ms=100)
    for name in ("busy", "idle"):
        peers.add(Peer(name, 5, router=router))
        peers.hear(name, router, name.encode(), 0)
    peers.hear("busy", router, b"busy", 60)
    assert peers.next_deadline() == 100
    assert [peer.connection_id for peer in peers.due(100, 9)] == ["idle"]
    assert [peer.connection_id for peer in peers.due(160, 9)] == ["busy"]
    assert [peer.connection_id for peer in peers.due(200, 9)] == ["idle"]


def test_a_connection_of_an_ended_process_is_probed_soon_then_ever_more_slowly(
    routers: Routers,
) -> None:
    router, _ = routers
    peers = Peers(probe_ms=10)
    peers.add(Peer("a", 5, router=router))
    peers.hear("a", router, b"1", 0)
    peers.suspect("a", 3)
    moments = [now for now in range(60) if peers.due(now, 9)]
    assert moments == [3, 4, 6, 10, 18, 28, 38, 48, 58]
    peers.remove("a")
    assert peers.due(1_000, 9) == []
    assert peers.next_deadline() is None


def test_the_end_of_a_process_is_told_once() -> None:
    processes = Processes()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert processes.watch(child.pid)
        assert processes.watch(child.pid)
        processes.attach(child.pid, "a")
        processes.attach(child.pid, "b")
        processes.detach(child.pid, "b")
        assert processes.ended() == []
        child.kill()
        assert select.select([processes.fileno()], [], [], 20.0)[0]
        assert processes.ended() == ["a"]
        assert processes.ended() == []
    assert len(processes) == 0
    processes.detach(child.pid, "a")
    processes.close()


def test_a_process_without_connections_is_not_watched() -> None:
    processes = Processes()
    assert processes.watch(os.getpid())
    processes.release(os.getpid())
    assert len(processes) == 0
    processes.close()


def test_a_process_that_is_not_there_cannot_be_watched() -> None:
    with subprocess.Popen(["true"]) as child:
        child.wait()
    processes = Processes()
    assert start_time(child.pid) is None
    assert not processes.watch(child.pid)
    processes.close()


class Ticking:
    """A clock by hand, that can break."""

    def __init__(self, now_ns: int) -> None:
        self.now_ns = now_ns
        self.broken = False

    def __call__(self) -> int:
        if self.broken:
            raise OSError
        return self.now_ns


def test_the_clock_goes_on_from_where_the_boot_time_broke() -> None:
    boottime, monotonic = Ticking(90_000_000_000), Ticking(5_000_000_000)
    clock = Clock(boottime, monotonic)
    assert (clock.now_ms(), clock.failed) == (90_000, False)
    boottime.broken = True
    assert (clock.now_ms(), clock.failed) == (90_000, True)
    monotonic.now_ns += 7_000_000
    boottime.broken = False
    boottime.now_ns = 1
    assert (clock.now_ms(), clock.failed) == (90_007, True)


def test_the_clock_never_goes_back() -> None:
    boottime = Ticking(2_000_000_000)
    clock = Clock(boottime, Ticking(0))
    assert clock.now_ms() == 2_000
    boottime.now_ns = 1_000_000_000
    assert clock.now_ms() == 2_000
