"""Who a message is from: nothing that a peer says may change it.

The checks return what was breached, and run against a broker that believes its peers as well: there
they must find the breach, or they could not find one here.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgpack
import pytest

from brokerd.principal import Principal
from tests.support.attacks import ROOT
from tests.support.broker_process import broker_process, short_directory
from tests.support.raw_bus import RawPeer, socket_of
from tests.support.zmtp import DEALER, Dropped, Properties

FORGED = "f" * 32
Check = Callable[[Path], list[str]]

CLAIMS: list[Properties] = [
    ((name, value), *DEALER)
    for key, value in (
        (b"User-Id", FORGED.encode()),
        (b"Peer-Address", b"localhost:4242:4242:4242"),
        (b"X-Epoch", FORGED.encode()),
    )
    for name in (key, key.lower(), key.upper())
]
CLAIMS.append((*DEALER, *(claim for claims in CLAIMS for claim in claims[:1])))


@contextmanager
def naive_router() -> Iterator[Path]:
    """The socket of a broker that believes its peers."""
    with short_directory() as directory:
        path = directory / "bus.sock"
        with subprocess.Popen(
            [sys.executable, "-m", "tests.support.naive_router", str(path)],
            stdout=subprocess.PIPE,
            cwd=ROOT,
        ) as process:
            try:
                assert process.stdout is not None
                assert process.stdout.readline(), "it did not start"
                yield path
            finally:
                process.kill()


@contextmanager
def target(path: Path) -> Iterator[RawPeer]:
    with RawPeer.open(path) as peer:
        peer.serve("target")
        yield peer


def stamp_breaches(path: Path) -> list[str]:
    """Forged READY properties, in several cases and places."""
    breaches = []
    with target(path) as victim, ExitStack() as stack:
        for claims in CLAIMS:
            peer = stack.enter_context(RawPeer.open(path, claims))
            peer.ask("target")
            raw, _, stamp = victim_frames(victim)
            who = Principal.from_stamp(stamp)
            assert who is not None
            if FORGED in (who.connection_id, who.broker_epoch) or b"ffff" in raw:
                breaches.append(f"{claims[0][0].decode()} was believed")
            mine = (os.geteuid(), os.getegid(), os.getpid())
            if (who.unix_uid, who.unix_gid, who.peer_pid) != mine:
                breaches.append("the credentials are not the kernel's")
    return breaches


def victim_frames(victim: RawPeer) -> list[bytes]:
    """The next delivery's frames, undecoded."""
    while len(frames := victim.read_message()) == 1:
        pass
    return frames


FORGERIES: list[tuple[dict[str, object], tuple[bytes, ...]]] = [
    ({key: value}, ())
    for key, value in (
        *((key, FORGED) for key in ("from", "FROM", "From", "fRoM")),
        *((key, FORGED) for key in ("topic", "TOPIC", "Topic")),
        *((key, 77) for key in ("seq", "SEQ", "Seq")),
        *((key, True) for key in ("gap", "GAP", "Gap")),
        ("from", [FORGED]),
        ("FROM", "brokerd"),
    )
]
FORGERIES += [({}, (msgpack.packb({"unix_uid": 4_242, "connection_id": FORGED}),)), ({}, (b"",))]


def header_breaches(path: Path) -> list[str]:
    """Keys and frames that are the broker's alone."""
    breaches: list[str] = []
    with target(path) as victim, RawPeer.open(path) as peer:
        for number, (fields, more) in enumerate(FORGERIES):
            header = {"v": 1, "type": "request", "id": f"r{number}", "to": "target"}
            header["command"] = "x.y"
            peer.send_message(msgpack.packb({**header, **fields}), b"{}", *more)
        peer.ask("target", id="last")
        while True:
            frames = victim_frames(victim)
            found = msgpack.unpackb(frames[0])
            if found["id"] == "last":
                return breaches
            told = {key.lower(): value for key, value in found.items()}
            if told["from"] in (FORGED, "brokerd") or told.keys() & {"topic", "seq", "gap"}:
                breaches.append(f"{found['id']}: a key of the broker's went through")
            if Principal.from_stamp(frames[2]) is None:
                breaches.append(f"{found['id']}: a stamp of the peer's went through")


