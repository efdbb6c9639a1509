"""Execs a process beside the service, and sees to its end; on the Trio side."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import trio

_ROOT: Final = Path(__file__).parent.parent.parent


async def start_process(
    module: str,
    options: Sequence[str],
    environment: Mapping[str, str],
    *,
    send_buffer: int | None = None,
) -> tuple[socket.socket, trio.Process]:
    """Exec ``python -m MODULE --fd N OPTIONS`` in a session of its own, in the root directory.

    It inherits one end of a fresh SOCK_SEQPACKET pair, whose other end is returned, and no other
    descriptor. ``environment`` gets this very package first on the path, wherever the service was
    started; ``send_buffer`` (bytes) is set on both ends. Raises OSError when there is no process or
    descriptor left.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if send_buffer is not None:
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
    try:
        process = await trio.lowlevel.open_process(
            [sys.executable, "-P", "-m", module, "--fd", str(theirs.fileno()), *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
            cwd="/",
            env=_with_package(environment),
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return ours, process


async def wait_or_kill(process: trio.Process, within: float) -> None:
    """Wait for the end of a process that was told to end; after ``within`` seconds, kill it."""
    with trio.move_on_after(within, shield=True):
        await process.wait()
    if process.returncode is None:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()


def _with_package(environment: Mapping[str, str]) -> dict[str, str]:
    path = os.environ.get("PYTHONPATH")
    return {**environment, "PYTHONPATH": f"{_ROOT}:{path}" if path else str(_ROOT)}
