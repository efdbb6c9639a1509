"""What a task gets of the pane's shell: a few variables, the umask and the descriptor limit.

Taken once, when the pane's supervisor starts, of what the shell was started with.
"""

from __future__ import annotations

import os
import re
import resource
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

KEPT: Final = (
    "HOME",
    "USER",
    "PATH",
    "LANG",
    "COSMIX",
    "COSMIX_SRC",
    "COSMIX_BIN",
    "COSMIX_ETC",
    "COSMIX_NODE_CONFIG",
    "COSMIX_BROKER_ACCOUNT",
)
"""All variables that a task gets of the shell's environment, where they were set."""

MAX_READ: Final = 4 * 1_024 * 1_024
"""Bytes of an environment that are looked at; the kernel allows no more by default."""

_UMASK: Final = re.compile(rb"^Umask:\s*([0-7]+)$", re.MULTILINE)

Environment = dict[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """``nofile`` is the soft and the hard limit of descriptors."""

    environment: Environment
    umask: int
    nofile: tuple[int, int]

    def with_overlay(self, overlay: Iterable[tuple[bytes, bytes]]) -> Surroundings:
        """With TERM=dumb and then these variables, which replace and add."""
        whole = {**self.environment, b"TERM": b"dumb", **dict(overlay)}
        return Surroundings(whole, self.umask, self.nofile)


def surroundings_of(shell_pid: int) -> Surroundings:
    """Of the shell; where that is shut or gone, of this process."""
    try:
        with open(f"/proc/{shell_pid}/environ", "rb") as file:
            environment = kept(_parsed(file.read(MAX_READ)))
        with open(f"/proc/{shell_pid}/status", "rb") as file:
            found = _UMASK.search(file.read())
        nofile = resource.prlimit(shell_pid, resource.RLIMIT_NOFILE)
    except OSError:
        return Surroundings(kept(os.environb), 0o077, resource.getrlimit(resource.RLIMIT_NOFILE))
    return Surroundings(environment, int(found[1], 8) if found else 0o077, nofile)


def kept(whole: Mapping[bytes, bytes]) -> Environment:
    """The names of KEPT that are set in ``whole``."""
    return {name: whole[name] for name in map(os.fsencode, KEPT) if name in whole}


def _parsed(raw: bytes) -> Environment:
    pairs = (entry.partition(b"=") for entry in raw.split(b"\0"))
    return {name: value for name, equals, value in pairs if equals}
