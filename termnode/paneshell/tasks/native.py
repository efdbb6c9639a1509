"""Two switches of prctl(2) that Python does not offer."""

from __future__ import annotations

import ctypes
import os
from typing import Final

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36

# Loaded in the zygote: a forked child must not begin to load libraries.
_libc: Final = ctypes.CDLL(None, use_errno=True)


def die_with_parent(number: int) -> None:
    """Get this signal when the thread that forked this process ends. Raises OSError."""
    _prctl(_PR_SET_PDEATHSIG, number)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends. Raises OSError."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def _prctl(option: int, value: int) -> None:
    rest = (ctypes.c_ulong(0),) * 3
    if _libc.prctl(ctypes.c_int(option), ctypes.c_ulong(value), *rest) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
