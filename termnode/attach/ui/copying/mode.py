"""One pane in copy mode: where the person is in its lines, and what is selected or found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from termnode.attach.ui.copying.flat import EMPTY, Flat, flat
from termnode.attach.ui.copying.lines import Lines
from termnode.attach.ui.copying.search import Hunt, Pattern
from termnode.attach.ui.copying.selection import Selection
from termnode.attach.ui.facts import Shown
from termnode.attach.ui.state import Colours, Mark
from termnode.terminal.engine import Style
from termnode.terminal.render.cells import Width
from termnode.view.messages import Row

AHEAD: Final = 100
"""Lines beyond those shown that are asked for before they are needed."""


class Place(NamedTuple):
    """A line and a column, in reading order."""

    line: int
    x: int


@dataclass(slots=True)
class CopyMode:
    """A `CopyView`. ``line`` and ``x`` are the cursor's; ``wish`` is the column it goes back to."""

    pane: int
    cols: int
    rows: int
    lines: Lines
    width: Width
    colours: Colours
    top: int
    line: int
    x: int = 0
    wish: int = 0
    selection: Selection | None = None
    pattern: Pattern | None = None
    hunt: Hunt | None = None
    """A search that waits for lines."""
    copying: bool = False
    """The selection is to be copied once all its lines have come."""
    alternate: bool = False
    """Begun on the alternate screen: its lines can be had only while that is up."""
    leave_at_end: bool = False
    """Begun with the wheel: scrolled down to the end, it is left."""
    flats: dict[int, tuple[Row, Flat]] = field(default_factory=dict)

    @property
    def last_top(self) -> int:
        """The top when scrolled down to the end."""
        return max(self.lines.first, self.lines.end - self.rows)

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and row in the pane."""
        return min(self.x, self.cols - 1), min(max(self.line - self.top, 0), self.rows - 1)

    @property
    def place(self) -> Place:
        """Where the cursor is."""
        return Place(self.line, self.x)

    @property
    def position(self) -> str:
        """Lines above the end, and how many there are: ``[12/340]``."""
        return f"[{self.last_top - self.top}/{self.last_top - self.lines.first}]"

    def row(self, line: int) -> Row | None:
        """The runs of a line."""
        return self.lines.get(line)

    def flat(self, line: int) -> Flat:
        """A line as text; empty while it has not come."""
        row = self.lines.get(line)
        if row is None:
            return EMPTY
        known = self.flats.get(line)
        if known is not None and known[0] is row:
            return known[1]
        if len(self.flats) > 2_048:
            self.flats.clear()
        made = flat(row, self.width)
        self.flats[line] = (row, made)
        return made

    def marks(self, line: int) -> Sequence[Mark]:
        """What is found in a line, then what is selected of it."""
        marks: list[Mark] = []
        if self.pattern is not None:
            look = Style(fg=self.colours.match_fg, bg=self.colours.match_bg)
            found = self.pattern.spans(self.flat(line))
            marks += [Mark(start, end, look) for start, end in found]
        if self.selection is not None:
            span = self.selection.span(line, self.place, self.cols)
            look = Style(fg=self.colours.selection_fg, bg=self.colours.selection_bg)
            marks += [] if span is None else [Mark(*span, look)]
        return marks

    def go(self, line: int, x: int | None = None) -> None:
        """Put the cursor on a line, scrolling as little as needed; ``x``: and to a column."""
        self.line = min(max(line, self.lines.first), self.lines.end - 1)
        if x is not None:
            self.wish = x
        free = self.selection is not None and self.selection.rectangle
        width = self.cols if free else min(self.cols, self.flat(self.line).width)
        self.x = min(max(self.wish, 0), max(0, width - 1))
        self.top = min(max(self.top, self.line - self.rows + 1), self.line)

    def scroll(self, by: int) -> None:
        """Move what is shown by so many lines, and the cursor as far as it must."""
        self.top = min(max(self.top + by, self.lines.first), self.last_top)
        self.go(min(max(self.line, self.top), self.top + self.rows - 1))

    def page(self, by: int) -> None:
        """Scroll, the cursor staying in its row; at an end the cursor goes on to it."""
        top = self.top
        self.top = min(max(top + by, self.lines.first), self.last_top)
        self.go(self.line + (self.top - top if self.top != top else by))

    def show(self, line: int, x: int) -> None:
        """Go to a line that may be far away: then it comes into the middle."""
        if not self.top <= line < self.top + self.rows:
            self.top = min(max(line - self.rows // 2, self.lines.first), self.last_top)
        self.go(line, x)

    def sized(self, cols: int, rows: int) -> None:
        """The pane has another height (or width, its numbers being the same)."""
        self.cols, self.rows = cols, rows
        self.top = min(max(self.top, self.line - rows + 1, self.lines.first), self.last_top)
        self.go(self.line)

    def wanted(self) -> range | None:
        """The next lines to be asked for: what is shown, then what is hunted, copied or near."""
        shown = self.lines.wanted(self.top, self.top + self.rows)
        if shown is not None:
            return shown
        if self.hunt is not None and self.hunt.wants is not None:
            return self.lines.wanted(*self.hunt.wants)
        if self.copying and self.selection is not None:
            return self.lines.wanted(*self.selection.lines(self.place))
        return self.lines.wanted(self.top - AHEAD, self.top + self.rows + AHEAD)


def begin(pane: int, shown: Shown, width: Width, colours: Colours) -> CopyMode:
    """Copy mode of what a pane shows now, the cursor where the program's is."""
    state = shown.state
    mode = CopyMode(
        pane, state.cols, state.rows, Lines(shown), width, colours, state.base, state.base,
        alternate=state.modes.alternate,
    )  # fmt: skip
    mode.go(state.base + min(state.cursor.y, state.rows - 1), state.cursor.x)
    return mode
