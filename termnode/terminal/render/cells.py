"""Text cut into the columns it takes: by the emulator's own rule, asked of an emulator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Final

from termnode.terminal import engines
from termnode.terminal.engine import Run

Width = Callable[[str], int]
"""Columns of one character: 0 (it joins the cell before it), 1 or 2."""

Cell = tuple[str, int]
"""The text of one cell and its columns."""

_REMEMBERED: Final = 4_096
"""Characters whose width is kept."""


@cache
def width_of(emulator: str) -> Width:
    """The width rule of an emulator (`engines.available`). Keeps one small screen to measure on.

    Raises ValueError for an unknown name, ImportError when it cannot be loaded.
    """
    screen = engines.make(emulator)(8, 1, 0)

    @lru_cache(_REMEMBERED)
    def width(char: str) -> int:
        screen.feed(b"\r\x1b[Kx" + char.encode("utf-8", "replace"))
        return max(0, screen.cursor.x - 1)

    return width


def cells(text: str, width: Width) -> list[Cell]:
    """The cells that ``text`` fills, each with the marks that join it."""
    if text.isascii():
        return [(char, 1) for char in text]
    found: list[Cell] = []
    for char in text:
        columns = width(char)
        if columns or not found:
            found.append((char, columns))
        else:
            before, wide = found[-1]
            found[-1] = (before + char, wide)
    return found


def columns(text: str, width: Width) -> int:
    """How many columns ``text`` takes."""
    return len(text) if text.isascii() else sum(map(width, text))


def clip(runs: Sequence[Run], start: int, end: int | None, width: Width) -> list[Run]:
    """What of a row begins in the columns from ``start`` to before ``end`` (None: all the rest)."""
    kept: list[Run] = []
    at = 0
    for text, style in runs:
        part = _part(text, start - at, None if end is None else end - at, width)
        if part:
            kept.append((part, style))
        at += columns(text, width)
    return kept


def _part(text: str, start: int, end: int | None, width: Width) -> str:
    if end is not None and end <= 0:
        return ""
    if text.isascii():
        return text[max(start, 0) : end]
    at, part = 0, []
    for cell, wide in cells(text, width):
        if at >= start and (end is None or at < end):
            part.append(cell)
        at += wide
    return "".join(part)
