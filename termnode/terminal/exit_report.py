"""How a terminal's program ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class WaitStatus(Protocol):
    """What the pane host tells of a program's end, from its wait status."""

    @property
    def code(self) -> int | None:
        """Exit code; None when a signal ended it."""

    @property
    def signal(self) -> int | None:
        """Number of the signal that ended it."""

    @property
    def core(self) -> bool:
        """Whether it dumped core."""


@dataclass(frozen=True, slots=True)
class ExitReport:
    """How the program ended; all its own output has been fed to the engine by then."""

    code: int | None
    signal: int | None
    core: bool
    holders: tuple[int, ...] = ()
    """Processes that still hold the terminal, and may write more; named up to a small number."""

    @classmethod
    def of(cls, status: WaitStatus, holders: list[int]) -> ExitReport:
        """The report of a wait status."""
        return cls(status.code, status.signal, status.core, tuple(holders))
