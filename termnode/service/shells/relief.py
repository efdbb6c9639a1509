"""Keeps a shell's control pipe from filling: a full one would stop the person at their prompt.

Its reader is the pane's sidecar. While there is none, or it is stuck, what the shell told is thrown
away before the pipe is full; the next sidecar asks the shell where it is.
"""

from __future__ import annotations

import fcntl
import os
import struct
import termios
from contextlib import suppress


def relieve(control: int) -> bool:
    """Empty the pipe if it is more than half full; whether that was so. Never waits or raises."""
    try:
        waiting = struct.unpack("i", fcntl.ioctl(control, termios.FIONREAD, b"\0" * 4))[0]
        if waiting <= fcntl.fcntl(control, fcntl.F_GETPIPE_SZ) // 2:
            return False
    except (OSError, ValueError):  # closed: its shell has ended
        return False
    with suppress(OSError):
        os.read(control, waiting)
    return True
