"""attach: how long does a key take to its echo on a person's terminal, and how long in tmux?

Both show the same on a terminal of 120x40: a program that echoes each key at one place, and beside
it ``yes``, which stands still but in the rounds with the flood. Only the one that is measured
floods. The echo is looked for in the bytes that reach the terminal.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import trio

from brokerd.client import Bus, connect
from scripts.bench_common import TERMNODE, percentile, service
from termnode.attach.link import Opened, authorise
from termnode.attach.link import connect as connect_view
from termnode.view.messages import Attach

COLS, ROWS = 120, 40
ROUNDS: Final = 5
KEY_EVERY_S: Final = 0.025
"""Longer than a frame: no key waits for the one before it."""

MAX_IDLE_P50: Final = 3.0
"""Times tmux's median, at most, in the best round."""

MAX_FLOOD_P99: Final = 5.0
"""Times tmux's 99th percentile while the pane beside floods, at most, in the best round."""

MAX_BYTES_PER_S: Final = 2_000_000
"""To a view beside a flood in which every row changes all the time: 60 frames a second of a whole
screen of 120x40 are less. What `yes` writes looks the same, so a pane that counts is flooded."""

COUNTED_S: Final = 3.0

GIVE_UP_S: Final = 5.0
KEYS: Final = (b"#", b"&")
"""In no control sequence that a multiplexer writes, and never on the screen together."""

ECHO: Final = r"""
import os, tty
tty.setraw(0)
os.write(1, b"ready")
while key := os.read(0, 1):
    os.write(1, b"\r" + key + b"\x1b[K")
"""
ECHO_ARGV: Final = [sys.executable, "-c", ECHO]


@dataclass
class Client:
    """A multiplexer's client on a terminal of its own, and the flood beside the echo."""

    name: str
    master: int
    flood: int
    """Process id of ``yes``; stopped."""
    received: int = 0
    waited: list[float] = field(default_factory=list)

    def read(self, timeout: float) -> bytes:
        """What comes next; nothing when nothing does."""
        if not select.select([self.master], [], [], timeout)[0]:
            return b""
        data = os.read(self.master, 65536)
        self.received += len(data)
        return data

    def until(self, text: bytes) -> None:
        """Read until ``text`` has come. Raises TimeoutError."""
        end = time.perf_counter() + GIVE_UP_S
        last = b""
        while text not in last:
            if time.perf_counter() > end:
                raise TimeoutError(f"{self.name} does not show {text!r}: {last!r}")
            last = last[-len(text) :] + self.read(GIVE_UP_S)

    def press(self, key: bytes) -> float:
        """Seconds from a key to its echo."""
        start = time.perf_counter()
        os.write(self.master, key)
        self.until(key)
        return time.perf_counter() - start

    def idle(self, seconds: float) -> None:
        """Read what comes for a while."""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            self.read(left)

    def keys(self, count: int) -> list[float]:
        """Seconds from key to echo, ``count`` times."""
        times = []
        for number in range(count):
            times.append(self.press(KEYS[number % len(KEYS)]))
            self.idle(KEY_EVERY_S)
        return times

    @contextlib.contextmanager
    def flooding(self) -> Iterator[None]:
        """``yes`` runs beside."""
        os.kill(self.flood, signal.SIGCONT)
        try:
            self.idle(0.5)
            yield
        finally:
            os.kill(self.flood, signal.SIGSTOP)
            self.idle(0.5)


