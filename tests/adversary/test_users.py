"""Other users: kept out by the directory, and told apart by the kernel when let in on purpose.

Credentials are of who connected. Who changes its user afterwards, and who speaks on a connection
made by another, is taken for the connector: that is documented, and held here.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from brokerd.principal import Principal
from tests.support.attacks import attacker
from tests.support.broker_process import BrokerProcess, broker_process
from tests.support.raw_bus import RawPeer, socket_of

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become other users")

FOREIGN = 65_533
LARGE = 3_000_000_000


@contextmanager
def target(broker: BrokerProcess) -> Iterator[RawPeer]:
    with RawPeer.open(socket_of(broker)) as peer:
        peer.serve("target")
        yield peer


def open_to_all(broker: BrokerProcess) -> None:
    """What nobody should do; the stamp must hold all the same."""
    broker.directory.parent.chmod(0o711)
    broker.directory.chmod(0o711)
    socket_of(broker).chmod(0o666)


def sender_of(peer: RawPeer) -> Principal:
    _, _, stamp = peer.receive()
    principal = Principal.from_stamp(stamp)
    assert principal is not None
    return principal


def test_another_user_does_not_get_through_the_directory() -> None:
    with broker_process() as broker:
        broker.directory.parent.chmod(0o711)
        socket_of(broker).chmod(0o666)
        with attacker(broker, "ask_as", FOREIGN) as foreign:
            assert foreign.line() == "PermissionError"


@pytest.mark.parametrize("uid", [FOREIGN, LARGE])
def test_another_user_is_stamped_as_who_it_is(uid: int) -> None:
    with broker_process() as broker, target(broker) as peer:
        open_to_all(broker)
        with attacker(broker, "ask_as", uid) as foreign:
            assert foreign.line() == "asked"
            sender = sender_of(peer)
            assert (sender.unix_uid, sender.unix_gid) == (uid, uid)
            assert sender.peer_pid != os.getpid()


def test_the_users_overflow_id_is_nobody() -> None:
    """65534 is what the kernel says when it cannot say: such a peer is not let in."""
    with broker_process() as broker, target(broker) as peer:
        open_to_all(broker)
        before = peer.counts()["accepted"]
        with attacker(broker, "ask_as", 65_534) as foreign:
            assert foreign.line() in ("Dropped", "TimeoutError")
        assert peer.counts()["accepted"] == before
        assert not peer.passed


def test_who_changes_its_user_after_connecting_stays_who_connected() -> None:
    with (
        broker_process() as broker,
        target(broker) as peer,
        attacker(broker, "become_after", FOREIGN) as changed,
    ):
        assert changed.line() == "asked"
        assert sender_of(peer).unix_uid == 0


def test_a_connection_that_was_handed_on_is_the_connectors() -> None:
    """Inherited, or passed over a socket: the kernel keeps the connector's credentials."""
    with broker_process() as broker, target(broker) as peer:
        left, right = socket.socketpair(socket.AF_UNIX)
        with left, right, RawPeer.open(socket_of(broker)) as made:
            mine = made.hello()
            socket.send_fds(left, [b"x"], [made.socket.fileno()])
            _, (passed, *_), _, _ = socket.recv_fds(right, 1, 1)
            with attacker(broker, "inherited", f"{passed}:{FOREIGN}", pass_fds=(passed,)) as other:
                os.close(passed)
                assert other.line() == "asked"
                sender = sender_of(peer)
        assert (sender.unix_uid, sender.peer_pid) == (0, os.getpid())
        assert sender.connection_id == mine


def test_directed_events_do_not_cross_users() -> None:
    with broker_process() as broker, RawPeer.open(socket_of(broker)) as reader:
        open_to_all(broker)
        me = reader.hello()
        reader.verb("broker.subscribe", b'{"service":"foreign"}')
        with attacker(broker, "event_as", f"{FOREIGN}:{me}") as foreign:
            assert foreign.line() == "told"
            assert reader.counts()["unroutable_event"] == 1
            assert not reader.passed
