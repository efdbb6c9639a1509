"""The standard streams as the commands need them: always there, and never in the way of a text."""

from __future__ import annotations

import contextlib
import os
import sys


def standard_streams() -> None:
    """Open what was closed, on nothing, and let no character fail to be printed.

    A closed descriptor 0, 1 or 2 would be given to the next file or pipe that is opened, and then
    taken for the stream. Done before anything else is opened.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free: this one
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError):  # a test's own stream may not be able to
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
