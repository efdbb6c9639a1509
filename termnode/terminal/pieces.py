"""A piece of input on its way to a pseudo-terminal, and how it can end. Plain data."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, Literal, TypeAlias

Outcome: TypeAlias = Literal["written", "expired", "revoked", "gone"]
"""``written``: every byte reached the PTY. ``expired``: the deadline came first. ``revoked``: the
permit ended first. ``gone``: the terminal ended first."""


class QueueFull(Exception):
    """The piece was not admitted, no byte of it; ``room`` bytes would have been."""

    def __init__(self, room: int) -> None:
        super().__init__(f"the pane does not take more input now ({room} bytes fit): try again")
        self.room = room


class Gone(Exception):
    """The terminal has ended: nothing more can be written to it."""

    def __init__(self) -> None:
        super().__init__("the program's terminal has ended: open another pane")


class Piece:
    """Input that is written as one. Read ``total``, ``written`` and ``outcome``.

    ``closing`` is written when the piece ends early after its first byte was. ``patience`` is in
    seconds: the piece then lives for so long after any byte was taken, by ``latest`` at most.
    """

    def __init__(
        self,
        data: bytes,
        deadline: float,
        permit: Callable[[], bool] | None,
        *,
        closing: bytes = b"",
        patience: float | None = None,
        latest: float = math.inf,
    ) -> None:
        self.data: Final = data
        self.deadline: Final = deadline
        self.permit: Final = permit
        self.closing: Final = closing
        self.patience: Final = patience
        self.latest: Final = latest
        self.written = 0
        self.outcome: Outcome | None = None
        self.on_settled: Callable[[], object] | None = None
        """Called when the outcome is fixed, in the midst of a write perhaps: it must be quick, must
        not raise, and must not touch the queue."""

    @property
    def total(self) -> int:
        """Bytes admitted."""
        return len(self.data)

    def due(self, taken: float) -> float:
        """When it ends unwritten, if the last byte of the queue was taken at ``taken``."""
        if self.patience is None:
            return self.deadline
        return min(self.latest, max(self.deadline, taken + self.patience))

    @property
    def all_written(self) -> bool | None:
        """Whether every byte reached the PTY; None while there is no outcome."""
        return None if self.outcome is None else self.outcome == "written"

    def settle(self, outcome: Outcome) -> None:
        """Fix the outcome. The first one stays."""
        if self.outcome is None:
            self.outcome = outcome
            if self.on_settled is not None:
                self.on_settled()
