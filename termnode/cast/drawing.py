"""Draws a recording's screen into a terminal of any size. Sans-IO.

The terminal is given cells only, drawn from an emulator's screen, and never a sequence of the
recording: whoever made that cannot set the clipboard, ask the terminal or change its modes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from termnode.terminal.engine import Engine, Run
from termnode.terminal.render.ansi import ansi_row
from termnode.terminal.render.cells import clip, columns, width_of

ENTER: Final = b"\x1b[?1049h\x1b[?7l\x1b[m\x1b[2J\x1b[H"
LEAVE: Final = b"\x1b[?7h\x1b[?25h\x1b[m\x1b[?1049l"
"""After any drawing, whatever part of it was written."""


class Drawing:
    """What of an engine's screen fits into ``cols`` by ``rows``, from the top left."""

    def __init__(self, engine: Engine, cols: int, rows: int) -> None:
        self._engine = engine
        self._width = width_of(engine.name)
        self._cols, self._rows = cols, rows
        self._all = True

    def feed(self, text: str) -> None:
        """The recording's terminal is told this."""
        self._engine.feed(text.encode("utf-8", "replace"))
        self._engine.take_replies()
        self._engine.take_events()

    def resize(self, cols: int, rows: int) -> None:
        """The recording's terminal has another size."""
        self._engine.resize(cols, rows)
        self._all = True

    def fit(self, cols: int, rows: int) -> None:
        """The terminal that is drawn into has another size, or was drawn into by others."""
        self._cols, self._rows = cols, rows
        self._all = True

    def frame(self) -> bytes:
        """What is to be written now, to show what changed since the last frame."""
        return "".join(self._parts()).encode("utf-8", "replace")

    def last_screen(self) -> str:
        """The screen as lines, without the blank ones at its end."""
        rows = [ansi_row(self._clipped(runs)) for runs in self._engine.runs()]
        while rows and not rows[-1]:
            rows.pop()
        return "".join(f"{row}\r\n" for row in rows)

    def _parts(self) -> Iterator[str]:
        dirty = self._engine.take_dirty()
        if self._all:
            self._all = False
            yield "\x1b[m\x1b[2J"
            dirty = frozenset(range(self._engine.rows))
        yield "\x1b[?25l"
        for y in sorted(dirty):
            if y < min(self._rows, self._engine.rows):
                (runs,) = self._engine.runs(y, 1)
                # Erased first: in the last column erasing would take the last character away.
                yield f"\x1b[{y + 1}H\x1b[K{ansi_row(self._clipped(runs))}"
        cursor = self._engine.cursor
        if cursor.visible and cursor.x < self._cols and cursor.y < self._rows:
            yield f"\x1b[{cursor.y + 1};{cursor.x + 1}H\x1b[?25h"

    def _clipped(self, runs: Sequence[Run]) -> Sequence[Run]:
        """What fits; a wide character of which half would fit does not."""
        if self._engine.cols <= self._cols:
            return runs
        fit = clip(runs, 0, self._cols, self._width)
        wide = sum(columns(text, self._width) for text, _ in fit)
        return fit if wide <= self._cols else clip(runs, 0, self._cols - 1, self._width)
