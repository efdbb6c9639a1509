"""Leases of callers, as the broker confirmed them a moment ago."""

from __future__ import annotations

from dataclasses import dataclass

from brokerd.client import Ref
from termnode.control.native.limits import LEASE_FRESH_MS, LEASES


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """A question to the broker that is under way: about whom, and when it was asked."""

    ref: Ref
    started_ms: int


class LeaseCache:
    """When each caller's lease ends. Times are milliseconds of the clock of leases.

    A notice may overtake the answer to a check that was asked before it. So an answer counts only
    when nothing was dropped for its reference since ``begin``.
    """

    def __init__(self, *, most: int = LEASES, fresh_ms: int = LEASE_FRESH_MS) -> None:
        self.most = most
        self._fresh_ms = fresh_ms
        self._asked: dict[Ref, Check] = {}
        self._known: dict[Ref, tuple[int, int]] = {}

    def get(self, ref: Ref, now_ms: int) -> int | None:
        """When the lease ends, if that is later than now and was checked recently; else None."""
        known = self._known.get(ref)
        if known is None:
            return None
        started_ms, deadline_ms = known
        fresh = now_ms - started_ms < self._fresh_ms and now_ms < deadline_ms
        return deadline_ms if fresh else None

    def is_trusted(self, ref: Ref, now_ms: int) -> bool:
        """Whether a lease that was confirmed, however long ago, has not ended or been dropped.

        For what it permitted then: that keeps its own, nearer end.
        """
        known = self._known.get(ref)
        return known is not None and now_ms < known[1]

    def begin(self, ref: Ref, started_ms: int) -> Check:
        """The broker is asked now: end it with `put` or `failed`. An earlier one counts no more."""
        check = self._asked[ref] = Check(ref, started_ms)
        return check

    def put(self, check: Check, remaining_ms: int) -> bool:
        """The broker's answer. False when it no longer counts; then ask again or refuse."""
        if not self._end(check):
            return False
        self._known.pop(check.ref, None)
        self._known[check.ref] = check.started_ms, check.started_ms + remaining_ms
        if len(self._known) > self.most:
            del self._known[next(iter(self._known))]
        return True

    def failed(self, check: Check) -> None:
        """The broker refused, or did not answer in time: what was known goes too."""
        if self._end(check):
            self._known.pop(check.ref, None)

    def drop(self, record_id: str, generation: int | None = None) -> None:
        """The record's attachments up to ``generation`` (None: all) are no longer trusted."""
        for table in (self._known, self._asked):
            for ref in [each for each in table if _is_of(each, record_id, generation)]:
                del table[ref]

    def clear(self) -> None:
        """Nothing is trusted any more: the connection went, or a notice was missed."""
        self._known.clear()
        self._asked.clear()

    def statistics(self) -> dict[str, int]:
        """How many leases are known and asked for."""
        return {"leases": len(self._known), "lease_checks": len(self._asked)}

    def _end(self, check: Check) -> bool:
        if self._asked.get(check.ref) is not check:
            return False
        del self._asked[check.ref]
        return True


def _is_of(ref: Ref, record_id: str, generation: int | None) -> bool:
    if ref.record_id != record_id:
        return False
    return generation is None or ref.binding_generation <= generation
