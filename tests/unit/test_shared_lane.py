"""The shared endpoint's loop side, turn by turn, over real sockets and with a clock by hand."""

from __future__ import annotations

import errno
import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from brokerd.core import BrokerCore
from brokerd.io import shared
from brokerd.io.doorman import PAUSE_MS, Doorman, credentials
from brokerd.io.peers import Peers
from brokerd.io.processes import Processes
from brokerd.io.pump import Pump
from brokerd.io.shared import SharedLane
from brokerd.limits import DEFAULTS, MAX_MESSAGE_BYTES
from brokerd.peers import PeerCredentials
from tests.support import zmtp
from tests.support.broker_process import short_directory
from tests.support.raw_bus import RawPeer


class Listener(socket.socket):
    """A listener whose accept can be made to fail."""

    failing: int | None = None

    def accept(self) -> tuple[socket.socket, object]:
        if self.failing is not None:
            raise OSError(self.failing, os.strerror(self.failing))
        return super().accept()


class Lab:
    """A lane with a core behind it. Nothing happens but in ``turn``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.listener = Listener(socket.AF_UNIX)
        self.listener.setblocking(False)
        self.listener.bind(str(path))
        self.listener.listen(64)
        self.processes = Processes()
        uid, pid = os.geteuid(), os.getpid()
        self.core = BrokerCore(
            epoch="e" * 32, node="here", uid=uid, pid=pid, limits=DEFAULTS, now_ms=0
        )
        self.pump = Pump(self.core, Peers(DEFAULTS.probe_ms), self.processes)
        self.lane = SharedLane(self.listener, self.pump, DEFAULTS)
        self.now_ms = 0

    def turn(self) -> None:
        self.lane.step(self.now_ms)
        self.pump.housekeep(self.now_ms)

    def turns(self, count: int = 20) -> None:
        for _ in range(count):
            self.turn()

    def guest(self) -> RawPeer:
        """A guest past its handshake."""
        peer = RawPeer.connect(self.path)
        self.turns(2)
        peer.greet()
        peer.write(zmtp.ready())
        self.turns(3)
        peer.finish()
        return peer

    def counts(self) -> dict[str, int]:
        return self.core.statistics()

    def close(self) -> None:
        self.lane.close()
        self.processes.close()


@pytest.fixture
def lab() -> Iterator[Lab]:
    with short_directory() as directory:
        made = Lab(directory / "s")
        yield made
        made.close()


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM])
def test_an_accept_without_room_is_tried_again_after_a_pause(lab: Lab, number: int) -> None:
    lab.listener.failing = number
    with RawPeer.connect(lab.path) as waiting:
        lab.turns()
        assert lab.lane.next_deadline() == PAUSE_MS
        lab.listener.failing = None
        lab.turns()
        assert lab.lane.next_deadline() == PAUSE_MS  # and not looked at before
        lab.now_ms = PAUSE_MS
        lab.turns()
        waiting.greet()


def test_each_guest_is_heard_once_a_turn(lab: Lab) -> None:
    with lab.guest() as eager, lab.guest() as other:
        for _ in range(10):
            eager.send_message(b"x")
        other.send_message(b"x")
        lab.turn()
        assert lab.counts()["received"] == 2
        assert lab.lane.next_deadline() == lab.now_ms
        for count in range(3, 12):
            lab.turn()
            assert lab.counts()["received"] == count
        lab.turn()
        assert lab.lane.next_deadline() is None


@pytest.mark.parametrize("bound", ["_HELD_AT_MOST", "_HELD_IN_ALL"])
def test_the_unfinished_messages_of_one_user_and_of_all_are_bounded(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr(shared, bound, 3 * MAX_MESSAGE_BYTES)
    head = bytes((zmtp.LONG,)) + MAX_MESSAGE_BYTES.to_bytes(8, "big")
    part = bytes(MAX_MESSAGE_BYTES // 16)
    crowd = [lab.guest() for _ in range(5)]
    for peer in crowd:
        peer.write(head)
    for _ in range(15):
        for peer in crowd:
            try:
                peer.write(part)
            except zmtp.Dropped:
                continue
            lab.turns(4)
    assert 0 < lab.counts()["connections"] < 5
    for peer in crowd:
        peer.close()
    lab.turns()
    assert lab.counts()["connections"] == 0


def test_who_does_not_take_its_last_message_is_ended_all_the_same(lab: Lab) -> None:
    with lab.guest() as peer:
        value = b'{"topic":"t","value":"' + b"x" * 900_000 + b'"}'
        peer.ask("brokerd", b'{"topic":"t"}', command="broker.subscribe")
        lab.turns()
        with lab.guest() as publisher:
            sender = threading.Thread(
                target=publisher.ask,
                args=("brokerd", value),
                kwargs={"command": "broker.publish"},
            )
            sender.start()
            while sender.is_alive() or not lab.counts()["topics"]:
                lab.turn()
            sender.join()
            peer.ask("brokerd", command="broker.bye")
            lab.turns(50)
            assert lab.counts()["connections"] == 2
            lab.now_ms += 5_000
            lab.turns()
            lab.now_ms += 5_000
            lab.turns()
            assert lab.counts()["connections"] == 1
        assert len(peer.wait_dropped()) < len(value)


def test_a_handshake_has_its_time_and_no_more(lab: Lab) -> None:
    with RawPeer.connect(lab.path) as slow:
        lab.turns()
        assert lab.lane.next_deadline() == DEFAULTS.handshake_ms
        lab.now_ms = DEFAULTS.handshake_ms
        lab.turn()
        assert lab.lane.next_deadline() is None
        assert slow.wait_dropped() == zmtp.greeting(version=(3, 1))


def test_some_descriptors_are_never_given_to_guests(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lab.guest() as inside:
        monkeypatch.setattr(lab.lane._doorman, "_most_descriptor", 3)
        with RawPeer.connect(lab.path) as late:
            lab.turns()
            assert late.wait_dropped() == b""
        inside.ask("brokerd", command="broker.ping")
        lab.turns()
        assert inside.receive()[1] == b'{"pong":true}'


def test_who_has_ended_before_it_was_let_in_is_nobody(lab: Lab) -> None:
    """Its pid may be another's by now; its connection is still in the backlog."""
    connect = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])"
    subprocess.run([sys.executable, "-c", connect, str(lab.path)], check=True)
    connected, _ = lab.listener.accept()
    with connected:
        assert credentials(connected) is None


