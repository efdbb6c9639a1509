"""One launch bundle made ahead: a grant for the pane that will be opened next. No I/O.

It saves the pane shell of that pane a round trip to the broker. Times are seconds of the clock
that deadlines of grants are in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from brokerd.client import GrantView, RecordView, SessionKey

LEAST_LEFT_S: Final = 12.0
"""A bundle with less time left is not handed out: its pane shell might come too late with it."""

ACTIVE_S: Final = 300.0
"""Without activity for so long nobody is about to open a pane."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A grant with the key it was made for."""

    pane: int
    key: SessionKey
    grant: GrantView
    record: RecordView


def usable(grant: GrantView, now: float) -> bool:
    """Whether there is time enough to enrol with it."""
    return (now + LEAST_LEFT_S) * 1000 <= grant.expires_ms


class Provision:
    """The bundle in stock, and whether to make one."""

    def __init__(self, now: float) -> None:
        self.bundle: Bundle | None = None
        self._active_at = now

    def active(self, now: float) -> None:
        """Somebody uses the terminal."""
        self._active_at = now

    def idle(self, now: float) -> bool:
        """Whether nobody has used the terminal for long."""
        return now >= self._active_at + ACTIVE_S

    def wanted(self, pane: int, now: float) -> bool:
        """Whether a bundle for ``pane``, the next one, should be made now."""
        if self.idle(now):
            return False
        return self.bundle is None or self.bundle.pane != pane or not usable(self.bundle.grant, now)

    def stale_at(self) -> float | None:
        """When the bundle in stock will be usable no more."""
        if self.bundle is None:
            return None
        return self.bundle.grant.expires_ms / 1000 - LEAST_LEFT_S

    def replace(self, bundle: Bundle | None) -> Bundle | None:
        """Put another in its place; returns the one that was there."""
        before, self.bundle = self.bundle, bundle
        return before

    def take(self, pane: int, now: float) -> Bundle | None:
        """The bundle for this pane, if it is in stock and usable; it is then no more."""
        found = self.bundle
        if found is None or found.pane != pane or not usable(found.grant, now):
            return None
        return self.replace(None)
