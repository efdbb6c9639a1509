"""panes: does a new pane's shell come as fast as one that is started by hand?

Fifty panes are opened one after the other in a running service, and between them the same shell is
started plainly on a pseudo-terminal. Both times end when the shell is about to show its first
prompt: it then writes a byte into a pipe. No emulator's work is in either figure. The shell is bash
with the settings that a new user of this machine gets. A second round, with a shell that has none,
shows what little else there is: with sessions, in a service where they are off, and plainly.
"""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import trio
from ptyprocess import PtyProcess

from brokerd.client import Bus, connect
from scripts.bench_common import milliseconds, percentile, service
from scripts.bench_memory import sidecars

ROUNDS: Final = 3
PANES: Final = 50
COLS, ROWS = 120, 40

MAX_RATIO: Final = 1.3
"""Times that a pane's shell takes as long as a plain one, at most (median), and that one without
settings takes as long as where sessions are off."""

MAX_SIDECAR: Final = 8 * 1024 * 1024
"""Private bytes of the process that stands beside a pane's shell, at most."""

SETTLE_S: Final = 60.0
SKELETON: Final = "/etc/skel/.bashrc"

Shell = list[str]


class Prompts:
    """The pipe into which a shell writes before its prompts, and how to start such shells."""

    def __init__(self, directory: Path) -> None:
        path, settings = directory / "prompts", directory / "bashrc"
        os.mkfifo(path)
        self._pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)  # open for both: waits for nobody
        tell = f"PROMPT_COMMAND='printf . >{path}'\n"
        settings.write_text(f"[ -r {SKELETON} ] && . {SKELETON}\n{tell}")
        (directory / "bare").write_text(tell)
        self.usual: Shell = ["/bin/bash", "--rcfile", str(settings), "-i"]
        self.bare: Shell = ["/bin/bash", "--rcfile", str(directory / "bare"), "-i"]

    async def wait(self) -> None:
        """Until a shell has written its byte."""
        with trio.fail_after(30):
            await trio.lowlevel.wait_readable(self._pipe)
        os.read(self._pipe, 64)

    def close(self) -> None:
        """Let go of the pipe."""
        os.close(self._pipe)


async def opened(bus: Bus, shell: Shell, prompts: Prompts, *, stays: bool) -> float:
    """Seconds from the request for a pane to its shell's prompt."""
    start = time.perf_counter()
    reply = await bus.request("term", "term.tab.new", {"argv": shell}, timeout=30)
    assert reply.ok, reply.body
    await prompts.wait()
    took = time.perf_counter() - start
    if not stays:
        body = {"id": (reply.body or {})["id"]}
        closed = await bus.request("term", "term.tab.close", body, timeout=30)
        assert closed.ok, closed.body
    return took


async def plain(shell: Shell, prompts: Prompts) -> float:
    """The same of a shell that nothing stands around."""
    environment = {**os.environ, "TERM": "xterm-256color"}
    start = time.perf_counter()
    process = PtyProcess.spawn(shell, env=environment, dimensions=(ROWS, COLS))
    await prompts.wait()
    took = time.perf_counter() - start
    process.close(force=True)
    return took


async def settled(bus: Bus) -> list[dict[str, Any]]:
    """The panes once the shells of all are verified, or when it has taken too long."""
    panes: list[dict[str, Any]] = []
    with trio.move_on_after(SETTLE_S):
        while not panes or not all(map(_ready, panes)):
            reply = await bus.request("term", "term.panes", {})
            assert reply.ok, reply.body
            panes = _panes(reply.body)
            await trio.sleep(0.2)
    return panes


def _panes(body: Any) -> list[dict[str, Any]]:  # noqa: ANN401  # a reply's JSON
    return list(body["panes"])


def _ready(pane: dict[str, Any]) -> bool:
    return bool((pane.get("binding") or {}).get("ready"))


async def usual_shell(bus: Bus, prompts: Prompts) -> dict[str, Any]:
    """Panes that stay, each beside a plain shell."""
    pane: list[float] = []
    by_hand: list[float] = []
    for _ in range(PANES):
        pane.append(await opened(bus, prompts.usual, prompts, stays=True))
        by_hand.append(await plain(prompts.usual, prompts))
    return {
        "pane_ms": milliseconds(pane),
        "plain_ms": milliseconds(by_hand),
        "ratio_p50": _ratio(pane, by_hand),
    }


async def bare_shell(bus: Bus, off: Bus, prompts: Prompts) -> dict[str, Any]:
    """Panes that are closed at once, each beside one without sessions and a plain shell."""
    pane: list[float] = []
    without: list[float] = []
    by_hand: list[float] = []
    for _ in range(PANES):
        pane.append(await opened(bus, prompts.bare, prompts, stays=False))
        without.append(await opened(off, prompts.bare, prompts, stays=False))
        by_hand.append(await plain(prompts.bare, prompts))
    return {
        "bare_pane_ms": milliseconds(pane),
        "bare_off_ms": milliseconds(without),
        "bare_plain_ms": milliseconds(by_hand),
        "bare_ratio_plain_p50": _ratio(pane, by_hand),
        "bare_ratio_off_p50": _ratio(pane, without),
    }


def _ratio(times: list[float], others: list[float]) -> float:
    return round(percentile(times, 0.5) / percentile(others, 0.5), 3)


async def measure(runtime: str, off: str, prompts: Prompts) -> dict[str, Any]:
    """Open and start in turn, then look at what stands beside the panes."""
    async with connect(runtime) as bus, connect(off) as other:
        info = await bus.request("term", "term.session", {})
        assert info.ok, info.body
        usual = await usual_shell(bus, prompts)
        stayed = await settled(bus)
        private = sidecars(int(str((info.body or {})["pid"])))
        bare = await bare_shell(bus, other, prompts)
    largest, ready = max(private, default=0), sum(map(_ready, stayed))
    passed = (
        max(usual["ratio_p50"], bare["bare_ratio_off_p50"]) <= MAX_RATIO
        and ready == len(stayed) == len(private)
        and largest < MAX_SIDECAR
    )
    return {
        "benchmark": "panes",
        "panes": PANES,
        **usual,
        **bare,
        "max_ratio": MAX_RATIO,
        "ready": f"{ready} of {len(stayed)}",
        "sidecars": len(private),
        "sidecar_private_mib": round(largest / 1024 / 1024, 2),
        "max_private_mib": MAX_SIDECAR / 1024 / 1024,
        "passed": passed,
    }


def once() -> dict[str, Any]:
    """One round, of two services of its own."""
    with (
        tempfile.TemporaryDirectory(prefix="tnb-") as name,
        closing(Prompts(Path(name))) as prompts,
    ):
        runtime, off, size = f"{name}/rt", f"{name}/off", ("--size", f"{COLS}x{ROWS}")
        with service(runtime, *size), service(off, *size, COSMIX_TERM_POLICY="off"):
            return trio.run(measure, runtime, off, prompts)


def panes(_calls: int) -> dict[str, Any]:
    """The best of ROUNDS rounds, and the ratios of all."""
    rounds = [once() for _ in range(ROUNDS)]
    ratios = [each["ratio_p50"] for each in rounds]
    best = min(rounds, key=lambda each: (not each["passed"], each["ratio_p50"]))
    return {**best, "ratios_p50": ratios}
