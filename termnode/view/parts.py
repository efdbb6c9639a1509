"""What messages of both directions are made of."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, TypeAlias

from termnode.terminal.engine import Style

VERSION: Final = 2

Run3: TypeAlias = tuple[str, int, Style | None]
"""Text of neighbouring cells, how many cells it fills, and its style (None: plain)."""

Row: TypeAlias = tuple[Run3, ...]
"""Trailing plain blanks are left out."""

Line: TypeAlias = tuple[int, Row]
"""A line's number and what it shows."""


class Reason(StrEnum):
    """Why a connection ends."""

    DETACHED = "detached"
    """The view asked for it."""
    ENDED = "ended"
    """The service ends."""
    FORBIDDEN = "forbidden"
    """Not the process that the token was given to, or no valid token."""
    STRICT = "strict"
    """The posture became strict, and the view was opened without a ticket."""
    PROTOCOL = "protocol"
    """What came is no message of this version."""
    SLOW = "slow"
    """The view read nothing for too long."""
    FULL = "full"
    """There are as many views as there may be."""
    GONE = "gone"
    """The watched pane is there no more."""
