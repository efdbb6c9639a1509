"""exec: how long does a command take, from its submission to its status and its output?

Ways to run ``true`` in an interactive bash, in turn, on one machine:

* ``pane.execute`` of the Trio client: over the bus, through the gate, announced, at a free prompt;
* the same with a source that bash itself must read first, to say whether it is whole;
* libtmux: ``pane.send_keys`` of the command and a marked ``echo $?``, then ``pane.capture_pane`` by
  its own ``retry_until`` until the marked row is there;
* tmux: the same commands of tmux run by hand, without a pause between two looks;
* pexpect: ``REPLWrapper.run_command``, with pexpect's own 50 ms before each line. No status, and
  sight for nobody;
* the bare floor: pexpect without the 50 ms. Nothing that also decides and tells can be as fast.

The bar is to be faster at the median than libtmux and pexpect, over all that was timed. tmux must
be installed; libtmux and pexpect are installed by ``scripts/bench exec``.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any, Final

import trio

from scripts.bench_common import milliseconds, percentile, service
from scripts.bench_exec_others import COLS, ROWS, SHELL, Way, others
from termnode.client import Busy, NativePane, connect

ROUNDS: Final = 3

MEMORY: Final = Path("/dev/shm")
"""For the sockets of all, as $XDG_RUNTIME_DIR is in memory."""

PLAIN: Final = "true"
OURS: Final = {"execute": PLAIN, "checked": "true; true"}
"""The second source is not taken without a look at its syntax."""

Times = dict[str, list[float]]


async def executed(pane: NativePane, source: str = PLAIN) -> float:
    """Seconds of one command through the service."""
    start = time.perf_counter()
    done = await pane.execute(source)
    took = time.perf_counter() - start
    assert done.ok, done
    return took


async def ready(pane: NativePane) -> None:
    """Until the first prompt takes commands."""
    with trio.fail_after(30):
        while True:
            try:
                await pane.execute(PLAIN)
            except Busy:
                await trio.sleep(0.05)
            else:
                return


def timed(work: Way) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


async def measure(runtime: str, directory: Path, calls: int) -> list[Times]:
    """Seconds of each way, by round; all take turns."""
    rounds: list[Times] = []
    order = Random(1)  # who comes after a sleep finds a colder machine: everybody does, as often
    with others(directory) as ways:
        async with connect(runtime) as session:
            pane = await (await session.native()).wait_pane(1, timeout=30)
            await ready(pane)
            for _ in range(ROUNDS):
                times: Times = {name: [] for name in (*OURS, *ways)}
                for _ in range(calls):
                    for name in order.sample([*times], len(times)):
                        ours = OURS.get(name)
                        took = timed(ways[name]) if ours is None else await executed(pane, ours)
                        times[name].append(took)
                rounds.append(times)
    return rounds


def execute(calls: int) -> dict[str, Any]:
    """Run the benchmark of commands at the prompt."""
    with tempfile.TemporaryDirectory(
        prefix="tnb-", dir=MEMORY if MEMORY.is_dir() else None
    ) as name:
        runtime, size = f"{name}/rt", f"{COLS}x{ROWS}"
        with service(runtime, "--shell", SHELL, "--size", size, HOME=name):
            rounds = trio.run(measure, runtime, Path(name), calls)
    every = {name: [each for times in rounds for each in times[name]] for name in rounds[0]}
    medians = {name: percentile(times, 0.5) for name, times in every.items()}
    return {
        "benchmark": "exec",
        "calls": calls,
        **{f"{name}_ms": milliseconds(times) for name, times in every.items()},
        "rounds_ms": [round(1000 * percentile(each["execute"], 0.5), 3) for each in rounds],
        "load": [round(figure, 2) for figure in os.getloadavg()],
        **{
            f"{name}_ratio_p50": round(medians["execute"] / medians[name], 3)
            for name in ("libtmux", "tmux", "pexpect")
        },
        "passed": medians["execute"] < min(medians["libtmux"], medians["pexpect"]),
    }
