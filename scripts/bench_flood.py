"""flood: is a verb still answered promptly while a pane floods?"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import trio
import zmq

from brokerd.client import connect
from scripts.bench_common import milliseconds, percentile, service

MAX_RATIO = 10.0
MAX_CALL_S = 1.0


def relay(front: str, back: str) -> None:
    """The middle of the bare echo: passes messages between two ROUTER sockets, like a broker."""
    context = zmq.Context()
    ends = [context.socket(zmq.ROUTER) for _ in range(2)]
    for socket, address in zip(ends, (front, back), strict=True):
        socket.bind(address)
    asker, worker = ends
    worker_id = worker.recv_multipart()[0]
    poller = zmq.Poller()
    for socket in ends:
        poller.register(socket, zmq.POLLIN)
    while True:
        for socket, _event in poller.poll():
            frames = socket.recv_multipart()
            if socket is asker:
                worker.send_multipart([worker_id, *frames])
            else:
                asker.send_multipart(frames[1:])


def answer(back: str) -> None:
    """The far end of the bare echo."""
    socket = zmq.Context().socket(zmq.DEALER)
    socket.connect(back)
    socket.send(b"hello")
    while True:
        socket.send_multipart(socket.recv_multipart())


@contextlib.contextmanager
def bare_echo(directory: str) -> Iterator[Callable[[], None]]:
    """A two-hop echo through two other processes; yields a function that makes one round trip."""
    front, back = f"ipc://{directory}/front", f"ipc://{directory}/back"
    spawn = get_context("spawn")
    helpers = [
        spawn.Process(target=relay, args=(front, back), daemon=True),
        spawn.Process(target=answer, args=(back,), daemon=True),
    ]
    for helper in helpers:
        helper.start()
    context = zmq.Context()
    socket = context.socket(zmq.DEALER)
    socket.connect(front)

    def once() -> None:
        socket.send_multipart([b"header", b"{}"])
        socket.recv_multipart()

    try:
        once()
        yield once
    finally:
        socket.close(0)
        context.term()
        for helper in helpers:
            helper.kill()
            helper.join()


async def measure_flood(directory: str, echo: Callable[[], None], calls: int) -> dict[str, Any]:
    """Alternate ``term.panes`` and echo round trips while ``yes`` runs in a pane."""
    verb_times: list[float] = []
    echo_times: list[float] = []
    async with connect(directory) as bus:
        reply = await bus.request("term", "term.tab.new", {"argv": ["yes"]}, timeout=30)
        assert reply.body, reply
        pane = {"pane": reply.body["pane"], "until": "^y$", "timeout_ms": 20_000}
        assert (await bus.request("term", "term.wait", pane, timeout=30)).rc == 0
        for _ in range(calls):
            start = time.perf_counter()
            reply = await bus.request("term", "term.panes", {}, timeout=30)
            verb_times.append(time.perf_counter() - start)
            assert reply.rc == 0, reply.body
            start = time.perf_counter()
            echo()
            echo_times.append(time.perf_counter() - start)
    return report(verb_times, echo_times)


def report(verb: list[float], echo: list[float]) -> dict[str, Any]:
    """Percentiles in milliseconds, the ratio, and whether the bar is met."""
    ratio = percentile(verb, 0.95) / percentile(echo, 0.95)
    return {
        "benchmark": "flood",
        "calls": len(verb),
        "verb_ms": milliseconds(verb),
        "echo_ms": milliseconds(echo),
        "ratio_p95": round(ratio, 2),
        "max_ratio": MAX_RATIO,
        "passed": ratio <= MAX_RATIO and max(verb) <= MAX_CALL_S,
    }


def flood(calls: int) -> dict[str, Any]:
    """Run the flood benchmark in a directory of its own."""
    with tempfile.TemporaryDirectory(prefix="tnb-") as directory:
        runtime = str(Path(directory) / "rt")
        with service(runtime), bare_echo(directory) as echo:
            return trio.run(measure_flood, runtime, echo, calls)
