"""Rows as a page of its own: no script, nothing from outside, nothing of the program but text.

A page holds what a program wrote: it is escaped, and a policy in its head forbids everything but
its own style sheet, should anything ever slip through. Links are left out for the same reason.

How it looks is checked by eye: have a pane show reverse video, wide characters and 256 colours,
open what `termnode screen --format html` prints in a browser, and see that columns are straight,
backgrounds meet, and concealed text cannot be selected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby
from typing import Final

from termnode.terminal.engine import PLAIN, Cursor, Run, Style
from termnode.terminal.render.cells import Cell, Width, cells, clip, columns
from termnode.terminal.render.css import SHEET, declarations

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"

_STEADY: Final = re.compile("[\\x20-\\x7e\\xa0-\\u024f\\u2500-\\u259f]+")
"""Text that a monospaced font has in its own width: Latin, lines and blocks. Any other character
may come from another font, and gets a box of its own width."""

_CURSORS: Final = {0: "k1", 1: "k1", 2: "k1", 3: "k3", 4: "k3", 5: "k5", 6: "k5"}

_Place = tuple[Style, str]
"""A style and the class of the cursor, '' elsewhere."""


@dataclass(frozen=True, slots=True)
class HtmlRow:
    """One row, and the styles that its page must define for it."""

    html: str
    styles: tuple[Style, ...]


class Page:
    """Makes rows and puts them together. A style gets its class when a row first uses it."""

    def __init__(self, width: Width) -> None:
        self._width = width
        self._numbers: dict[Style, int] = {}

    def row(self, runs: Sequence[Run], cursor: Cursor | None = None) -> HtmlRow:
        """A row as HTML; ``cursor`` when it is in this row and visible."""
        placed: list[tuple[str, _Place]] = [(text, (_bare(style), "")) for text, style in runs]
        if cursor is not None:
            placed = self._with_cursor(runs, cursor)
        styles = dict.fromkeys(style for _, (style, _) in placed if style != PLAIN)
        html = "".join(self._run(text, place) for text, place in placed)
        return HtmlRow(html, tuple(styles))

    def rule(self, style: Style) -> str:
        """The CSS rule of a style that a row used."""
        return f"pre .s{self._numbers[style]}{{{declarations(style)}}}"

    def page(self, rows: Sequence[HtmlRow], title: str) -> str:
        """The whole page."""
        styles = dict.fromkeys(style for row in rows for style in row.styles)
        rules = "".join(map(self.rule, styles))
        # A newline straight after <pre> is not shown, so that the first row may be empty.
        body = "\n".join(row.html for row in rows)
        return (
            "<!DOCTYPE html><html><head><meta charset='utf-8'>"
            f"<meta http-equiv='Content-Security-Policy' content=\"{_POLICY}\">"
            f"<title>{escape(title)}</title><style>{SHEET}{rules}</style></head>"
            f"<body><pre>\n{body}\n</pre></body></html>\n"
        )

    def _with_cursor(self, runs: Sequence[Run], cursor: Cursor) -> list[tuple[str, _Place]]:
        """The runs, the one under the cursor cut out; blanks up to it where the row is shorter."""
        width = self._width
        length = sum(columns(text, width) for text, _ in runs)
        filled = [*runs, (" " * (cursor.x + 1 - length), PLAIN)] if length <= cursor.x else runs
        start, end = _cell_at(filled, cursor.x, width)
        parts = (
            (clip(filled, 0, start, width), ""),
            (clip(filled, start, end, width), _CURSORS.get(cursor.shape, "k1")),
            (clip(filled, end, None, width), ""),
        )
        return [(text, (_bare(style), mark)) for part, mark in parts for text, style in part]

    def _run(self, text: str, place: _Place) -> str:
        style, mark = place
        names = [mark] if mark else []
        if style != PLAIN:
            names.append(self._name(style))
        if style.blink:
            names.append("b")
        pieces = self._pieces(text)
        return "".join(_span(piece, [*names, *box], style.conceal) for piece, box in pieces)

    def _name(self, style: Style) -> str:
        return f"s{self._numbers.setdefault(style, len(self._numbers))}"

    def _pieces(self, text: str) -> Iterator[tuple[str, list[str]]]:
        """The text in pieces: cells of uncertain width each with the class of their own box."""
        if _STEADY.fullmatch(text):
            yield text, []
            return
        for steady, group in groupby(cells(text, self._width), key=_is_steady):
            if steady:
                yield "".join(cell for cell, _ in group), []
            else:
                yield from ((cell, ["w" if wide == 2 else "n"]) for cell, wide in group)


def _bare(style: Style) -> Style:
    """The style as far as a page shows it."""
    return style if style.link is None else replace(style, link=None)


def _cell_at(runs: Sequence[Run], x: int, width: Width) -> tuple[int, int]:
    """The columns, first and behind the last, of the cell that covers column ``x``."""
    at = 0
    for text, _ in runs:
        for _, wide in cells(text, width):
            if at <= x < at + wide:
                return at, at + wide
            at += wide
    return x, x + 1


def _is_steady(cell: Cell) -> bool:
    return _STEADY.fullmatch(cell[0]) is not None


def _span(text: str, names: Sequence[str], concealed: bool) -> str:
    shown = escape(text, quote=False)
    if concealed:
        shown = f"<span class='h'>{shown}</span>"
    return f"<span class='{' '.join(names)}'>{shown}</span>" if names else shown
