"""Execs the pane host, on the Trio side."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Final

import trio

from termnode.panehost.protocol import MAX_MESSAGE, UserSettings

_ROOT: Final = Path(__file__).parent.parent.parent


async def launch(user: UserSettings) -> tuple[socket.socket, trio.Process]:
    """Exec the host; it inherits one end of a fresh socket pair and no other descriptor."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in (ours, theirs):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * MAX_MESSAGE)
    try:
        process = await trio.lowlevel.open_process(
            _command(theirs.fileno(), user),
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


def _command(descriptor: int, user: UserSettings) -> list[str]:
    soft, hard = user.nofile
    options = ["--fd", str(descriptor), "--umask", f"{user.umask:o}", "--nofile", f"{soft}:{hard}"]
    return [sys.executable, "-P", "-m", "termnode.panehost", *options]


def _environment() -> dict[str, str]:
    """Ours, with this very package first on the path, wherever the service was started."""
    path = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": f"{_ROOT}:{path}" if path else str(_ROOT)}
