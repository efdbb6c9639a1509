"""What the broker's process may use."""

from __future__ import annotations

import os
import resource


def prepare(memory_mb: int) -> None:
    """Set umask and limits before anything is made or opened.

    Descriptors: as many as allowed, because libzmq aborts when an accept over ipc finds none.
    Memory: one unfinished multi-part message can make libzmq grow without end; the cap turns that
    into the end of the broker, which is supervised, instead of the machine's. 0 is no cap.
    Core files: none, they would hold what people typed.
    """
    os.umask(0o077)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory_mb:
        _cap_memory(memory_mb * 1_048_576)


def _cap_memory(wanted: int) -> None:
    # RLIMIT_DATA, not RLIMIT_AS: thread stacks and allocator arenas reserve addresses they never
    # use, and those must not count.
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    cap = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    resource.setrlimit(resource.RLIMIT_DATA, (cap, cap))
