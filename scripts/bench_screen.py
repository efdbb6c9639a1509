"""screen: what does it cost an agent to follow a build?

A pane writes the log of a ten-minute build, one second's output at a time, and after each an agent
looks twice: at the whole screen, and at what is newer than its last look.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import trio

from brokerd.client import Bus, Reply, connect
from scripts.bench_common import milliseconds, percentile, service
from scripts.build_log import build_log

MIN_SAVING: Final = 10.0
"""Times that whole screens are larger than what is new, at least."""

MAX_UNCHANGED: Final = 1.2
"""Times that a look at nothing new takes longer than the cheapest read, at most (p50)."""

SIZE: Final = "120x40"

WRITER: Final = r"""
import os, sys, tty
tty.setraw(0)
orders, log = open(sys.argv[1], "rb", 0), open(sys.argv[2], "rb")
done = open(sys.argv[3], "wb", 0)
for order in orders:
    os.write(1, log.read(int(order)) + b"\x1b[6n")
    while os.read(0, 1) != b"R":  # the terminal answers once it has taken all before
        pass
    done.write(b".")
"""
"""Writes as many bytes of the log as it is told to, and says when the terminal has taken them."""


class Writer:
    """The program in the pane, driven through two pipes."""

    def __init__(self, directory: Path, log: bytes) -> None:
        self._paths = [directory / name for name in ("orders", "log", "done")]
        orders, text, done = self._paths
        text.write_bytes(log)
        for pipe in (orders, done):
            os.mkfifo(pipe)
        # Opened for both, an end waits for nobody.
        self._orders, self._done = (os.open(pipe, os.O_RDWR) for pipe in (orders, done))

    @property
    def argv(self) -> list[str]:
        """How to start it."""
        return [sys.executable, "-c", WRITER, *map(str, self._paths)]

    async def write(self, count: int) -> None:
        """Have it write the next ``count`` bytes; returns when the terminal has taken them."""
        os.write(self._orders, b"%d\n" % count)
        await trio.lowlevel.wait_readable(self._done)
        os.read(self._done, 1)

    def close(self) -> None:
        """Let go of the pipes."""
        os.close(self._orders)
        os.close(self._done)


class Follower:
    """An agent that keeps up with a pane by ``since``, and knows the screen from that alone."""

    def __init__(self) -> None:
        self.revision = 0
        self.bytes = 0
        self._known: dict[int, str] = {}

    def take(self, reply: Reply) -> None:
        """Take in what is new."""
        body = _body(reply)
        self.bytes += len(reply.raw)
        self.revision = body["revision"]
        if body.get("full"):
            self._known.clear()
        self._known |= {line["line"]: line["text"] for line in body["lines"]}

    def screen(self, first: int, rows: int) -> str:
        """The rows as it knows them."""
        return "\n".join(self._known.get(line, "") for line in range(first, first + rows))


def _body(reply: Reply) -> Any:  # noqa: ANN401  # whatever JSON it is
    assert reply.ok, reply.body
    return reply.body


async def follow(bus: Bus, pane: int, writer: Writer, batches: list[bytes]) -> dict[str, Any]:
    """Write the log second by second and look both ways after each."""
    whole_bytes = 0
    follower = Follower()
    for batch in batches:
        await writer.write(len(batch))
        whole = await bus.request("term", "term.snapshot", {"pane": pane})
        whole_bytes += len(whole.raw)
        body = {"pane": pane, "since": follower.revision}
        follower.take(await bus.request("term", "term.snapshot", body))
        shown = _body(whole)
        known = follower.screen(shown["screen_line"], shown["rows"])
        assert known == shown["text"], "what was new does not make up the screen"
    saving = whole_bytes / follower.bytes
    return {
        "looks": len(batches),
        "log_lines": b"".join(batches).count(b"\n"),
        "whole_bytes": whole_bytes,
        "since_bytes": follower.bytes,
        "saving": round(saving, 2),
        "min_saving": MIN_SAVING,
    }


async def unchanged(bus: Bus, pane: int, calls: int) -> dict[str, Any]:
    """Alternate a look at nothing new with the cheapest read."""
    revision = _body(await bus.request("term", "term.snapshot", {"pane": pane}))["revision"]
    asked = {"pane": pane, "since": revision}
    looks: list[float] = []
    bare: list[float] = []
    for _ in range(calls):
        for verb, body, times in (("term.snapshot", asked, looks), ("term.session", {}, bare)):
            start = time.perf_counter()
            reply = await bus.request("term", verb, body)
            times.append(time.perf_counter() - start)
            assert reply.ok, reply.body
    return {
        "calls": calls,
        "unchanged_ms": milliseconds(looks),
        "session_ms": milliseconds(bare),
        "ratio_p50": round(percentile(looks, 0.5) / percentile(bare, 0.5), 3),
        "max_ratio_p50": MAX_UNCHANGED,
    }


async def measure(runtime: str, directory: Path, calls: int) -> dict[str, Any]:
    """Both figures, of one service."""
    batches = build_log()
    writer = Writer(directory, b"".join(batches))
    try:
        async with connect(runtime) as bus:
            opened = await bus.request("term", "term.tab.new", {"argv": writer.argv}, timeout=30)
            pane = _body(opened)["pane"]
            with trio.fail_after(300):
                following = await follow(bus, pane, writer, batches)
                still = await unchanged(bus, pane, calls)
    finally:
        writer.close()
    passed = following["saving"] >= MIN_SAVING and still["ratio_p50"] < MAX_UNCHANGED
    return {"benchmark": "screen", **following, **still, "passed": passed}


def screen(calls: int) -> dict[str, Any]:
    """Run the screen benchmark in a directory of its own."""
    with tempfile.TemporaryDirectory(prefix="tnb-") as directory:
        runtime = str(Path(directory) / "rt")
        with service(runtime, "--size", SIZE):
            return trio.run(measure, runtime, Path(directory), calls)
