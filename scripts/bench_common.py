"""What the benchmarks share: a service of its own, and how figures are given."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence

TERMNODE = [sys.executable, "-m", "termnode.cli.main"]

POINTS = (("p50", 0.5), ("p95", 0.95), ("max", 1.0))


@contextlib.contextmanager
def service(directory: str, *arguments: str, **extra: str) -> Iterator[None]:
    """A terminal service of its own in ``directory``, with ``extra`` environment; ended after."""
    environment = {**os.environ, "COSMIX_RUNTIME_DIR": directory, "TERM_NOTIFY": "0", **extra}
    environment.pop("COSMIX_MESH_OPEN", None)
    subprocess.run(
        [*TERMNODE, "up", "--detach", *arguments],
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        subprocess.run([*TERMNODE, "down"], env=environment, check=True, stdout=subprocess.DEVNULL)


def percentile(values: Sequence[float], part: float) -> float:
    """The value below which ``part`` (0..1) of ``values`` lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def milliseconds(seconds: Sequence[float]) -> dict[str, float]:
    """The percentiles of POINTS, in milliseconds."""
    return {name: round(1000 * percentile(seconds, part), 3) for name, part in POINTS}