def chosen_id_breaches(path: Path) -> list[str]:
    """Routing ids that a peer chose: new ones, and another peer's."""
    breaches = []
    with ExitStack() as stack:
        other = stack.enter_context(RawPeer.open(path))
        other.hello()
        for chosen in (b"a", b"me", b"\1" * 5, b"\0" * 4, b"\0" * 6, b"x" * 255, b"me"):
            peer = stack.enter_context(RawPeer.open(path, (*DEALER, (b"Identity", chosen))))
            peer.ask("brokerd", id="chosen", command="session.hello")
            # Two round trips of another: by then an answer would have been sent.
            other.hello()
            other.hello()
            peer.socket.settimeout(0.05)
            try:
                peer.read_message()
                breaches.append(f"the routing id of {len(chosen)} bytes was taken")
            except (TimeoutError, Dropped):
                continue
    return breaches


@pytest.mark.parametrize("check", [stamp_breaches, header_breaches, chosen_id_breaches])
def test_nothing_forged_is_believed_and_the_check_can_tell(check: Check) -> None:
    with broker_process() as broker:
        assert check(socket_of(broker)) == []
    with naive_router() as path:
        assert check(path) != []


def test_third_frames_are_dropped_and_counted() -> None:
    with broker_process() as broker, RawPeer.open(socket_of(broker)) as peer:
        peer.serve("target")
        before = peer.counts()["malformed"]
        stamp = msgpack.packb({"version": 1})
        header = {"v": 1, "type": "request", "id": "r", "to": "target", "command": "x.y"}
        peer.send_message(msgpack.packb(header), b"{}", stamp)
        peer.send_message(msgpack.packb(header))
        assert peer.counts()["malformed"] == before + 2


UNSEEDED = [b"\0" + (0x6B8B4567 + number).to_bytes(4, "big") for number in range(20)]
"""The routing ids of an unseeded ROUTER, in order: it counts up from the first value of rand()."""


def steal(path: Path) -> bool:
    """Whether a guess at the routing id of a peer that has just gone gets what was for it.

    The guess is what an unseeded broker gives its second peer. The broker cannot know yet that the
    peer has gone, because its process lives.
    """
    with ExitStack() as stack:
        asker = stack.enter_context(RawPeer.open(path))
        asker.hello()  # so that the victim is the second
        victim = RawPeer.open(path)
        victim.serve("target")
        asker.verb("broker.ping")
        victim.close()
        thief = stack.enter_context(RawPeer.open(path, (*DEALER, (b"Identity", UNSEEDED[1]))))
        # More than once: the broker may see the message before it sees the thief.
        for number in range(20):
            asker.ask("target", b"secret", id=f"s{number}")
            asker.verb("broker.ping")
        return _hears(thief)


def _hears(thief: RawPeer) -> bool:
    thief.socket.settimeout(0.5)
    try:
        return b"secret" in thief.read_message()
    except (TimeoutError, Dropped):
        return False


def test_routing_ids_of_the_departed_cannot_be_guessed() -> None:
    with broker_process() as broker:
        assert not steal(socket_of(broker))
    with naive_router() as path:
        assert steal(path), "the guess is wrong: the check shows nothing"


def served_after_taking_ids(path: Path) -> bool:
    """Whether an honest peer is served when the ids that an unseeded broker has next are taken.

    libzmq ends its process when it comes to give an id that is taken.
    """
    with ExitStack() as stack:
        stack.enter_context(RawPeer.open(path))
        try:
            for chosen in UNSEEDED[2:]:
                stack.enter_context(RawPeer.open(path, (*DEALER, (b"Identity", chosen))))
            return all(
                stack.enter_context(RawPeer.open(path)).verb("session.hello") for _ in range(3)
            )
        except (OSError, Dropped):
            return False


def test_routing_ids_to_come_cannot_be_guessed() -> None:
    with broker_process() as broker:
        assert served_after_taking_ids(socket_of(broker))
    with naive_router() as path:
        assert not served_after_taking_ids(path), "the guess is wrong: the check shows nothing"


def test_duplicate_of_a_live_automatic_id_gets_nothing() -> None:
    """Whatever an impostor sends under a guessed id, it is its own connection or none."""
    with broker_process() as broker, target(socket_of(broker)) as victim:
        properties = (*DEALER, (b"Identity", b"\0\1\2\3\4"))
        with (
            RawPeer.open(socket_of(broker), properties) as first,
            RawPeer.open(socket_of(broker), properties) as second,
        ):
            first.ask("target", b"first")
            assert victim.receive()[1] == b"first"
            second.ask("target", b"second")
            first.ask("target", b"again", id="again")
            header, body, stamp = victim.receive()
            assert body == b"again"
            who = Principal.from_stamp(stamp)
            assert who is not None
            assert who.connection_id == header.from_
