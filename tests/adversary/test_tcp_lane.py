"""Other machines: only known keys come in, as nodes, and a key that is revoked is out soon."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import pytest
import trio
import zmq

from brokerd.client import BrokerLost, Bus, NotConnected, connect_node
from brokerd.curvekeys import new_pair, public_of
from brokerd.keysdir import KeysDir
from brokerd.principal import NodePrincipal, Principal, principal_from_stamp
from brokerd.wire import encode_header
from tests.support.broker_process import BrokerProcess, short_directory
from tests.support.raw_bus import RawPeer, socket_of
from tests.support.zmtp import PATIENCE, Dropped, ZmtpPeer

NEVER_MS = 300
"""How long silence is listened to where nothing may come."""


class Reachable:
    """A broker that other machines can reach, and the keys of those that may."""

    def __init__(self, base: Path, *arguments: str, node: str = "tcp://127.0.0.1:0") -> None:
        self.keys = KeysDir(base / "k")
        more = ("--tcp", node, "--tcp-keys", str(self.keys.path), *arguments)
        self.broker = BrokerProcess(base / "r", *more)
        self.broker.start()

    @property
    def endpoint(self) -> str:
        return str(self.broker.ready["tcp"])

    @property
    def key(self) -> str:
        return str(self.broker.ready["tcp_public_key"])

    def let_in(self, name: str = "other") -> str:
        """Allow a new machine; its secret key."""
        public, secret = new_pair()
        self.keys.allow(name, public)
        return secret


@contextmanager
def reachable(*arguments: str) -> Iterator[Reachable]:
    with short_directory() as base:
        made = Reachable(base, *arguments)
        try:
            yield made
        finally:
            made.broker.close()


class Raw:
    """A DEALER of another machine, with whatever mechanism."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], lab: Reachable) -> None:
        self.socket = context.socket(zmq.DEALER)
        self.socket.linger = 0
        self.socket.rcvtimeo = int(PATIENCE * 1_000)
        self._endpoint = lab.endpoint

    def curve(self, server: str, secret: str) -> None:
        self.socket.curve_serverkey = server.encode()
        self.socket.curve_secretkey = secret.encode()
        self.socket.curve_publickey = public_of(secret).encode()

    def ask(self, command: str = "session.hello", to: str = "brokerd", body: bytes = b"{}") -> None:
        fields = {"v": 1, "type": "request", "id": "r", "to": to, "command": command}
        self.socket.send_multipart([encode_header(fields), body])

    def connect(self) -> None:
        self.socket.connect(self._endpoint)

    def answer(self) -> dict[str, object]:
        parts = [b""]
        while len(parts) == 1:  # a probe
            parts = self.socket.recv_multipart()
        found: dict[str, object] = json.loads(parts[1])
        return found

    def verb(self, command: str, body: bytes = b"{}") -> dict[str, object]:
        self.ask(command, body=body)
        return self.answer()


@contextmanager
def raw(lab: Reachable) -> Iterator[Raw]:
    with zmq.Context() as context:
        peer = Raw(context, lab)
        try:
            yield peer
        finally:
            peer.socket.close(0)


@contextmanager
def other_machine(lab: Reachable, secret: str) -> Iterator[Raw]:
    with raw(lab) as peer:
        peer.curve(lab.key, secret)
        peer.connect()
        yield peer


@contextmanager
def own(lab: Reachable) -> Iterator[RawPeer]:
    with RawPeer.open(socket_of(lab.broker)) as peer:
        yield peer


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def main() -> None:
        with trio.fail_after(PATIENCE):
            await test()

    trio.run(main)


async def until(true: Callable[[], object]) -> None:
    """Look again and again, letting everybody else run; the caller's deadline ends it."""
    while not true():
        with trio.move_on_after(0.002):
            await trio.sleep_forever()


@asynccontextmanager
async def connected(lab: Reachable, secret: str) -> AsyncIterator[Bus]:
    async with connect_node(lab.endpoint, server_key=lab.key, secret_key=secret) as bus:
        yield bus


