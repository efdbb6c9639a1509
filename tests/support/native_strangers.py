"""Who asks a Term from outside: other users, other machines, and others of the same user.

``python -m tests.support.native_strangers SOCKET UID`` becomes that user, connects, and asks what
it reads on standard input: a line of JSON each, answered by a line.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, Protocol

import zmq

from brokerd.curvekeys import new_pair, public_of
from brokerd.keysdir import KeysDir
from brokerd.wire import encode_header
from tests.support.broker_process import BrokerProcess
from tests.support.raw_bus import RawPeer
from tests.support.session_peer import ROOT
from tests.support.zmtp import PATIENCE, Dropped

FOREIGN: Final = 65_533
"""Another user."""

SHARED: Final = ("--shared", "{}/s")
"""Has the broker let other users in."""

REACHABLE: Final = ("--tcp", "tcp://127.0.0.1:0", "--tcp-keys", "{}/k")
"""Has the broker let other machines in."""


class Said(NamedTuple):
    """An answer as it travelled."""

    rc: int | None
    raw: bytes

    @property
    def code(self) -> str:
        """The error code; ``ok`` of what is no refusal."""
        return "ok" if self.rc == 0 else str(json.loads(self.raw)["error_code"])

    @property
    def reason(self) -> str | None:
        """The reason of a refusal, if it has one."""
        found: str | None = json.loads(self.raw).get("details", {}).get("reason")
        return found


class Stranger(Protocol):
    """Somebody who can ask."""

    def ask(self, name: str, verb: str, raw: bytes) -> Said:
        """Ask with these very bytes, and wait for the answer."""


class Local:
    """Somebody on a connection of this process."""

    def __init__(self, peer: RawPeer) -> None:
        self._peer = peer
        self._asked = 0

    def ask(self, name: str, verb: str, raw: bytes) -> Said:
        self._asked += 1
        asked = f"s-{self._asked}"
        self._peer.ask(name, raw, id=asked, command=verb)
        while True:
            header, body, _ = self._peer.receive()
            if (header.type, header.id) == ("response", asked):
                return Said(header.rc, body)


class OtherUser:
    """A process of another user."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def ask(self, name: str, verb: str, raw: bytes) -> Said:
        into, out = self._process.stdin, self._process.stdout
        assert into is not None
        assert out is not None
        into.write(json.dumps([name, verb, raw.hex()]).encode() + b"\n")
        into.flush()
        assert select.select([out], [], [], PATIENCE)[0], "the other user was never answered"
        rc, body = json.loads(out.readline())
        return Said(rc, bytes.fromhex(body))


@contextmanager
def other_user(path: Path, uid: int = FOREIGN) -> Iterator[OtherUser]:
    """A process of that user, connected; ended on leaving."""
    command = [sys.executable, "-m", "tests.support.native_strangers", str(path), str(uid)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    ) as process:
        try:
            yield OtherUser(process)
        finally:
            process.kill()


class OtherMachine:
    """A DEALER that came in over TCP, with a key that the broker knows."""

    def __init__(self, socket: zmq.Socket[bytes]) -> None:
        self._socket = socket

    def ask(self, name: str, verb: str, raw: bytes) -> Said:
        fields = {"v": 1, "type": "request", "id": "r", "to": name, "command": verb}
        self._socket.send_multipart([encode_header(fields), raw])
        parts = [b""]
        while len(parts) == 1:  # a probe
            parts = self._socket.recv_multipart()
        # What of the header matters here: a refusal says its code, all else is good.
        return Said(10 if b"error_code" in parts[1] else 0, parts[1])


@contextmanager
def other_machine(broker: BrokerProcess, keys: Path) -> Iterator[OtherMachine]:
    """Another machine, let in and connected; its connection ends on leaving."""
    public, secret = new_pair()
    KeysDir(keys).allow("other", public)
    with zmq.Context() as context, context.socket(zmq.DEALER) as socket:
        socket.linger = 0
        socket.rcvtimeo = int(PATIENCE * 1_000)
        socket.curve_serverkey = str(broker.ready["tcp_public_key"]).encode()
        socket.curve_secretkey = secret.encode()
        socket.curve_publickey = public_of(secret).encode()
        socket.connect(str(broker.ready["tcp"]))
        yield OtherMachine(socket)


def main(path: str, uid: str) -> None:
    """Be the other user until standard input ends."""
    number = int(uid)
    os.setgroups([])
    os.setresgid(number, number, number)
    os.setresuid(number, number, number)
    try:
        peer = RawPeer.open(path)
    except (OSError, Dropped) as error:
        print(json.dumps([None, type(error).__name__.encode().hex()]), flush=True)
        return
    stranger = Local(peer)
    for line in sys.stdin:
        name, verb, raw = json.loads(line)
        said = stranger.ask(name, verb, bytes.fromhex(raw))
        print(json.dumps([said.rc, said.raw.hex()]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
