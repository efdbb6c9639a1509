"""The right to act as a record, for as long as its holder can be sure of it. No I/O."""

from __future__ import annotations

import time
from collections.abc import Callable

from brokerd.client.sessions.types import RecordView, Ref


def boottime_ms() -> int:
    """Milliseconds since the machine started, its sleep included: the clock of leases."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000


class Authority:
    """One attachment's lease, as of its last renewal. Ask ``live`` right before each act.

    It ends at its deadline without anybody's doing, when it is dropped, or both; what has ended
    never comes back: the next attachment is another object. ``broker_epoch`` and ``connection_id``
    are those it was proved on; ``name`` is where the record's requests go.
    """

    def __init__(
        self, record: RecordView, connection_id: str, deadline_ms: int, clock_ms: Callable[[], int]
    ) -> None:
        self.record = record
        self.connection_id = connection_id
        self._deadline_ms = deadline_ms
        self._clock_ms = clock_ms
        self._ended = False

    @property
    def ref(self) -> Ref:
        """The attachment."""
        return self.record.ref

    @property
    def name(self) -> str:
        """The allocated name."""
        return self.record.name

    @property
    def broker_epoch(self) -> str:
        """Of the broker that allocated it."""
        return self.record.broker_epoch

    @property
    def live(self) -> bool:
        """Whether one may act by it now."""
        return self.remaining_ms() > 0

    def remaining_ms(self) -> int:
        """Milliseconds left; 0 once it has ended."""
        left = 0 if self._ended else self._deadline_ms - self._clock_ms()
        if left <= 0:
            self._ended = True
        return max(0, left)

    def extend(self, deadline_ms: int) -> bool:
        """For its keeper: the lease was renewed up to there. False when it had ended before."""
        if not self.live:
            return False
        self._deadline_ms = deadline_ms
        return self.live

    def drop(self) -> None:
        """For its keeper: it is no longer ours."""
        self._ended = True

    def __repr__(self) -> str:
        return f"<Authority {self.name}, {self.remaining_ms()} ms left>"
