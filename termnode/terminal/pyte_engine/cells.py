"""Cells, rows and pens: what a screen is made of, shared and bounded.

A cell is the text of one column with its style; equal cells are usually one object, so a row is a
list of references. A wide character is a cell with the text followed by a cell with no text.
A row holds only the columns written so far: what is missing on the right is the row's fill.

Every pen (one style) keeps the cells it has made, and the palette keeps the pens. Both forget
everything once they have made a bounded number of things, so a program that never repeats a color,
a link or a cluster costs no more than the cells which are still on the screen or in history.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from termnode.terminal.engine import PLAIN, Style
from termnode.terminal.pyte_engine import sgr

Cell = tuple[str, Style]
"""Text (empty: right half of a wide character) and style."""

BLANK: Final[Cell] = (" ", PLAIN)
"""The only plain blank cell a screen uses itself."""

MAX_LIVE: Final = 16_384
"""Cells, pens and style changes the palette remembers before it forgets all of them."""

MAX_MEMO_PARAMS: Final = 64
"""Characters of SGR parameters worth remembering; longer ones are worked out each time."""


class Row(list[Cell]):
    """The written cells of one row, and whether its text goes on in the next row."""

    wrapped = False
    """Soft wrap. A class default keeps ordinary rows free of an attribute dictionary."""

    fill: Cell = BLANK
    """The cell that stands in all columns which were not written since the row was erased."""


class Pen(dict[str, Cell]):
    """One style and the cells made with it: ``pen[text]`` is the cell for ``text``."""

    __slots__ = ("age", "blank", "palette", "style", "turns")

    def __init__(self, palette: Palette, style: Style) -> None:
        super().__init__()
        self.palette = palette
        self.style = style
        self.turns: dict[str, Pen] = {}
        self.age = -1
        self.blank: Cell = BLANK
        if style is PLAIN:
            self[" "] = BLANK
        elif style.bg is not None:
            # Erasing keeps the background and nothing else (back color erase).
            self.blank = (" ", Style(bg=style.bg))

    def __missing__(self, text: str) -> Cell:
        self.palette.admit(self)
        cell = self[text] = (text, self.style)
        return cell

    def forget(self) -> None:
        """Drop what can be made again; breaks the cycles between pens."""
        self.clear()
        self.turns.clear()
        if self.style is PLAIN:
            self[" "] = BLANK


class Palette:
    """Interns pens by style. ``created`` counts all that was ever made, to pace sweeps."""

    def __init__(self) -> None:
        self.created = 0
        self._live = 0
        self._age = 0  # how often everything was forgotten
        self._pens: dict[Style, Pen] = {}
        self.plain = self.pen(PLAIN)

    def pen(self, style: Style) -> Pen:
        """The pen of a style."""
        found = self._pens.get(style)
        if found is None:
            found = Pen(self, PLAIN if style == PLAIN else style)
            self.admit(found)
        return found

    def turn(self, pen: Pen, params: str) -> Pen:
        """The pen that SGR ``params`` (digits, ``;`` and ``:``) make of ``pen``."""
        after = self.pen(sgr.apply(pen.style, params))
        if len(params) <= MAX_MEMO_PARAMS:
            self.spend(1)
            pen.turns[params] = after
        return after

    def link(self, pen: Pen, uri: str | None) -> Pen:
        """The same look with another hyperlink, or none."""
        return self.pen(replace(pen.style, link=uri))

    def cluster(self, pen: Pen, style: Style, text: str, marks: int) -> Cell:
        """A cell of several code points, ``marks`` of them new; ``pen`` is the likely one."""
        self.spend(marks)
        owner = pen if style is pen.style else self._pens.get(style)
        if owner is None:
            return (text, style)
        cell = owner.get(text)
        if cell is None:
            cell = owner[text] = (text, style)
            self._register(owner)
        return cell

    def admit(self, pen: Pen) -> None:
        """Count one new cell of ``pen`` and keep the pen reachable, or its cells could leak."""
        self.spend(1)
        self._register(pen)

    def _register(self, pen: Pen) -> None:
        if pen.age != self._age:
            pen.age = self._age
            self._pens[pen.style] = pen

    def spend(self, count: int) -> None:
        """Count ``count`` new things; forget everything when there are too many."""
        self.created += count
        self._live += count
        if self._live > MAX_LIVE:
            self._forget()

    def _forget(self) -> None:
        for pen in self._pens.values():
            pen.forget()
        self._pens.clear()
        self._live = 0
        self._age += 1
