"""Sends the one signal that a cancellation sends, to the one group that it is for."""

from __future__ import annotations

import os
import signal
from typing import Final

from termnode.paneshell.shell_process import ShellProcess

Sent = tuple[int | None, str]
"""The process group that was signalled, or None, and words for people."""


_OWN: Final = "SIGINT was sent to the shell itself, which runs the command or was about to"


def interrupt(shell: ShellProcess, *, itself: bool) -> Sent:
    """SIGINT to the group that has the terminal, looked up in this very step; never more.

    ``itself``: also while the shell's own group has it, which is right only while a command is
    known to run. Between the look and the signal the command may end by itself.
    """
    groups = shell.groups()
    if groups is None:
        return None, "nothing was sent: the shell has ended"
    own, front = groups
    if front <= 1 or front == os.getpgrp():
        return None, "nothing was sent: no process group of the pane has the terminal"
    if front == own and not itself:
        return None, "nothing was sent: it is not known to have begun"
    return _send(front, own)


def _send(front: int, own: int) -> Sent:
    try:
        os.killpg(front, signal.SIGINT)
    except ProcessLookupError:
        return None, "nothing was sent: the command's processes have just ended"
    except PermissionError:
        return None, "nothing was sent: the command's processes are another user's"
    if front == own:
        return front, _OWN
    return front, "SIGINT was sent to the process group that has the terminal"
