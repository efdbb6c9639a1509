"""How much of the global lane may be under way at once (specs/global-lane.md)."""

from __future__ import annotations

from typing import Final

MUTATIONS_WAITING: Final = 64
"""Mutations that may wait for the one that runs."""

WAITS: Final = 64
"""Waits at a time."""

JOINED: Final = 64
"""Calls that may wait for the replies of requests already under way."""