@contextlib.contextmanager
def on_terminal(argv: Sequence[str], env: dict[str, str]) -> Iterator[int]:
    """A program on a terminal of COLS by ROWS; the other end of it. Hung up afterwards."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLS, 0, 0))
    words = ["setsid", "--ctty", *argv]
    process = subprocess.Popen(words, stdin=slave, stdout=slave, stderr=slave, env=env)
    os.close(slave)
    try:
        yield master
    finally:
        process.terminate()
        with contextlib.suppress(OSError):
            while os.read(master, 65536):
                pass
        process.wait()
        os.close(master)


def _environment(**more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "TERMNODE_EMULATOR") if name in os.environ}
    return {**kept, "TERM": "xterm-256color", "LANG": "C.UTF-8", "HOME": "/", **more}


@contextlib.contextmanager
def termnode(directory: str) -> Iterator[Client]:
    """An attached view."""
    with service(directory, "--size", f"{COLS}x{ROWS - 1}"):
        flood = trio.run(_panes, directory)
        with on_terminal([*TERMNODE, "attach"], _environment(COSMIX_RUNTIME_DIR=directory)) as ours:
            client = Client("termnode", ours, flood)
            client.until(b"ready")
            yield client


def _asker(bus: Bus) -> Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]:
    async def ask(verb: str, body: dict[str, Any]) -> dict[str, Any]:
        reply = await bus.request("term", verb, body, timeout=30)
        assert reply.rc == 0, reply.body
        return dict(reply.body or {})

    return ask


async def bytes_to_view(directory: str) -> int:
    """Bytes a second to a view of its own while a pane counts as fast as it can."""
    async with connect(directory) as bus:
        ask = _asker(bus)
        counting = await ask("term.tab.new", {"argv": ["seq", "1000000000"]})
        try:
            return round(await _count(await authorise(bus, "term", None)) / COUNTED_S)
        finally:
            await ask("term.tab.close", {"id": counting["id"]})


async def _count(opened: Opened) -> int:
    link = await connect_view(opened)
    try:
        link.send(Attach(opened.token, COLS, ROWS - 1, read_only=True))
        with trio.move_on_after(COUNTED_S):
            while True:
                await link.receive()
                link.acknowledge()
        return link.bytes_received
    finally:
        link.close()


async def _panes(directory: str) -> int:
    async with connect(directory) as bus:
        ask = _asker(bus)
        echo = (await ask("term.tab.new", {"argv": ECHO_ARGV}))["pane"]
        await ask("term.wait", {"pane": echo, "until": "ready", "timeout_ms": 20_000})
        split = {"dir": "h", "argv": ["yes"], "pane": echo, "background": True}
        flood = await ask("term.pane.split", split)
        await ask("term.wait", {"pane": flood["id"], "until": "^y$", "timeout_ms": 20_000})
        os.kill(flood["pid"], signal.SIGSTOP)
        return int(flood["pid"])


@contextlib.contextmanager
def tmux(directory: str) -> Iterator[Client]:
    """A tmux client, with the same beside each other."""
    socket = ["tmux", "-S", f"{directory}/s", "-f", "/dev/null"]
    env = _environment()

    def run(*words: str) -> str:
        return subprocess.check_output([*socket, *words], env=env, text=True).strip()

    run("new-session", "-d", "-x", str(COLS), "-y", str(ROWS), "--", *ECHO_ARGV)
    try:
        split = ("split-window", "-d", "-h", "-P", "-F", "#{pane_pid}", "--", "yes")
        flood = int(run(*split))
        os.kill(flood, signal.SIGSTOP)
        with on_terminal([*socket, "attach"], env) as theirs:
            client = Client("tmux", theirs, flood)
            client.until(b"ready")
            yield client
    finally:
        run("kill-server")


def _both(clients: Sequence[Client], measure: Callable[[Client], list[float]]) -> list[list[float]]:
    return [measure(client) for client in clients]


def _flooded(calls: int) -> Callable[[Client], list[float]]:
    def measure(client: Client) -> list[float]:
        with client.flooding():
            return client.keys(calls)

    return measure


def _round(clients: Sequence[Client], calls: int) -> dict[str, Any]:
    """One round: keys alone, then keys beside the flood."""
    quiet = _both(clients, lambda client: client.keys(calls))
    flood = _both(clients, _flooded(calls))
    return {
        "idle": [_figures(times) for times in quiet],
        "flood": [_figures(times) for times in flood],
    }


def _figures(times: Sequence[float]) -> dict[str, float]:
    points = (("p50", 0.5), ("p99", 0.99))
    return {name: round(1000 * percentile(times, part), 3) for name, part in points}


def _ratio(pair: Sequence[dict[str, float]], point: str) -> float:
    return round(pair[0][point] / pair[1][point], 2)


def report(rounds: Sequence[dict[str, Any]], rates: dict[str, int]) -> dict[str, Any]:
    """The ratios of the best rounds, and whether the bars are met. Times are in milliseconds."""
    idle = min(rounds, key=lambda each: _ratio(each["idle"], "p50"))["idle"]
    flood = min(rounds, key=lambda each: _ratio(each["flood"], "p99"))["flood"]
    ratios = (_ratio(idle, "p50"), _ratio(flood, "p99"))
    return {
        "benchmark": "attach",
        "rounds": len(rounds),
        "idle_ms": dict(zip(("termnode", "tmux"), idle, strict=True)),
        "flood_ms": dict(zip(("termnode", "tmux"), flood, strict=True)),
        "ratio_idle_p50": ratios[0],
        "max_ratio_idle_p50": MAX_IDLE_P50,
        "ratio_flood_p99": ratios[1],
        "max_ratio_flood_p99": MAX_FLOOD_P99,
        "all_idle_p50": [_ratio(each["idle"], "p50") for each in rounds],
        "all_flood_p99": [_ratio(each["flood"], "p99") for each in rounds],
        "bytes_per_s": rates,
        "max_bytes_per_s": MAX_BYTES_PER_S,
        "passed": ratios[0] <= MAX_IDLE_P50
        and ratios[1] <= MAX_FLOOD_P99
        and max(rates.values()) <= MAX_BYTES_PER_S,
    }


def _rates(ours: Client, runtime: str) -> dict[str, int]:
    """Bytes a second over the view socket, and to the terminal of the view that looks on."""
    before = ours.received
    with ThreadPoolExecutor(1) as beside:
        counting = beside.submit(trio.run, bytes_to_view, runtime)
        while not counting.done():
            ours.idle(0.1)
    return {"socket": counting.result(), "terminal": round((ours.received - before) / COUNTED_S)}


def attach(calls: int) -> dict[str, Any]:
    """Run the attach benchmark in a directory of its own."""
    with tempfile.TemporaryDirectory(prefix="tnb-") as directory:
        runtime = str(Path(directory) / "rt")
        with termnode(runtime) as ours, tmux(directory) as theirs:
            clients = (ours, theirs)
            rounds = [_round(clients, calls) for _ in range(ROUNDS)]
            return report(rounds, _rates(ours, runtime))
