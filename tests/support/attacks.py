"""Attackers as processes of their own: ``python -m tests.support.attacks NAME SOCKET [ARGUMENT]``.

Each says one line when it is done, and then holds what it has open until it is ended.
"""

from __future__ import annotations

import contextlib
import os
import random
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from brokerd.wire import encode_header
from tests.support import zmtp
from tests.support.broker_process import BrokerProcess
from tests.support.raw_bus import RawPeer, socket_of
from tests.support.zmtp import COMMAND, LONG, MORE, Dropped, ZmtpPeer

ROOT = Path(__file__).parents[2]


class Attacker:
    """A running attack."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def done(self, seconds: float = 0.0) -> bool:
        """Whether it has said its line, waiting up to ``seconds`` for it."""
        assert self._process.stdout is not None
        return bool(select.select([self._process.stdout], [], [], seconds)[0])

    def line(self) -> str:
        """What it says when it is done."""
        assert self.done(2 * zmtp.PATIENCE), "the attacker never got done"
        assert self._process.stdout is not None
        return self._process.stdout.readline().decode().strip()

    def kill(self) -> None:
        """End it as the kernel does."""
        self._process.kill()
        self._process.wait()


@contextmanager
def attacker(
    broker: BrokerProcess, name: str, argument: int | str = 0, pass_fds: tuple[int, ...] = ()
) -> Iterator[Attacker]:
    """Run an attack against ``broker``; it is ended on leaving."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.attacks", name, socket_of(broker), str(argument)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        pass_fds=pass_fds,
    ) as process:
        try:
            yield Attacker(process)
        finally:
            process.kill()


def loris(path: str, count: str) -> str:
    """Many connections that stop in the middle of the handshake; how many were dropped."""
    hello = zmtp.greeting() + zmtp.ready()
    stops = (0, 1, 9, 10, 11, 12, 40, 63, 64, 65, 80)
    crowd = [ZmtpPeer.connect(path) for _ in range(int(count))]
    for number, peer in enumerate(crowd):
        with contextlib.suppress(Dropped):
            peer.write(hello[: stops[number % len(stops)]])
    for peer in crowd:
        peer.wait_dropped()
    return f"dropped {len(crowd)}"


def serve(path: str, name: str) -> str:
    """Hold a name and never answer."""
    peer = RawPeer.open(path)
    peer.serve(name)
    _KEPT.append(peer)
    return "serving"


def ask_as(path: str, uid: str) -> str:
    """Become a user, then connect and ask ``target``."""
    _become(int(uid))
    try:
        peer = RawPeer.open(path)
    except (OSError, Dropped) as error:
        return type(error).__name__
    peer.ask("target")
    _KEPT.append(peer)
    return "asked"


def become_after(path: str, uid: str) -> str:
    """Connect, become another user, then ask on the old connection."""
    peer = RawPeer.open(path)
    _become(int(uid))
    peer.ask("target")
    _KEPT.append(peer)
    return "asked"


def event_as(path: str, uid_and_recipient: str) -> str:
    """As another user, try to hold a name, and send a directed event to somebody."""
    uid, _, recipient = uid_and_recipient.partition(":")
    _become(int(uid))
    peer = RawPeer.open(path)
    peer.verb("broker.register", b'{"name":"foreign"}')
    peer.tell(recipient, b'"foreign"')
    peer.verb("broker.ping")
    _KEPT.append(peer)
    return "told"


def inherited(_path: str, descriptor_and_uid: str) -> str:
    """Speak as another user on a connection that somebody else made."""
    descriptor, uid = map(int, descriptor_and_uid.split(":"))
    _become(uid)
    peer = RawPeer(socket.socket(fileno=descriptor))
    peer.ask("target")
    _KEPT.append(peer)
    return "asked"


def fuzz(path: str, seed: str) -> str:
    """2,000 messages, none as it should be except by chance. Drops are expected."""
    dice = random.Random(int(seed))
    peer, drops = RawPeer.open(path), 0
    for _ in range(2_000):
        try:
            peer.write(_CASES[dice.randrange(len(_CASES))](dice))
        except (Dropped, TimeoutError):
            peer.close()
            drops += 1
            peer = _again(path)
    return f"drops {drops}"


def _again(path: str) -> RawPeer:
    while True:
        with contextlib.suppress(Dropped, TimeoutError, BlockingIOError):
            return RawPeer.open(path)


def _noise(dice: random.Random) -> bytes:
    return dice.randbytes(dice.choice((0, 1, 2, 17, 255, 256, 300)))


def _header(dice: random.Random) -> bytes:
    """A valid header of some kind, aimed at things that may exist."""
    kinds: tuple[dict[str, object], ...] = (
        {"type": "request", "id": "r", "to": "brokerd", "command": dice.choice(_VERBS)},
        {"type": "request", "id": "r", "to": "witness", "command": "x.y"},
        {"type": "response", "id": "r", "to": f"{dice.getrandbits(128):032x}", "rc": 0},
        {"type": "event", "command": "x.y", "recipient_connection": "0" * 32},
    )
    return encode_header({"v": 1, **dice.choice(kinds)})


def _mutated(dice: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(changed))
        changed[at : at + dice.randint(0, 2)] = dice.randbytes(dice.randint(0, 3))
        changed = changed or bytearray(b"\0")
    return bytes(changed)


def _body(dice: random.Random) -> bytes:
    return dice.choice((b"", b"{}", b'{"name":"fuzz"}', b'{"topic":"t","value":1}', b"[" * 2_000))


_VERBS = ("session.hello", "broker.register", "broker.publish", "broker.subscribe", "broker.info")
_CASES = (
    lambda dice: zmtp.message(_noise(dice), _noise(dice)),
    lambda dice: zmtp.message(_mutated(dice, _header(dice)), _body(dice)),
    lambda dice: zmtp.message(_mutated(dice, _header(dice)), _body(dice)),
    lambda dice: zmtp.message(_header(dice), _body(dice)),
    lambda dice: zmtp.message(_header(dice), _mutated(dice, _body(dice) or b"{}")),
    lambda dice: zmtp.message(*(_noise(dice) for _ in range(dice.randint(1, 40)))),
    lambda dice: zmtp.message(_header(dice), _body(dice), _noise(dice)),
    lambda dice: zmtp.command(dice.choice((b"PING", b"PONG", b"ERROR", b"X")), _noise(dice)[:50]),
    lambda dice: zmtp.frame(_noise(dice), dice.choice((0, MORE, LONG, COMMAND, 8, 255))),
    lambda dice: _mutated(dice, zmtp.message(_header(dice), _body(dice))),
)
_ATTACKS = {
    each.__name__: each for each in (loris, serve, ask_as, become_after, event_as, inherited, fuzz)
}
_KEPT: list[ZmtpPeer] = []


def _become(uid: int) -> None:
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def main() -> None:
    name, path, argument = sys.argv[1:]
    print(_ATTACKS[name](path, argument), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
