"""Execs the pane host, on the Trio side."""

from __future__ import annotations

import os
import socket

import trio

from termnode.panehost.protocol import MAX_MESSAGE, UserSettings
from termnode.sideprocess.starting import start_process


async def launch(user: UserSettings) -> tuple[socket.socket, trio.Process]:
    """Exec the host, which gets this process's whole environment: programs are looked up in it."""
    soft, hard = user.nofile
    options = ("--umask", f"{user.umask:o}", "--nofile", f"{soft}:{hard}")
    return await start_process(
        "termnode.panehost", options, os.environ, send_buffer=2 * MAX_MESSAGE
    )