def test_a_known_machine_is_a_node_and_may_ask() -> None:
    with reachable() as lab, own(lab) as service:
        service.serve("svc")
        with other_machine(lab, lab.let_in()) as peer:
            hello = peer.verb("session.hello")
            assert hello["uid"] is None
            peer.ask("x.y", "svc", b"question")
            header, body, stamp = service.receive()
            principal = principal_from_stamp(stamp)
            assert isinstance(principal, NodePrincipal)
            assert (principal.owner_node, principal.unix_uid) == ("other", None)
            assert principal.connection_id == header.from_ == hello["connection_id"]
            assert Principal.from_stamp(stamp) is None
            assert body == b"question"
            service.answer(header.from_, header.id, b'{"answer":1}')
            assert peer.answer() == {"answer": 1}


@pytest.mark.parametrize(
    ("command", "body"),
    [
        ("broker.register", b'{"name":"svc"}'),
        ("broker.publish", b'{"topic":"t","value":1}'),
        ("broker.subscribe", b'{"topic":"t"}'),
        ("broker.list", b"{}"),
        ("session.list", b"{}"),
    ],
)
def test_a_node_gets_nothing_else(command: str, body: bytes) -> None:
    with reachable() as lab, other_machine(lab, lab.let_in()) as peer:
        answer = peer.verb(command, body)
        assert (answer["error_code"], answer["details"]) == ("FORBIDDEN", {})
        assert peer.verb("broker.ping") == {"pong": True}


@pytest.mark.parametrize("case", ["unknown", "null", "plain", "wrong server"])
def test_nobody_else_comes_in(case: str) -> None:
    with reachable() as lab, own(lab) as watcher, raw(lab) as peer:
        known = lab.let_in()
        if case == "unknown":
            peer.curve(lab.key, new_pair()[1])
        elif case == "plain":
            peer.socket.plain_username, peer.socket.plain_password = b"a", b"b"
        elif case == "wrong server":
            peer.curve(new_pair()[0], known)
        peer.connect()
        peer.ask()
        assert not peer.socket.poll(NEVER_MS)
        assert watcher.counts()["accepted"] == 1
        with other_machine(lab, known) as allowed:  # what keeps the others out lets this in
            assert allowed.verb("broker.ping") == {"pong": True}


def test_raw_bytes_over_tcp_are_dropped() -> None:
    with reachable() as lab:
        port = int(lab.endpoint.rpartition(":")[2])
        connected = socket.create_connection(("127.0.0.1", port))
        with ZmtpPeer(connected) as peer, pytest.raises(Dropped):
            peer.handshake()


def test_a_key_that_is_revoked_is_out_soon() -> None:
    with reachable() as lab, own(lab) as watcher:
        secret, stays = lab.let_in(), lab.let_in("stays")
        with other_machine(lab, secret) as peer, other_machine(lab, stays) as other:
            peer.verb("session.hello")
            other.verb("session.hello")
            lab.keys.revoke("other")
            watcher.until(lambda counts: counts["connections"] == 2)
            before = watcher.counts()["unknown_connection"]
            peer.ask("broker.ping")
            watcher.until(lambda counts: counts["unknown_connection"] > before)
            assert other.verb("broker.ping") == {"pong": True}


def test_a_directory_that_cannot_be_trusted_lets_nobody_in() -> None:
    with reachable() as lab, own(lab) as watcher:
        secret = lab.let_in()
        with other_machine(lab, secret) as peer:
            peer.verb("session.hello")
            lab.keys.path.chmod(0o777)
            watcher.until(lambda counts: counts["connections"] == 1)


def test_a_machine_has_so_many_connections() -> None:
    with reachable("--set", "connections_per_node=2") as lab, ExitStack() as stack:
        secret = lab.let_in()
        for _ in range(2):
            stack.enter_context(other_machine(lab, secret)).verb("session.hello")
        third = stack.enter_context(other_machine(lab, secret))
        third.ask()
        assert not third.socket.poll(NEVER_MS)
        other = stack.enter_context(other_machine(lab, lab.let_in("another")))
        assert other.verb("broker.ping") == {"pong": True}


