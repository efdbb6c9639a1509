"""The endpoint for other users: who gets in, and that nobody there ends or stalls the broker."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import trio

from brokerd.client import ForeignBroker, NotConnected, RuntimeDirError, connect
from brokerd.principal import Principal
from tests.support import zmtp
from tests.support.attacks import ROOT, Attacker
from tests.support.broker_process import BrokerProcess, short_directory
from tests.support.raw_bus import RawPeer, error_of, socket_of
from tests.support.zmtp import Dropped, ZmtpPeer

FOREIGN = 65_533
others = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become other users")


@contextmanager
def sharing(*arguments: str, files: int | None = None) -> Iterator[tuple[BrokerProcess, Path]]:
    """A broker that shares a directory, and its socket there; with at most ``files`` open files."""
    with short_directory() as base:
        base.chmod(0o711)
        broker = BrokerProcess(base / "r", "--shared", str(base / "s"), *arguments)
        try:
            broker.start_with(files=files)
            yield broker, base / "s" / "bus.sock"
        finally:
            broker.close()


@contextmanager
def attack(name: str, path: Path, argument: int | str = 0) -> Iterator[Attacker]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.attacks", name, str(path), str(argument)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    ) as process:
        try:
            yield Attacker(process)
        finally:
            process.kill()


def dropped(peer: ZmtpPeer) -> bool:
    """Whether the broker has closed it, or does so now."""
    peer.wait_dropped()
    return True


def descriptors(broker: BrokerProcess) -> int:
    return len(os.listdir(f"/proc/{broker.pid}/fd"))


def test_its_own_user_is_served_there_as_anywhere() -> None:
    with sharing() as (broker, path), RawPeer.open(path) as guest:
        assert broker.ready["shared"] == str(path)
        with RawPeer.open(socket_of(broker)) as own:
            guest.hello()
            guest.serve("there")
            own.ask("there", b"question")
            header, body, stamp = guest.receive()
            principal = Principal.from_stamp(stamp)
            assert principal is not None
            assert (principal.unix_uid, principal.peer_pid) == (os.geteuid(), os.getpid())
            assert body == b"question"
            guest.answer(header.from_, header.id, b"answer")
            assert own.receive()[1] == b"answer"


def test_the_directory_and_socket_are_for_all_and_go_when_the_broker_does() -> None:
    with sharing() as (broker, path):
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o755
        assert stat.S_IMODE(path.stat().st_mode) == 0o666
        assert stat.S_IMODE((path.parent / "broker.lock").stat().st_mode) == 0o600
        broker.kill()
        assert path.exists()
        broker.start()
        with RawPeer.open(path) as guest:
            guest.hello()
        assert broker.end() == 0
        assert list(path.parent.iterdir()) == []


def test_one_broker_for_each_directory_that_is_shared() -> None:
    with sharing() as (broker, path), short_directory() as base:
        second = start(base, path.parent)
        assert second.returncode == 3
        assert f"(pid {broker.pid})" in second.stderr


def start(base: Path, shared: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "brokerd", "--runtime-dir", str(base / "r")]
    return subprocess.run(
        [*command, "--shared", str(shared)],
        capture_output=True,
        text=True,
        timeout=zmtp.PATIENCE,
        check=False,
    )


@pytest.mark.parametrize("case", ["link", "writable", "file", "owner"])
def test_a_directory_that_others_can_change_is_not_shared(case: str) -> None:
    with short_directory() as base:
        directory = base / "s"
        if case == "link":
            directory.symlink_to(base)
        elif case == "writable":
            directory.mkdir()
            directory.chmod(0o775)
        elif case == "file":
            directory.mkdir(0o755)
            (directory / "bus.sock").write_text("mine")
        elif os.geteuid() == 0:
            directory.mkdir(0o755)
            os.chown(directory, FOREIGN, FOREIGN)
        else:
            pytest.skip("needs root to give a directory away")
        refused = start(base, directory)
        words = {"link": "link", "writable": "chmod go-w", "file": "not a socket"}
        assert refused.returncode == 3
        assert words.get(case, "belongs to a user") in refused.stderr
        assert not (directory / "broker.lock").exists()


@others
def test_another_user_is_let_in_stamped_and_may_ask_and_nothing_else() -> None:
    with sharing() as (broker, path), RawPeer.open(socket_of(broker)) as peer:
        me = peer.hello()
        peer.serve("target")
        with attack("ask_as", path, FOREIGN) as foreign:
            assert foreign.line() == "asked"
            header, _, stamp = peer.receive()
            principal = Principal.from_stamp(stamp)
            assert principal is not None
            assert (principal.unix_uid, principal.unix_gid) == (FOREIGN, FOREIGN)
            assert header.from_ == principal.connection_id
        peer.verb("broker.subscribe", b'{"service":"foreign"}')
        with attack("event_as", path, f"{FOREIGN}:{me}") as foreign:
            assert foreign.line() == "told"
            assert not peer.passed
        names = peer.verb("broker.list")["names"]
        assert isinstance(names, list)
        assert [each["name"] for each in names] == ["target"]


@others
def test_nobody_is_nobody_there_too() -> None:
    with sharing() as (broker, path), attack("ask_as", path, 65_534) as foreign:
        assert foreign.line() == "Dropped"
        with RawPeer.open(socket_of(broker)) as peer:
            assert peer.counts()["accepted"] == 1


def test_a_user_has_so_many_connections_and_gets_them_back() -> None:
    with sharing("--set", "shared_per_uid=4") as (broker, path), ExitStack() as stack:
        crowd = [stack.enter_context(RawPeer.open(path)) for _ in range(4)]
        with pytest.raises(Dropped), RawPeer.open(path):
            pass
        with RawPeer.open(socket_of(broker)) as own:  # that is another quota
            crowd[0].verb("broker.bye")
            assert dropped(crowd[0])
            with RawPeer.open(path) as later:
                later.hello()
            own.until(lambda counts: counts["connections"] == 4)


def test_all_have_so_many_connections_together() -> None:
    with sharing("--set", "shared_connections=2") as (_, path), ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(RawPeer.open(path))
        with pytest.raises(Dropped), RawPeer.open(path):
            pass


def test_a_handshake_that_takes_too_long_is_ended() -> None:
    with sharing("--set", "handshake_ms=200") as (_, path):
        hello = zmtp.greeting() + zmtp.ready()
        crowd = [ZmtpPeer.connect(path) for _ in range(5)]
        for peer, size in zip(crowd, (0, 1, 30, 64, len(hello) - 1), strict=True):
            peer.write(hello[:size])
        assert all(dropped(peer) for peer in crowd)
        for peer in crowd:
            peer.close()


BAD = {
    "noise": b"\0" * 80,
    "plain": zmtp.greeting(mechanism=b"PLAIN"),
    "large": zmtp.greeting() + zmtp.ready() + b"\x02" + (2**20 + 4_097).to_bytes(8, "big"),
    "command": zmtp.greeting() + zmtp.ready() + zmtp.command(b"SUBSCRIBE", b"x"),
    "parts": zmtp.greeting() + zmtp.ready() + zmtp.frame(b"", zmtp.MORE) * 65,
}


@pytest.mark.parametrize("case", BAD)
def test_who_misbehaves_is_closed_and_forgotten(case: str) -> None:
    with sharing() as (broker, path), RawPeer.open(socket_of(broker)) as own:
        before = descriptors(broker)
        with ZmtpPeer.connect(path) as peer:
            peer.write(BAD[case])
            assert dropped(peer)
        own.until(lambda counts: counts["connections"] == 1)
        assert descriptors(broker) == before


def test_a_message_that_is_only_wrong_is_counted_and_the_connection_goes_on() -> None:
    with sharing() as (_, path), RawPeer.open(path) as guest:
        before = guest.counts()["malformed"]
        guest.send_message(b"one part")
        guest.send_message(b"three", b"parts", b"here")
        guest.send_message(b"\xff\xff", b"no header")
        assert guest.counts()["malformed"] == before + 3


def test_a_ping_is_answered() -> None:
    with sharing() as (_, path), ZmtpPeer.open(path) as guest:
        guest.write(zmtp.command(b"PING", b"\0\x64context"))
        assert guest.read_frame() == (zmtp.COMMAND, b"\x04PONGcontext")


def test_the_end_of_a_connection_is_seen_at_once() -> None:
    """Without a probe: those are set to come never."""
    with (
        sharing("--set", "probe_ms=2000000000") as (broker, path),
        RawPeer.open(socket_of(broker)) as own,
    ):
        guest = RawPeer.open(path)
        guest.serve("there")
        own.ask("there")
        guest.receive()
        guest.close()
        assert error_of(own.receive()) == (20, "UNAVAILABLE", "peer_gone")


def test_a_guest_that_takes_nothing_delays_nobody_and_gets_what_waited() -> None:
    body = bytes(100_000)
    with (
        sharing() as (broker, path),
        RawPeer.open(path) as slow,
        RawPeer.open(path) as quick,
        RawPeer.open(socket_of(broker)) as own,
    ):
        slow.serve("slow")
        asked = 0
        while own.counts()["queue_full"] == 0:
            own.ask("slow", body, id=f"s{asked}")
            assert quick.verb("broker.ping") == {"pong": True}
            asked += 1
            assert asked < 300, "the slow guest's queue never filled"
        received = 0
        while slow.receive()[0].id != f"s{asked - 2}":
            received += 1
        assert received == asked - 2
        assert error_of(own.receive()) == (10, "RESOURCE_LIMIT", "recipient_queue_full")


def test_a_large_message_goes_both_ways() -> None:
    value = json.dumps({"topic": "t", "value": "x" * 1_000_000}).encode()
    with sharing() as (_, path), RawPeer.open(path) as guest:
        guest.verb("broker.publish", value)
        for _ in range(3):
            told = guest.verb("broker.subscribe", b'{"topic":"t"}')
            assert len(str(told["value"])) == 1_000_000


async def until(true: Callable[[], object]) -> None:
    """Look again and again, letting everybody else run; the caller's deadline ends it."""
    while not true():
        with trio.move_on_after(0.002):
            await trio.sleep_forever()


