"""A request id that is spent while its verb runs, and the ways in which that ends."""

from __future__ import annotations

from types import TracebackType
from typing import Generic, TypeVar

from termnode.control.native.histories import Histories
from termnode.control.native.history import Entry, Later, Outcome

R = TypeVar("R", bound=Outcome)


class Reservation(Generic[R]):
    """A spent id whose verb runs. Settled once, or dropped at the end of its ``with`` block."""

    def __init__(self, histories: Histories[R], entry: Entry[R], retention: float) -> None:
        self._histories = histories
        self._entry: Entry[R] | None = entry
        self._retention = retention
        self.operation_id = entry.request_id

    def record(self, reply: R, now: float, later: Later | None = None) -> None:
        """Keep the reply; one about load is dropped. ``later`` will have what comes after it."""
        entry = self._settle()
        if reply.about_load:
            self._histories.drop(entry)
            return
        entry.reply, entry.later, entry.until = reply, later, now + self._retention
        self._histories.keep(entry, now)

    def cancel(self) -> None:
        """Nothing was done and the id is unspent. Only in the very step of the reserve.

        Raises ValueError when a later id has been spent.
        """
        entry = self._entry
        if entry is not None and entry.history.mark != entry.request_id:
            raise ValueError("a later id has been spent: drop this one")
        self._histories.cancel(self._settle())

    def drop(self) -> None:
        """Nobody knows what was done, or nothing is to be kept: the id stays spent."""
        self._histories.drop(self._settle())

    def _settle(self) -> Entry[R]:
        entry, self._entry = self._entry, None
        if entry is None:
            raise ValueError("the reservation is already settled")
        return entry

    def __enter__(self) -> Reservation[R]:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._entry is not None:
            self.drop()
