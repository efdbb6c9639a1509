"""One row of cells, taken apart into text and runs without any loop over ordinary cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Final, Protocol

from termnode.terminal.engine import PLAIN, Color, Run, Style
from termnode.terminal.ghostty_engine import layout

_Cells = str | list[str]
"""The text of each cell; a string while every cell has one character."""


class Reader(Protocol):
    """What a row asks the library for, about single cells."""

    def grapheme(self, column: int) -> str:
        """The full text of a cell with several code points."""

    def style(self, column: int) -> Style:
        """The style of a cell, without its link."""

    def links(self, start: int, end: int) -> list[str | None]:
        """The links of a range of cells."""


_CONTROL: Final = re.compile("[\0-\x1f\x7f-\x9f]")


def _backgrounds(packed: int, masks: layout.Lanes) -> int:
    """One bit per cell that has no text, only a background color."""
    return (packed >> 1) & masks.ones


def _characters(packed: int, masks: layout.Lanes, cols: int) -> str:
    """One character per cell; SPACER in padding cells, a space in blank ones."""
    points = (packed >> layout.CONTENT_SHIFT) & masks.codepoints
    if blank := _backgrounds(packed, masks):
        points &= ~(blank * layout.CODEPOINT_MASK)
    if spacers := (packed >> layout.SPACER_SHIFT) & masks.ones:
        points |= spacers * ord(layout.SPACER)
    wide = points.to_bytes(cols * layout.CELL_BYTES, "little")
    return wide.decode("utf-32-le", "surrogatepass")[::2].replace("\0", " ")


def _grapheme_columns(packed: int, masks: layout.Lanes) -> list[int]:
    marked = packed & ~(packed >> 1) & masks.ones
    columns = []
    while marked:
        lowest = marked & -marked
        columns.append(lowest.bit_length() // 64)
        marked ^= lowest
    return columns


class Row:
    """One row as copied from the library; ``runs`` is None until somebody asked for it."""

    __slots__ = ("_flags", "_raw", "runs")

    def __init__(self, raw: bytes, flags: int) -> None:
        self._raw = raw
        self._flags = flags
        self.runs: Sequence[Run] | None = None

    @property
    def wrapped(self) -> bool:
        """Whether the row's text goes on in the next row."""
        return bool(self._flags & layout.ROW_WRAP)

    @property
    def background(self) -> bytes:
        """The row as it is, if any of its cells has a background and no text; else empty."""
        masks = layout.lanes(len(self._raw) // layout.CELL_BYTES)
        return self._raw if _backgrounds(int.from_bytes(self._raw, "little"), masks) else b""

    def same(self, other: Row) -> bool:
        """Whether both surely show the same, if no style changed in place."""
        flags = layout.ROW_WRAP | layout.ROW_GRAPHEME
        plain = not (self._flags | other._flags) & layout.ROW_GRAPHEME
        return plain and self._raw == other._raw and not (self._flags ^ other._flags) & flags

    def make_runs(self, reader: Reader) -> None:
        """Fill ``runs``, asking ``reader`` once per stretch of cells with equal looks."""
        cols = len(self._raw) // layout.CELL_BYTES
        masks = layout.lanes(cols)
        packed = int.from_bytes(self._raw, "little")
        characters = _characters(packed, masks, cols)
        cells: _Cells = characters
        if self._flags & layout.ROW_GRAPHEME:
            cells = _join_graphemes(characters, _grapheme_columns(packed, masks), reader)
        looks = _looks(packed, masks, cols)
        runs = _styled(cells, looks, reader) if looks else [(_visible(cells), PLAIN)]
        self.runs = _merge(runs)


def _looks(packed: int, masks: layout.Lanes, cols: int) -> list[int]:
    """What each cell looks like, packed; empty when all are plain."""
    looks = packed & masks.looks
    if blank := _backgrounds(packed, masks):
        looks |= packed & (blank * (layout.CONTENT_MASK << layout.CONTENT_SHIFT | 3))
    if not looks:
        return []
    return memoryview(looks.to_bytes(cols * layout.CELL_BYTES, "little")).cast("Q").tolist()


def _styled(cells: _Cells, looks: list[int], reader: Reader) -> list[Run]:
    runs: list[Run] = []
    start = 0
    for look, group in groupby(looks):
        end = start + len(list(group))
        style = _style(look, start, reader)
        if look & layout.LINK:
            runs += _linked(cells[start:end], reader.links(start, end), style)
        else:
            runs.append((_visible(cells[start:end]), style))
        start = end
    return runs


def _linked(cells: _Cells, links: list[str | None], style: Style) -> list[Run]:
    """Runs of linked cells: equal looks may still have different links."""
    runs: list[Run] = []
    for link, group in groupby(zip(links, cells, strict=True), key=itemgetter(0)):
        runs.append((_visible([cell for _, cell in group]), replace(style, link=link)))
    return runs


def _join_graphemes(cells: str, columns: list[int], reader: Reader) -> list[str]:
    joined = list(cells)
    for column in columns:
        joined[column] = reader.grapheme(column)
    return joined


def _visible(cells: _Cells) -> str:
    """Without padding, and without control characters should the library ever keep one."""
    text = "".join(cells).replace(layout.SPACER, "")
    return text if text.isprintable() else _CONTROL.sub("\ufffd", text)


def _style(look: int, column: int, reader: Reader) -> Style:
    """The style for one cell's looks: none, a bare background, or one that must be read."""
    if look & layout.TAG_BACKGROUND:
        return _background(look)
    if look >> layout.STYLE_SHIFT & layout.STYLE_MASK:
        return reader.style(column)
    return PLAIN


def _background(look: int) -> Style:
    content = look >> layout.CONTENT_SHIFT & layout.CONTENT_MASK
    color: Color = content & 0xFF
    if look & 1:
        color = (content & 0xFF, content >> 8 & 0xFF, content >> 16)
    return Style(bg=color)


def _merge(runs: list[Run]) -> list[Run]:
    """Neighbours of one style joined; trailing plain blanks left out."""
    merged: list[Run] = []
    for text, style in runs:
        if not text:
            continue
        if merged and merged[-1][1] == style:
            merged[-1] = (merged[-1][0] + text, style)
        else:
            merged.append((text, style))
    if merged and merged[-1][1] == PLAIN:
        text = merged.pop()[0].rstrip(" ")
        if text:
            merged.append((text, PLAIN))
    return merged