def flood(path: Path, count: int) -> list[socket.socket]:
    """So many connections, as far as they are taken, held open."""
    made = []
    for _ in range(count):
        peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        peer.setblocking(False)
        with contextlib.suppress(BlockingIOError, ConnectionRefusedError):
            peer.connect(os.fspath(path))
        made.append(peer)
    return made


def lives(broker: BrokerProcess) -> bool:
    """Whether the broker answers at its own socket; False when it has ended."""
    ended = os.pidfd_open(broker.pid)
    try:
        with RawPeer.open(socket_of(broker)) as peer:
            return peer.verb("broker.ping") == {"pong": True}
    except (OSError, Dropped):
        assert select.select([ended], [], [], zmtp.PATIENCE)[0], "neither an answer nor an end"
        return False
    finally:
        os.close(ended)


def test_a_flood_takes_no_descriptor_that_the_broker_needs() -> None:
    """With 64 descriptors; the same at libzmq's own socket ends it, which is why this is ours."""
    with sharing(files=64) as (broker, path):
        crowd = flood(path, 200)
        assert lives(broker)
        for peer in crowd:
            peer.close()
        with RawPeer.open(path) as guest:
            assert guest.verb("broker.ping") == {"pong": True}
        crowd = flood(socket_of(broker), 200)
        assert not lives(broker)
        for peer in crowd:
            peer.close()


