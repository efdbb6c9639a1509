"""Execs the zygote, on the Trio side."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Final

import trio

_ROOT: Final = Path(__file__).parent.parent.parent

_KEPT: Final = ("PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONHOME")
"""All that the zygote gets of the environment: neither a secret nor a pane's marker."""


async def start_process() -> tuple[socket.socket, trio.Process]:
    """Exec the zygote; it inherits one end of a fresh socket pair and no other descriptor.

    Raises OSError when there is no process or descriptor left.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        process = await trio.lowlevel.open_process(
            [sys.executable, "-P", "-m", "termnode.paneshell", "--fd", str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
            cwd="/",
            env=_environment(),
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return ours, process


def _environment() -> dict[str, str]:
    """This very package first on the path, wherever the service was started."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    path = os.environ.get("PYTHONPATH")
    return {**kept, "PYTHONPATH": f"{_ROOT}:{path}" if path else str(_ROOT)}