def test_a_connection_that_ends_is_found_out() -> None:
    with reachable("--set", "probe_ms=100") as lab, own(lab) as watcher:
        with other_machine(lab, lab.let_in()) as peer:
            peer.verb("session.hello")
            assert watcher.counts()["connections"] == 2
        watcher.until(lambda counts: counts["connections"] == 1)


def test_the_brokers_key_is_the_same_after_a_restart() -> None:
    with reachable() as lab:
        first = lab.key
        lab.broker.end()
        lab.broker.start()
        assert lab.key == first
        assert (lab.keys.path / "server.key").stat().st_mode & 0o777 == 0o600


def test_the_client_asks_and_comes_back_to_another_broker_only_as_a_new_epoch() -> None:
    with short_directory() as base:
        free = socket.create_server(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        lab = Reachable(base, node=f"tcp://127.0.0.1:{port}")
        secret = lab.let_in()

        async def test() -> None:
            async with connected(lab, secret) as bus:
                assert (await bus.request("brokerd", "broker.ping")).body == {"pong": True}
                first, hang = bus.broker_epoch, Hanging()
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(hang.ask, bus)
                    await until(lambda: bus.statistics().pending)
                    await trio.to_thread.run_sync(lab.broker.kill)
                assert hang.lost == first
                await trio.to_thread.run_sync(lab.broker.start)
                await until(lambda: bus.connected)
                assert bus.broker_epoch == lab.broker.ready["broker_epoch"] != first
                assert (await bus.request("brokerd", "broker.ping")).body == {"pong": True}

        try:
            with own(lab) as silent:
                silent.serve("silent")
                run(test)
        finally:
            lab.broker.close()


class Hanging:
    """A request that nobody answers."""

    lost = ""

    async def ask(self, bus: Bus) -> None:
        with pytest.raises(BrokerLost) as failed:
            await bus.request("silent", "x.y")
        self.lost = failed.value.epoch


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("unknown", "not known there"),
        ("wrong server", "another key"),
        ("nobody", "nobody answers"),
        ("silent", "no answer"),
    ],
)
def test_the_client_says_why_it_does_not_get_in(case: str, words: str) -> None:
    with reachable() as lab, socket.create_server(("127.0.0.1", 0)) as silent:
        secret, server, endpoint = lab.let_in(), lab.key, lab.endpoint
        if case == "unknown":
            secret = new_pair()[1]
        elif case == "wrong server":
            server = new_pair()[0]
        elif case == "silent":
            endpoint = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        else:
            silent.close()
            endpoint = "tcp://127.0.0.1:1"
        timeout = 0.2 if case == "silent" else PATIENCE

        async def test() -> None:
            with pytest.raises(NotConnected, match=words):
                async with connect_node(
                    endpoint, server_key=server, secret_key=secret, timeout=timeout
                ):
                    pass

        run(test)


@pytest.mark.parametrize("case", ["endpoint", "server", "secret"])
def test_the_client_refuses_what_is_no_endpoint_or_key(case: str) -> None:
    public, secret = new_pair()
    endpoint = "ipc:///tmp/x" if case == "endpoint" else "tcp://127.0.0.1:1"
    server_key = "#" * 40 if case == "server" else public
    secret_key = "short" if case == "secret" else secret

    async def test() -> None:
        with pytest.raises(ValueError, match=r"endpoint|key"):
            async with connect_node(endpoint, server_key=server_key, secret_key=secret_key):
                pass

    run(test)


def test_what_is_for_one_socket_does_not_go_out_at_the_other() -> None:
    with reachable() as lab, own(lab) as local, other_machine(lab, lab.let_in()) as peer:
        local_id, node_id = local.hello(), peer.verb("session.hello")["connection_id"]
        assert local_id != node_id
        for _ in range(20):
            peer.ask("broker.ping")
            assert local.verb("session.hello")["connection_id"] == local_id
            assert peer.answer() == {"pong": True}
