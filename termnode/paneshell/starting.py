"""Execs the zygote, on the Trio side."""

from __future__ import annotations

import os
import socket
from typing import Final

import trio

from termnode.sideprocess.starting import start_process

_KEPT: Final = ("PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONHOME")
"""All that the zygote gets of the environment: neither a secret nor a pane's marker."""


async def start_zygote() -> tuple[socket.socket, trio.Process]:
    """Exec the zygote. Raises OSError when there is no process or descriptor left."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return await start_process("termnode.paneshell", (), kept)
