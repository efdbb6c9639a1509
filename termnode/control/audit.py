"""Who asked for what, and what became of it: the last entries, without any payload.

An entry holds names from the verb table, numbers, and what the broker stamped; nothing that a
caller chose.
"""

from __future__ import annotations

from collections import deque
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Final

ENTRIES: Final = 1_024
"""Entries kept, shared by all callers of both lanes; the oldest go first."""

SERVICE: Final = "service"
"""Stands in the place of a principal for what the service notes by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One answered request, or one change of posture.

    ``seq`` rises by one per entry, so that a reader sees what was dropped. ``time`` is in Unix
    milliseconds. ``outcome`` is "ok" or an error code; of a change of posture, the new one.
    ``replayed`` says that the reply came from the retry record or from a request under way.
    """

    seq: int
    time: int
    principal: str
    verb: str
    pane: int | None = None
    outcome: str
    duration_ms: int = 0
    request_id: bool = False
    replayed: bool = False


class Audit:
    """The last `ENTRIES` entries."""

    def __init__(self, entries: int = ENTRIES) -> None:
        self._ring: deque[Entry] = deque(maxlen=entries)
        self._seq = 0

    def add(
        self,
        *,
        time: int,
        principal: str,
        verb: str,
        outcome: str,
        pane: int | None = None,
        duration_ms: int = 0,
        request_id: bool = False,
        replayed: bool = False,
    ) -> None:
        """Note what happened; see `Entry`."""
        self._seq += 1
        self._ring.append(
            Entry(
                seq=self._seq,
                time=time,
                principal=principal,
                verb=verb,
                pane=pane,
                outcome=outcome,
                duration_ms=duration_ms,
                request_id=request_id,
                replayed=replayed,
            )
        )

    def tail(self, limit: int = ENTRIES) -> list[dict[str, object]]:
        """The newest entries as JSON objects, newest last; an unknown pane is left out."""
        newest = list(islice(reversed(self._ring), limit))
        return [_public(entry) for entry in reversed(newest)]

    def statistics(self) -> dict[str, int]:
        """How many entries there were and how many are kept."""
        return {"seq": self._seq, "kept": len(self._ring)}


def _public(entry: Entry) -> dict[str, object]:
    return {key: value for key, value in asdict(entry).items() if value is not None}
