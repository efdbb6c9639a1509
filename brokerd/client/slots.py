"""Where the outcome of a request is put, and what it means for housekeeping. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from brokerd.client.errors import BusError, NameTaken, Refused, RequestTimeout
from brokerd.client.messages import Reply

Outcome: TypeAlias = "Reply | BusError"
Answered: TypeAlias = Callable[[Outcome], object]
Tell: TypeAlias = Callable[[str, Mapping[str, object], Answered | None], None]
"""Sends one of the broker's verbs and hands its outcome, an error included, to the callback."""


class Slot:
    """Where the outcome of one request is put, once; then ``on_done`` is called with it."""

    __slots__ = ("on_done", "outcome")

    def __init__(self, on_done: Answered | None = None) -> None:
        self.outcome: Outcome | None = None
        self.on_done = on_done

    def complete(self, outcome: Outcome) -> None:
        """Put the outcome; a second one is ignored."""
        if self.outcome is not None:
            return
        self.outcome = outcome
        if self.on_done is not None:
            self.on_done(outcome)


def reply_of(outcome: Outcome | None, timeout: float | None) -> Reply:
    """The reply in an outcome. Raises RequestTimeout for none in time, else the BusError it is."""
    if outcome is None:
        raise RequestTimeout(timeout or 0.0)
    if isinstance(outcome, BusError):
        raise outcome
    return outcome


def refusal_of(outcome: Outcome, name: str = "") -> BusError | None:
    """What to raise for the outcome of housekeeping; None when it went well."""
    if isinstance(outcome, BusError):
        return outcome
    error = outcome.error
    if error is None:
        return None
    if error.details.get("reason") == "name_in_use":
        return NameTaken(name)
    return Refused(error.code, error.message, error.details)
