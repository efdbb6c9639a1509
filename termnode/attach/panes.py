"""One row of a pane as it is to be seen: its program's, or in copy mode a line of its history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from termnode.attach.looks import Looks
from termnode.attach.model import PaneScreen
from termnode.attach.places import PaneSpan
from termnode.attach.runs import EMPTY, Runs, columns, cut, over, restyled
from termnode.attach.ui.state import CopyView, Mark
from termnode.attach.words import fitted
from termnode.terminal.engine import PLAIN, Style
from termnode.terminal.render.cells import Width
from termnode.view.messages import Row, Run3


class Source(NamedTuple):
    """All that the look of a pane's row depends on: compared to know whether it changed."""

    row: Row
    reverse: bool = False
    marks: tuple[Mark, ...] = ()
    position: str = ""


_BLANK = Source(EMPTY)


def source(
    span: PaneSpan, panes: Mapping[int, PaneScreen], copies: Mapping[int, CopyView]
) -> Source:
    """Where the row comes from; blank for a pane that nothing was told of yet."""
    screen = panes.get(span.pane)
    if screen is None:
        return _BLANK
    copy = copies.get(span.pane)
    if copy is None:
        return Source(screen.row(span.y), screen.modes.reverse)
    line = copy.top + span.y
    row = copy.row(line)
    return Source(
        screen.line(line) if row is None else row,
        marks=tuple(copy.marks(line)),
        position="" if span.y else copy.position,
    )


def drawn(span: PaneSpan, shown: Source, looks: Looks, width: Width) -> Sequence[Run3]:
    """Exactly the columns of the span."""
    row: Runs = shown.row
    for mark in shown.marks:
        row = restyled(row, mark.start, min(mark.end, span.end), mark.style, width)
    if shown.position:
        row = _labelled(row, shown.position, span, looks, width)
    cells = cut(row, span.start, span.end, width)
    return [(t, n, _turned(style)) for t, n, style in cells] if shown.reverse else cells


def _labelled(row: Runs, label: str, span: PaneSpan, looks: Looks, width: Width) -> Runs:
    run = fitted(label, span.end - span.start, looks.message, width)
    return over(row, span.end - run[1], [run], width, max(columns(row), span.end))


@lru_cache(1_024)
def _turned(style: Style | None) -> Style:
    """The style on a screen that is reversed as a whole (DECSCNM)."""
    old = style or PLAIN
    return replace(old, reverse=not old.reverse)
