"""Bytes that are not the protocol: only who sends them suffers."""

from __future__ import annotations

import contextlib

import pytest

from brokerd.limits import MAX_HEADER_BYTES, MAX_MESSAGE_BYTES
from tests.support import zmtp
from tests.support.attacks import attacker
from tests.support.broker_process import BrokerProcess, broker_process
from tests.support.raw_bus import RawPeer, error_of, socket_of
from tests.support.zmtp import COMMAND, LONG, MORE, Dropped, ZmtpPeer

GOOD = zmtp.greeting() + zmtp.ready()

REFUSED = {
    "nothing but noise": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" + b"x" * 100,
    "another mechanism": zmtp.greeting(b"PLAIN") + zmtp.ready(),
    "no mechanism": zmtp.greeting(b"") + zmtp.ready(),
    "an old version": zmtp.greeting(version=(1, 0)) + zmtp.ready(),
    "a bad signature": zmtp.greeting(signature=b"\xff" + bytes(8) + b"\x00") + zmtp.ready(),
    "no READY": zmtp.greeting() + zmtp.message(b"header", b"body"),
    "an unknown command": zmtp.greeting() + zmtp.command(b"HELLO", b"x"),
    "a READY cut short": zmtp.greeting()
    + zmtp.frame(b"\x05READY\x0bSocket-Type\0\0\0\xffxx", COMMAND),
    "a socket type unfit": zmtp.greeting() + zmtp.ready([(b"Socket-Type", b"PUB")]),
    "a huge READY": zmtp.greeting() + bytes((COMMAND | LONG,)) + b"\x7f" * 8 + b"\x05READY",
}


def check_alive(broker: BrokerProcess) -> None:
    with RawPeer.open(socket_of(broker)) as other:
        assert other.verb("broker.ping") == {"pong": True}


def test_bad_handshakes_are_dropped_and_others_go_on() -> None:
    with broker_process() as broker, RawPeer.open(socket_of(broker)) as witness:
        for words, data in REFUSED.items():
            with ZmtpPeer.connect(socket_of(broker)) as peer:
                peer.write(data)
                assert b"pong" not in peer.wait_dropped(), words
            assert witness.verb("broker.ping") == {"pong": True}, words
        check_alive(broker)


def test_a_handshake_in_single_bytes_is_a_handshake() -> None:
    with broker_process() as broker, RawPeer.connect(socket_of(broker)) as peer:
        peer.write_split(zmtp.greeting(), [1] * 64)
        peer.write_split(zmtp.ready(), [1] * 100)
        assert peer.wait_ready()
        assert peer.hello()


def test_all_in_one_write_is_served_or_dropped() -> None:
    with broker_process() as broker:
        with RawPeer.connect(socket_of(broker)) as peer:
            try:
                peer.write(GOOD)
                assert peer.wait_ready()
                assert peer.hello()
            except Dropped:
                pass
        check_alive(broker)


def test_a_message_in_single_bytes_and_many_messages_in_one_write() -> None:
    header = zmtp.frame(b"", MORE)  # an empty header: malformed, and counted
    with broker_process() as broker, RawPeer.open(socket_of(broker)) as peer:
        before = peer.counts()["malformed"]
        peer.write_split(header + zmtp.frame(b"body"), [1] * 20)
        peer.write((header + zmtp.frame(b"body")) * 50)
        assert peer.counts()["malformed"] == before + 51


def test_slow_handshakes_are_dropped_and_delay_nobody() -> None:
    with (
        broker_process() as broker,
        RawPeer.open(socket_of(broker)) as witness,
        attacker(broker, "loris", 200) as crowd,
    ):
        rounds = 0
        while not crowd.done(0.01):
            assert witness.verb("broker.ping") == {"pong": True}
            rounds += 1
        assert crowd.line() == "dropped 200"
        assert rounds > 3
        crowd.kill()
        witness.until(lambda counts: counts["connections"] == 1)


@pytest.mark.parametrize("kind", ["frame", "length"])
def test_a_frame_over_the_limit_costs_its_sender_the_connection(kind: str) -> None:
    header = zmtp.frame(b"h", MORE)
    big = zmtp.frame(b"x" * (MAX_MESSAGE_BYTES + 1))
    lie = bytes((LONG,)) + b"\x7f" * 8
    with broker_process() as broker, RawPeer.open(socket_of(broker)) as witness:
        with RawPeer.open(socket_of(broker)) as peer:
            with contextlib.suppress(Dropped):
                peer.write(header + (big if kind == "frame" else lie))
            assert peer.wait_dropped() == b""
        assert witness.verb("broker.ping") == {"pong": True}


def test_a_long_header_a_long_message_and_many_frames_are_dropped_and_counted() -> None:
    asked = {"v": 1, "type": "request", "id": "big", "to": "brokerd", "command": "broker.ping"}
    with broker_process() as broker, RawPeer.open(socket_of(broker)) as peer:
        before = peer.counts()["malformed"]
        peer.send_message(b"\x81" + b"x" * MAX_HEADER_BYTES, b"{}")
        peer.send_message(*[b""] * 10_000)
        assert peer.counts()["malformed"] == before + 2
        peer.send({**asked}, b"x" * (MAX_MESSAGE_BYTES - 10))
        assert error_of(peer.receive()) == (10, "RESOURCE_LIMIT", "message")
        assert peer.verb("broker.ping") == {"pong": True}


@pytest.mark.parametrize("seed", [1, 2])
def test_fuzz(seed: int) -> None:
    """The broker stays up, a healthy peer is served, and nothing of the attacker remains."""
    with (
        broker_process() as broker,
        RawPeer.open(socket_of(broker)) as witness,
        RawPeer.open(socket_of(broker)) as server,
    ):
        server.serve("echo")
        with attacker(broker, "fuzz", seed) as attack:
            rounds = 0
            while not attack.done(0.001) or not rounds:
                witness.ask("echo", b"%d" % rounds, id=str(rounds))
                header, body, _ = server.receive()
                server.answer(header.from_, header.id, body)
                assert witness.receive()[1] == b"%d" % rounds
                rounds += 1
            assert attack.line().startswith("drops ")
            # What waits in a connection that is dropped is not counted; that depends on the load.
            assert witness.counts()["malformed"] > 10
            attack.kill()
            witness.until(lambda counts: counts["connections"] == 2)
        names = witness.verb("broker.list")["names"]
        assert [name["name"] for name in names] == ["echo"]  # type: ignore[attr-defined]
