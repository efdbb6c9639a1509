"""A real broker process, real sockets, real signals: how it starts, what it survives, how it ends.

Peers here are plain DEALER sockets, so that nothing of the client library can hide a fault.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import zmq

from brokerd.principal import Principal
from brokerd.wire import Header, decode_header, encode_header
from tests.support.broker_process import BrokerProcess, broker_process, short_directory

PATIENCE_MS = 20_000

# A peer to kill: it serves a name, takes a request, says so, and never answers.
SILENT_PEER = """
import sys, zmq
from brokerd.wire import encode_header
socket = zmq.Context().socket(zmq.DEALER)
socket.connect(sys.argv[1])
ask = {"v": 1, "type": "request", "id": "r", "to": "brokerd", "command": "broker.register"}
socket.send_multipart([encode_header(ask), b'{"name":"silent"}'])
socket.recv_multipart()
print("serving", flush=True)
socket.recv_multipart()
print("asked", flush=True)
sys.stdin.read()
"""


class Dealer:
    """A raw peer. It waits with a deadline and skips the broker's empty probes."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], path: Path) -> None:
        self.socket = context.socket(zmq.DEALER)
        self.socket.linger = 0
        self.socket.rcvtimeo = self.socket.sndtimeo = PATIENCE_MS
        self.socket.connect(f"ipc://{path}")

    def send(self, body: bytes = b"{}", **fields: object) -> None:
        self.socket.send_multipart([encode_header({"v": 1, **fields}), body])

    def receive(self) -> tuple[Header, bytes, bytes]:
        parts = [b""]
        while len(parts) == 1:
            parts = self.socket.recv_multipart()
        header, body, stamp = parts
        return decode_header(header, from_broker=True), body, stamp

    def ask(self, to: str, command: str, body: bytes = b"{}", id: str = "r") -> None:  # noqa: A002
        self.send(body, type="request", id=id, to=to, command=command)

    def verb(self, command: str, body: bytes = b"{}") -> dict[str, object]:
        self.ask("brokerd", command, body, id="verb")
        answer: dict[str, object] = json.loads(self.receive()[1])
        return answer

    def until(self, holds: Callable[[dict[str, int]], bool]) -> None:
        """Look at the broker's counts until they are as wanted; fails when they never are."""
        pause = select.poll()
        for _ in range(PATIENCE_MS // 10):
            info = self.verb("broker.info")
            counters, connections = info["counters"], info["connections"]
            assert isinstance(counters, dict)
            assert isinstance(connections, int)
            if holds({**counters, "connections": connections}):
                return
            pause.poll(10)
        raise AssertionError("the broker's counts never got there")


@contextmanager
def dealers(broker: BrokerProcess, count: int) -> Iterator[list[Dealer]]:
    with ExitStack() as stack:
        context: zmq.Context[zmq.Socket[bytes]] = stack.enter_context(zmq.Context())
        made = [Dealer(context, broker.directory / "bus.sock") for _ in range(count)]
        for each in made:
            stack.callback(each.socket.close, 0)
        yield made


@contextmanager
def peer_process(broker: BrokerProcess) -> Iterator[subprocess.Popen[bytes]]:
    endpoint = f"ipc://{broker.directory / 'bus.sock'}"
    with subprocess.Popen(
        [sys.executable, "-c", SILENT_PEER, endpoint],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def line(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    assert select.select([process.stdout], [], [], PATIENCE_MS / 1_000)[0], "nothing was said"
    return process.stdout.readline().strip()


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "brokerd", *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE_MS / 1_000,
        env={**os.environ, **environment},
        check=False,
    )


def test_the_ready_line_says_where_and_who() -> None:
    with broker_process("--node", "here", "--ephemeral") as broker:
        assert broker.ready["ready"] is True
        assert broker.ready["pid"] == broker.pid
        assert broker.ready["socket"] == str(broker.directory / "bus.sock")
        assert (broker.ready["node"], broker.ready["ephemeral"]) == ("here", True)
        with dealers(broker, 1) as (peer,):
            hello = peer.verb("session.hello")
            assert hello["broker_epoch"] == broker.ready["broker_epoch"]
            assert peer.verb("broker.info")["ephemeral"] is True


def test_directory_socket_and_lock_are_closed_to_others() -> None:
    with broker_process() as broker:
        for name in ("", "bus.sock", "broker.lock"):
            mode = stat.S_IMODE((broker.directory / name).stat().st_mode)
            assert mode & 0o077 == 0, name


def test_the_stamp_is_the_kernels_word() -> None:
    with broker_process() as broker, dealers(broker, 2) as (client, server):
        server.verb("broker.register", b'{"name":"echo"}')
        connection_id = client.verb("session.hello")["connection_id"]
        client.ask("echo", "x.y", b"\x00\xff")
        header, body, stamp = server.receive()
        principal = Principal.from_stamp(stamp)
        assert principal is not None
        assert (principal.unix_uid, principal.unix_gid) == (os.geteuid(), os.getegid())
        assert principal.peer_pid == os.getpid()
        assert principal.connection_id == header.from_ == connection_id
        assert body == b"\x00\xff"


def test_a_second_broker_says_whose_the_directory_is() -> None:
    with broker_process() as broker:
        second = run("--runtime-dir", str(broker.directory))
        assert second.returncode == 3
        assert f"(pid {broker.pid})" in second.stderr
        assert "COSMIX_RUNTIME_DIR" in second.stderr
        with dealers(broker, 1) as (peer,):
            assert peer.verb("broker.ping") == {"pong": True}


def test_what_a_killed_broker_left_is_taken_over() -> None:
    with broker_process() as broker:
        first = broker.ready["broker_epoch"]
        broker.kill()
        assert (broker.directory / "bus.sock").exists()
        broker.start()
        assert broker.ready["broker_epoch"] != first
        with dealers(broker, 1) as (peer,):
            assert peer.verb("session.hello")["broker_epoch"] == broker.ready["broker_epoch"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_and_leaves_no_file(number: signal.Signals) -> None:
    with broker_process() as broker, dealers(broker, 1) as (peer,):
        peer.verb("session.hello")
        assert broker.end(number) == 0
        assert list(broker.directory.iterdir()) == []


def test_it_ends_well_when_its_directory_has_gone() -> None:
    with broker_process() as broker:
        for path in broker.directory.iterdir():
            path.unlink()
        broker.directory.rmdir()
        assert broker.end() == 0


def test_a_socket_that_is_not_its_own_is_left_alone() -> None:
    with broker_process() as broker, socket.socket(socket.AF_UNIX) as other:
        path = broker.directory / "bus.sock"
        path.unlink()
        other.bind(str(path))
        assert broker.end() == 0
        assert path.exists()


@pytest.mark.parametrize("case", ["link", "mode", "file", "long"])
def test_a_directory_it_cannot_trust_is_refused(case: str) -> None:
    with short_directory() as base:
        directory = base / ("x" * 120 if case == "long" else "r")
        if case == "link":
            directory.symlink_to(base)
        elif case == "mode":
            directory.mkdir()
            directory.chmod(0o750)
        elif case == "file":
            directory.mkdir(0o700)
            (directory / "bus.sock").write_text("mine")
        refused = run("--runtime-dir", str(directory))
        expected = {"link": "symbolic link", "mode": "chmod 700", "file": "not a socket"}
        assert refused.returncode == 3
        assert expected.get(case, "107 bytes") in refused.stderr
        assert not (directory / "broker.lock").exists()


@pytest.mark.parametrize(
    "arguments", [["--node", "Bad_Name"], ["--ready-fd", "999"], ["--memory-mb", "-1"], ["x"]]
)
def test_wrong_usage_is_exit_code_two(arguments: list[str]) -> None:
    wrong = run(*arguments)
    assert wrong.returncode == 2
    assert "usage: brokerd" in wrong.stderr


def test_help_and_a_bad_variable() -> None:
    helped = run("--help")
    assert helped.returncode == 0
    assert "exit codes" in helped.stdout
    bad = run(COSMIX_RUNTIME_DIR="relative")
    assert bad.returncode == 3
    assert "absolute path" in bad.stderr


def test_a_peer_that_is_killed_answers_as_gone() -> None:
    with (
        broker_process() as broker,
        dealers(broker, 1) as (client,),
        peer_process(broker) as peer,
    ):
        assert line(peer) == b"serving"
        client.ask("silent", "x.y")
        assert line(peer) == b"asked"
        peer.kill()
        header, body, _ = client.receive()
        answer = json.loads(body)
        assert (header.rc, answer["error_code"]) == (20, "UNAVAILABLE")
        assert answer["details"] == {"reason": "peer_gone"}
        assert client.verb("broker.list") == {"names": []}


def test_a_stopped_peer_keeps_its_connection_and_its_name() -> None:
    with (
        broker_process() as broker,
        dealers(broker, 1) as (client,),
        peer_process(broker) as peer,
    ):
        assert line(peer) == b"serving"
        peer.send_signal(signal.SIGSTOP)
        client.ask("silent", "x.y")
        names = client.verb("broker.list")["names"]
        assert isinstance(names, list)
        assert len(names) == 1
        peer.send_signal(signal.SIGCONT)
        assert line(peer) == b"asked"


def test_a_client_chosen_routing_id_gets_nowhere() -> None:
    hello = {"v": 1, "type": "request", "id": "r", "to": "brokerd", "command": "session.hello"}
    with (
        broker_process() as broker,
        dealers(broker, 1) as (honest,),
        zmq.Context() as context,
        context.socket(zmq.DEALER) as chosen,
    ):
        chosen.linger = 0
        chosen.setsockopt(zmq.ROUTING_ID, b"me")
        chosen.connect(f"ipc://{broker.directory / 'bus.sock'}")
        chosen.send_multipart([encode_header(hello), b""])
        honest.until(lambda info: info["accepted"] == 2 and info["connections"] == 1)
        assert not chosen.poll(0)


def test_a_peer_that_reads_nothing_delays_nobody() -> None:
    with broker_process() as broker, dealers(broker, 3) as (client, slow, server):
        slow.socket.rcvhwm = 1
        slow.verb("broker.register", b'{"name":"slow"}')
        server.verb("broker.register", b'{"name":"quick"}')
        body = b"x" * 100_000
        refused = 0
        for number in range(2_000):
            client.ask("slow", "x.y", body, id=f"s{number}")
            client.ask("quick", "x.y", id=f"q{number}")
            header, _, _ = server.receive()
            server.send(type="response", id=header.id, to=header.from_, rc=0)
            answer, raw, _ = client.receive()
            while answer.id == f"s{number}":
                refused += 1
                assert json.loads(raw)["error_code"] == "RESOURCE_LIMIT"
                answer, raw, _ = client.receive()
            assert answer.id == f"q{number}"
            if refused > 3:
                break
        assert refused > 3, "the slow peer's queue never filled"


def answers_or_ends(broker: BrokerProcess) -> bool:
    """Whether the broker answers a ping; False when it ends instead. It may not just hang."""
    ended = os.pidfd_open(broker.pid)
    try:
        with dealers(broker, 1) as (peer,):
            peer.ask("brokerd", "broker.ping")
            poller = zmq.Poller()
            poller.register(peer.socket, zmq.POLLIN)
            poller.register(ended, zmq.POLLIN)
            events = dict(poller.poll(PATIENCE_MS))
            assert events, "neither an answer nor an end"
            return peer.socket in events
    finally:
        os.close(ended)


def raw_peer(broker: BrokerProcess) -> socket.socket:
    """A ZMTP connection by hand, past its handshake."""
    peer = socket.socket(socket.AF_UNIX)
    peer.settimeout(PATIENCE_MS / 1_000)
    peer.connect(str(broker.directory / "bus.sock"))
    peer.sendall(b"\xff" + bytes(8) + b"\x7f\x03\x00NULL" + bytes(16 + 1 + 31))
    exactly(peer, 64)
    ready = b"\x05READY\x0bSocket-Type" + (6).to_bytes(4, "big") + b"DEALER"
    peer.sendall(bytes((4, len(ready))) + ready)
    flags, size = exactly(peer, 2)
    assert flags == 4  # a command: the broker's READY
    exactly(peer, size)
    return peer


def exactly(peer: socket.socket, size: int) -> bytes:
    """So many bytes: a socket with a timeout gives what there is, whatever it is told."""
    data = b""
    while len(data) < size:
        more = peer.recv(size - len(data))
        assert more, "the broker closed the connection"
        data += more
    return data


def test_an_endless_message_costs_the_sender_its_connection_and_not_the_machine() -> None:
    """One unfinished message of many parts. With the cap, libzmq finds no memory for the next.

    It drops the connection then; were it to end the broker, that would be an ordinary event too.
    """
    more_and_long = 3
    part = bytes((more_and_long,)) + (60_000).to_bytes(8, "big") + b"x" * 60_000
    sent = 0
    with broker_process("--memory-mb", "64") as broker:
        with raw_peer(broker) as peer, contextlib.suppress(ConnectionError):
            while sent < 300:
                peer.sendall(part * 20)
                sent += 1
        assert 10 < sent < 300, "the cap had nothing to do with it"
        if not answers_or_ends(broker):
            broker.kill()
            broker.start()
            assert answers_or_ends(broker)


def test_it_takes_all_the_descriptors_it_may_have() -> None:
    with broker_process() as broker:
        soft, hard = resource.prlimit(broker.pid, resource.RLIMIT_NOFILE)
        assert soft == hard
        assert resource.prlimit(broker.pid, resource.RLIMIT_CORE) == (0, 0)


def test_many_connections_come_and_go_without_a_trace() -> None:
    with broker_process() as broker, dealers(broker, 1) as (watcher,):
        watcher.verb("session.hello")
        before = len(os.listdir(f"/proc/{broker.pid}/fd"))
        for _ in range(5):
            with dealers(broker, 20) as crowd:
                for each in crowd:
                    each.verb("session.hello")
                assert watcher.verb("broker.info")["connections"] == 21
                for each in crowd:
                    each.verb("broker.bye")
            assert watcher.verb("broker.info")["connections"] == 1
        descriptors = select.poll()
        for _ in range(PATIENCE_MS // 10):
            if len(os.listdir(f"/proc/{broker.pid}/fd")) <= before:
                break
            descriptors.poll(10)
        assert len(os.listdir(f"/proc/{broker.pid}/fd")) <= before


def test_limits_are_set_on_the_command_line() -> None:
    with (
        broker_process("--set", "queue_messages=7", "--set", "sessions.lease_ms=99") as broker,
        dealers(broker, 1) as (peer,),
    ):
        limits = peer.verb("broker.info")["limits"]
        assert isinstance(limits, dict)
        assert (limits["queue_messages"], limits["sessions"]["lease_ms"]) == (7, 99)
        assert (broker.ready["shared"], broker.ready["tcp"]) == (None, None)


def test_a_service_is_observed_only_when_the_command_line_says_so() -> None:
    def started(peer: Dealer, service: str) -> bool:
        return "observe_id" in peer.verb(
            "broker.observe.start", b'{"service":"%s"}' % service.encode()
        )

    with (
        broker_process("--observe", "one", "--observe", "two") as broker,
        dealers(broker, 1) as (peer,),
    ):
        assert [started(peer, name) for name in ("one", "two", "three")] == [True, True, False]
    with broker_process() as broker, dealers(broker, 1) as (peer,):
        assert not started(peer, "one")
