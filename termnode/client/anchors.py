"""The revisions that waits count from when nobody says another. No I/O."""

from __future__ import annotations

import threading
from enum import Enum
from typing import Final, TypeAlias

KEPT: Final = 1_024
"""Panes whose anchor is kept; those go first that were used longest ago."""


class Anchor(Enum):
    """What `After` may be but a revision and None."""

    LAST_INPUT = "last input"
    """The screen as it was before this session's last input into the pane."""


LAST_INPUT: Final = Anchor.LAST_INPUT

After: TypeAlias = int | Anchor | None
"""From where a wait counts: a revision, LAST_INPUT, or None: what stands there counts too."""


class Anchors:
    """By pane id: the revision before the session's last input, and the last change it was told.

    For any number of threads.
    """

    def __init__(self) -> None:
        self._inputs: dict[int, int] = {}
        self._changes: dict[int, int] = {}
        self._lock = threading.Lock()

    def sent(self, pane: int, revision: int) -> None:
        """Something was typed, pressed, pasted or clicked."""
        with self._lock:
            _keep(self._inputs, pane, revision)
            self._changes.pop(pane, None)

    def changed(self, pane: int, revision: int) -> None:
        """The caller knows of all changes up to that revision."""
        with self._lock:
            _keep(self._changes, pane, revision)

    def of(self, pane: int, after: After) -> int | None:
        """The revision that ``after`` means."""
        return self._inputs.get(pane) if isinstance(after, Anchor) else after

    def change(self, pane: int, after: After) -> int | None:
        """As `of`, for the next change: from the last one on, if that was later."""
        if not isinstance(after, Anchor):
            return after
        return self._changes.get(pane, self._inputs.get(pane))


def _keep(table: dict[int, int], pane: int, revision: int) -> None:
    table.pop(pane, None)
    table[pane] = revision
    if len(table) > KEPT:
        table.pop(next(iter(table)), None)
