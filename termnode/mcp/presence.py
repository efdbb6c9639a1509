"""Which HTTP clients are there: those with a request under way, or one not long ago. No I/O."""

from __future__ import annotations

from dataclasses import dataclass

from termnode.mcp.limits import SILENT_S


@dataclass(slots=True)
class _Seen:
    under_way: int = 0
    last: float = 0.0


class Presence:
    """Times are monotonic, in seconds."""

    def __init__(self, silent_s: float = SILENT_S) -> None:
        self._silent_s = silent_s
        self._seen: dict[str, _Seen] = {}

    def began(self, session: str, now: float) -> None:
        """A request of a session has come."""
        seen = self._seen.setdefault(session, _Seen())
        seen.under_way += 1
        seen.last = now

    def ended(self, session: str, now: float) -> None:
        """Its answer is given, or its client went away."""
        seen = self._seen.get(session)
        if seen is not None:
            seen.under_way -= 1
            seen.last = now

    def forget(self, session: str) -> None:
        """The session is over."""
        self._seen.pop(session, None)

    def silent(self, now: float) -> list[str]:
        """The sessions whose clients are taken to be gone."""
        return [
            session
            for session, seen in self._seen.items()
            if seen.under_way <= 0 and now - seen.last >= self._silent_s
        ]
