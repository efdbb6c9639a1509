"""A terminal without a program, as far as who watches its output needs one."""

from __future__ import annotations

from dataclasses import dataclass, field

from termnode.terminal.engine import Engine
from termnode.terminal.exit_report import ExitReport
from termnode.terminal.taps import Taps


@dataclass
class Pane:
    """A terminal, as far as it is watched."""

    engine: Engine
    taps: Taps = field(default_factory=Taps)
    exit: ExitReport | None = None
    final: bool = False
    closed: bool = False

    def feed(self, data: bytes) -> None:
        self.engine.feed(data)
        self.taps.tell(data)

    def resize(self, cols: int, rows: int) -> None:
        self.engine.resize(cols, rows)
        self.taps.nudge()