def test_fuzz() -> None:
    with sharing() as (broker, path), attack("fuzz", path, 7) as fuzzer:
        assert fuzzer.line().startswith("drops")
        assert lives(broker)


def test_the_client_comes_in_there_and_comes_back() -> None:
    with sharing() as (broker, path):

        async def main() -> None:
            with trio.fail_after(zmtp.PATIENCE):
                async with connect(shared=path.parent) as bus:
                    assert (await bus.request("brokerd", "broker.ping")).body == {"pong": True}
                    first = bus.broker_epoch
                    await trio.to_thread.run_sync(broker.kill)
                    await trio.to_thread.run_sync(broker.start)
                    await until(lambda: bus.connected and bus.broker_epoch != first)
                    assert (await bus.request("brokerd", "broker.ping")).body == {"pong": True}

        trio.run(main)


def test_the_client_says_what_is_not_there() -> None:
    async def tried(directory: Path) -> None:
        async with connect(shared=directory):
            pass

    with short_directory() as base:
        with pytest.raises(NotConnected):
            trio.run(tried, base / "none")
        base.chmod(0o777)
        with pytest.raises(RuntimeDirError, match="chmod go-w"):
            trio.run(tried, base)


@others
def test_the_client_believes_only_whom_it_was_told() -> None:
    """A directory of another user is refused; with an account it must be that one's broker."""

    async def tried(directory: Path, account: int | None) -> None:
        async with connect(shared=directory, account=account):
            pass

    with sharing() as (_, path):
        os.chown(path.parent, FOREIGN, FOREIGN)
        with pytest.raises(RuntimeDirError, match="belongs to a user"):
            trio.run(tried, path.parent, None)
        trio.run(tried, path.parent, FOREIGN)  # the broker itself is root's

    with short_directory() as base, impostor(base) as directory:
        with pytest.raises(RuntimeDirError):
            trio.run(tried, directory, None)
        os.chown(directory, 0, 0)
        with pytest.raises(ForeignBroker):
            trio.run(tried, directory, None)
        trio.run(tried, directory, FOREIGN)


IMPOSTOR = """
import os, sys
from pathlib import Path
from brokerd.io.config import Config
from brokerd.io.server import serve
uid, base = int(sys.argv[1]), Path(sys.argv[2])
os.setgroups([])
os.setresgid(uid, uid, uid)
os.setresuid(uid, uid, uid)
config = Config(runtime_dir=base / "r", node="here", shared=base / "s")
serve(config, lambda ready: print("ready", flush=True))
"""


@contextmanager
def impostor(base: Path) -> Iterator[Path]:
    """A broker of another user, which shares a directory there."""
    base.chmod(0o777)
    arguments = [str(FOREIGN), str(base)]
    with subprocess.Popen(
        [sys.executable, "-c", IMPOSTOR, *arguments], stdout=subprocess.PIPE, cwd=ROOT
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith(b"ready")
            yield base / "s"
        finally:
            process.kill()
