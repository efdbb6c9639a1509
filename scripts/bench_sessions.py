"""sessions: does a broker whose tables of sessions are full answer as fast as an empty one?

Two brokers run. One stays empty; the other is filled: 64 Terms on 64 connections, 1,024 pending
grants, 8,192 deliveries whose senders' leases may be checked. Round trips of ``session.hello`` to
both are timed in turn, before and after. Then one more of each must be refused, and filling and
emptying it three times more must leave it hardly larger. (The first two rounds do not count for
that: its allocators take what they will keep.) Leases, grants and deliveries are given so much
time that none ends while it is measured; nothing else is changed.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

import trio

from brokerd.client import Refused, SessionKey, connect
from scripts.bench_common import milliseconds, percentile
from scripts.bench_filling import (
    DEPENDENCIES,
    GRANTS,
    PATIENT,
    TERMS,
    Broker,
    Filler,
    broker,
    filled,
)

CYCLES: Final = 5
WARM: Final = 2
"""Cycles that the memory is compared after."""

MAX_RATIO: Final = 1.2
"""Times that a full broker takes as long as an empty one, at most (median)."""

MAX_GROWTH: Final = 0.05
"""Of the resident memory after the warm cycles, at the end of the last."""

EMPTY_S: Final = 30.0


async def emptied(place: Broker) -> None:
    """Wait until nothing of the sessions is left."""
    async with connect(place.directory) as bus:
        with trio.fail_after(EMPTY_S):
            while await bus.sessions.list(timeout=PATIENT):  # noqa: ASYNC110  # another process
                await trio.sleep(0.05)


async def hellos(empty: Broker, full: Broker, calls: int) -> tuple[list[float], list[float]]:
    """Seconds of round trips to the one and the other, in turn."""
    times: tuple[list[float], list[float]] = ([], [])
    async with connect(empty.directory) as one, connect(full.directory) as other:
        for _ in range(calls):
            for bus, taken in zip((one, other), times, strict=True):
                start = time.perf_counter()
                await bus.sessions.hello()
                taken.append(time.perf_counter() - start)
    return times


async def one_more(filler: Filler) -> dict[str, str]:
    """The reasons for which one more of each is refused."""
    bus = await filler.connection()
    await filler.recipient("bench-more")

    async def allocate() -> None:
        await bus.sessions.allocate(SessionKey.generate(), timeout=PATIENT)

    async def grant() -> None:
        await filler.grant(TERMS - 1, GRANTS)

    return {
        "term": await _reason(allocate),
        "grant": await _reason(grant),
        "dependency": await filler.deliver(filler.terms[0], "bench-more"),
    }


async def _reason(ask: Callable[[], Awaitable[None]]) -> str:
    try:
        await ask()
    except Refused as refused:
        return str(refused.details.get("reason") or refused.code)
    return "not refused"


REFUSED: Final = {"term": "term_limit", "grant": "grant_limit", "dependency": "dependency_limit"}


async def measure(empty: Broker, full: Broker, calls: int) -> dict[str, Any]:
    """Everything, in one run."""
    result: dict[str, Any] = {}
    sizes: list[int] = []
    before = await hellos(empty, full, calls)
    for cycle in range(CYCLES):
        async with filled(full) as filler:
            if cycle == 0:
                after = await hellos(empty, full, calls)
                result["refused"] = await one_more(filler)
        await emptied(full)
        sizes.append(full.rss())
    ratio = percentile(after[1], 0.5) / percentile(after[0], 0.5)
    growth = sizes[-1] / sizes[WARM - 1] - 1
    return {
        "benchmark": "sessions",
        "calls": calls,
        "terms": TERMS,
        "grants": GRANTS,
        "dependencies": DEPENDENCIES,
        "empty_ms": milliseconds(after[0]),
        "full_ms": milliseconds(after[1]),
        "ratio_p50": round(ratio, 3),
        "ratio_p50_both_empty": round(percentile(before[1], 0.5) / percentile(before[0], 0.5), 3),
        "max_ratio": MAX_RATIO,
        **result,
        "rss_mib": [round(size / 1024 / 1024, 1) for size in sizes],
        "growth": round(growth, 4),
        "max_growth": MAX_GROWTH,
        "passed": ratio <= MAX_RATIO and growth < MAX_GROWTH and result["refused"] == REFUSED,
    }


def sessions(calls: int) -> dict[str, Any]:
    """Run the benchmark of sessions in a directory of its own."""
    with (
        tempfile.TemporaryDirectory(prefix="tnb-") as name,
        broker(f"{name}/empty") as empty,
        broker(f"{name}/full") as full,
    ):
        return trio.run(measure, empty, full, calls)