def test_the_kernels_word_is_taken_with_or_without_a_pidfd(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    with RawPeer.connect(lab.path):
        connected, _ = lab.listener.accept()
        with connected:
            me = PeerCredentials(os.geteuid(), os.getegid(), os.getpid())
            assert credentials(connected) == me
            monkeypatch.setattr("brokerd.io.doorman._SO_PEERPIDFD", 12_345)
            assert credentials(connected) == me


def test_all_that_was_counted_is_given_back(lab: Lab) -> None:
    doorman: Doorman = lab.lane._doorman
    crowd = [lab.guest() for _ in range(5)]
    assert doorman._inside == {os.geteuid(): 5}
    for peer in crowd:
        peer.close()
    lab.turns()
    assert doorman._inside == {}
    assert lab.counts()["connections"] == 0


def test_a_guest_that_another_ones_message_ends_is_not_heard_in_its_turn(lab: Lab) -> None:
    """The broker learns that one has gone by sending to it, while it waits for its turn."""
    with lab.guest() as one, lab.guest() as gone:
        gone.ask("brokerd", b'{"topic":"a.b"}', command="broker.subscribe")
        lab.turns()
        one.ask("brokerd", b'{"topic":"a.b","value":1}', command="broker.publish")
        for _ in range(3):
            gone.send_message(b"x")
        gone.socket.close()
        lab.turns()
        assert one.receive()[0].rc == 0
        assert lab.counts()["connections"] == 1


def test_a_guest_that_cannot_be_polled_is_closed_and_the_others_are_served(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab.lane, "_epoll", Full(lab.lane._epoll))
    with RawPeer.connect(lab.path) as unlucky:
        lab.turns()
        lab.now_ms = DEFAULTS.handshake_ms
        lab.turns()
        unlucky.wait_dropped()
        with lab.guest() as other:
            other.send_message(b"x")
            lab.turns()
            assert lab.counts()["received"] == 1


class Full:
    """An epoll that has no room for the first that is registered."""

    def __init__(self, real: select.epoll) -> None:
        self._real = real
        self._failed = False

    def register(self, descriptor: int, events: int) -> None:
        if not self._failed:
            self._failed = True
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._real.register(descriptor, events)

    def __getattr__(self, name: str) -> object:
        return getattr(self._real, name)


def test_a_guest_that_takes_nothing_costs_no_turns_until_it_does(lab: Lab) -> None:
    with lab.guest() as one, lab.guest() as slow:
        value = "v" * 50_000
        for guest in (one, slow):
            guest.ask("brokerd", b'{"topic":"a.b"}', command="broker.subscribe")
        one.ask(
            "brokerd", f'{{"topic":"a.b","value":"{value}"}}'.encode(), command="broker.publish"
        )
        for number in range(30):
            slow.ask("brokerd", b'{"topic":"a.b"}', id=f"{number}", command="broker.subscribe")
        lab.turns(60)
        assert lab.counts()["queued_messages"]
        due = lab.pump.next_deadline()
        assert due is None or due > 1_000
        sizes: list[int] = []
        reader = threading.Thread(
            target=lambda: sizes.extend(len(slow.receive()[1]) for _ in range(31))
        )
        reader.start()
        while reader.is_alive():
            lab.turn()
        assert sum(size > len(value) for size in sizes) == 30
