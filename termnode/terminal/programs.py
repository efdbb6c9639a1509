"""What a terminal can tell of the programs on it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

from termnode.terminal import processes
from termnode.terminal.exit_report import ExitReport
from termnode.terminal.master import Master
from termnode.terminal.processes import Foreground, LineDiscipline


class Programs(ABC):
    """The programs on the slave of ``master``; ``pid`` is the first of them, the session leader."""

    def __init__(self, master: Master, pid: int) -> None:
        self.pid: Final = pid
        self.exit: ExitReport | None = None
        """How the first program ended; None while it runs."""
        self._master = master

    @property
    @abstractmethod
    def ended(self) -> bool:
        """Whether the last holder has let go of the terminal, or it was closed."""

    def foreground(self) -> Foreground | None:
        """The process group that reads the keys; None when there is none."""
        return None if self.ended else processes.foreground(self._master.fd, self.pid)

    def foreground_group(self) -> int | None:
        """Its number alone; cheaper."""
        return None if self.ended else processes.foreground_group(self._master.fd)

    def cwd(self) -> str | None:
        """Directory of the foreground program, or else of the pane's own; None when unknown."""
        if self.ended or self.exit is not None:
            return None  # the process ids may be others' by now
        front = self.foreground()
        path = processes.working_directory(front.pgid) if front is not None else None
        return path or processes.working_directory(self.pid)

    def tty(self) -> str | None:
        """The path of the terminal; None when it has ended."""
        return None if self.ended else processes.slave_path(self._master.fd)

    def line_discipline(self) -> LineDiscipline | None:
        """Whether input is taken by lines and echoed; None when the terminal has ended."""
        return None if self.ended else processes.line_discipline(self._master.fd)

    def holders(self) -> list[int]:
        """Processes that have the terminal open. Takes milliseconds."""
        return [] if self.ended else processes.holders(self._master.fd)
