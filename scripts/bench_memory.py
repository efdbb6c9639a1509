"""The processes beside the shells of a service's panes, and the memory that each has alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from termnode.cli.mirror import parent


def sidecars(service_pid: int) -> list[int]:
    """Private bytes of each process beside a pane's shell: those that the zygote has forked."""
    zygotes = [pid for pid in _children(service_pid) if b"termnode.paneshell" in _command(pid)]
    return [_private(pid) for zygote in zygotes for pid in _children(zygote)]


def _children(pid: int) -> Iterator[int]:
    for name in os.listdir("/proc"):
        if name.isdigit() and parent(int(name)) == pid:
            yield int(name)


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _private(pid: int) -> int:
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    fields = (line.split() for line in text.splitlines() if line.startswith("Private_"))
    return sum(int(field[1]) for field in fields) * 1024
