"""Overlays: boxes in the middle of the view, and questions, which have its full width."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from termnode.attach.looks import Looks
from termnode.attach.runs import over
from termnode.attach.ui.state import Box
from termnode.attach.words import clean, filled, fitted, wrapped
from termnode.terminal.engine import Style
from termnode.terminal.render.cells import Width
from termnode.terminal.render.cells import columns as columns_of
from termnode.view.messages import Row, Run3

_FRAME: Final = 4
"""Columns of the two sides of a frame, and rows that a view must have for there to be one."""


_LEAST: Final = 13
"""Columns inside, where the view has them: "100-119/250" is to be read in the frame."""


class _Body(NamedTuple):
    """The lines of a box as they are shown; ``first`` of how many in ``total``."""

    lines: list[Run3]
    first: int
    total: int


def with_boxes(
    rows: Sequence[Row], boxes: Sequence[Box], cols: int, looks: Looks, width: Width
) -> list[Row]:
    """The rows of the view with the boxes over them, the last one on top.

    A question takes rows away from the panes instead of covering a part of them.
    """
    shown = list(rows)
    for box in boxes:
        lines = _framed(box, cols, len(shown), looks, width)
        top = _top(box, len(lines), len(shown))
        for y, line in enumerate(lines, top):
            x = (cols - sum(run[1] for run in line)) // 2
            shown[y] = over(shown[y], x, line, width, cols)
    return shown


def _top(box: Box, height: int, rows: int) -> int:
    return rows - height if box.question else (rows - height) // 2


def _framed(box: Box, cols: int, rows: int, looks: Looks, width: Width) -> list[list[Run3]]:
    """The box as lines of one width, at most ``rows``; without its frame where that has no room."""
    bare = cols <= 2 * _FRAME or rows < _FRAME
    room = cols if bare else cols - _FRAME
    inner = room if box.question else min(room, _widest(box, room, width))
    footer = _footer(box, inner, rows if bare else rows - 2, looks, width)
    body = _body(box, inner, (rows if bare else rows - 2) - len(footer), looks, width)
    lines = [*body.lines, *footer]
    if bare:
        return [[line] for line in lines]
    return [
        _edge("┌┐", box.title, inner, looks.overlay_title, width),
        *([("│ ", 2, looks.overlay), line, (" │", 2, looks.overlay)] for line in lines),
        _edge("└┘", _more(body), inner, looks.overlay, width),
    ]


def _edge(ends: str, text: str, inner: int, style: Style, width: Width) -> list[Run3]:
    shown, count, _ = fitted(f" {text} " if text else "", inner, style, width)
    return [(f"{ends[0]}─{shown}{'─' * (inner - count)}─{ends[1]}", inner + _FRAME, style)]


def _more(body: _Body) -> str:
    """Which part is shown, when not all of it is."""
    if len(body.lines) >= body.total:
        return ""
    return f"{body.first + 1}-{body.first + len(body.lines)}/{body.total}"


def _widest(box: Box, room: int, width: Width) -> int:
    texts = (f" {box.title} ", *box.lines, box.footer)
    return max(_LEAST, *(columns_of(clean(text[:room]), width) for text in texts))


def _footer(box: Box, inner: int, rows: int, looks: Looks, width: Width) -> list[Run3]:
    """At most half of the rows, for the text is to be read too."""
    if not box.footer:
        return []
    lines = list(wrapped(box.footer, inner, width))[: max(rows // 2, 1)]
    return [filled(line, inner, looks.overlay_title, width) for line in lines]


def _body(box: Box, inner: int, rows: int, looks: Looks, width: Width) -> _Body:
    """As many wrapped lines as there is room for, from ``top`` on; the selected one is seen."""
    pieces = _pieces(box.lines, inner, width)
    first = next((at for at, (index, _) in enumerate(pieces) if index >= box.top), len(pieces))
    first = max(0, min(first, len(pieces) - rows))
    if box.selected is not None:
        chosen = [at for at, (index, _) in enumerate(pieces) if index == box.selected]
        if chosen and not first <= chosen[0] < first + rows:
            first = chosen[0]
    lines = [
        filled(piece, inner, looks.selected if index == box.selected else looks.overlay, width)
        for index, piece in pieces[first : first + max(rows, 0)]
    ]
    return _Body(lines, first, len(pieces))


@lru_cache(4)
def _pieces(lines: tuple[str, ...], inner: int, width: Width) -> list[tuple[int, str]]:
    """The wrapped lines, each with the index of the line that it is of."""
    return [
        (index, piece) for index, line in enumerate(lines) for piece in wrapped(line, inner, width)
    ]
