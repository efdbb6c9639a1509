"""Whether a terminal is a pane of the very service that is to be shown in it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from termnode.cli.exits import REFUSED, CommandError
from termnode.cli.keyboard import own_pane

if TYPE_CHECKING:
    import argparse

    from termnode.service.keeping.instance import InstanceFiles

_HOST_ABOVE: Final = 2
"""A pane's first program is a child of the pane host, and that one of the service."""


def refuse_own_pane(arguments: argparse.Namespace, files: InstanceFiles, *, force: bool) -> None:
    """Raise CommandError in a pane of the chosen service: it would show itself in itself.

    The environment says so, or, where that was taken away, whose child owns this terminal.
    """
    if force:
        return
    if own_pane(arguments) is None and not terminal_of(files.running() or 0):
        return
    raise CommandError(
        f"this is a pane of '{files.name}': a view in it would show itself in itself. Use the tabs "
        "and panes that are there, attach from another terminal, or insist with --force",
        REFUSED,
    )


def terminal_of(service: int) -> bool:
    """Whether the program that owns our terminal was started by this process's pane host."""
    pid = os.getsid(0)
    for _ in range(_HOST_ABOVE):
        pid = parent(pid)
        if pid == service and service:
            return True
    return False


def parent(pid: int) -> int:
    """The parent of a process; 0 when that cannot be told."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
        return int(stat.rpartition(")")[2].split()[1])  # the name before it may hold anything
    return 0
