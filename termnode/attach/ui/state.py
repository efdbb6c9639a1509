"""What there is to draw besides the panes: what composing reads, and the controller writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from termnode.terminal.engine import Color, Style
from termnode.view.messages import Row

MESSAGE_S: Final = 4.0
"""Seconds that a message stays."""


@dataclass(frozen=True, slots=True)
class Colours:
    """Of what the view itself draws; each is None (the terminal's own), 0-255 or RGB."""

    border: Color = 8
    active_border: Color = 2
    status_fg: Color = 0
    status_bg: Color = 2
    message_fg: Color = 0
    message_bg: Color = 3
    overlay_fg: Color = None
    overlay_bg: Color = None
    selection_fg: Color = 0
    selection_bg: Color = 3
    match_fg: Color = 0
    match_bg: Color = 6


@dataclass(frozen=True, slots=True)
class Box:
    """One overlay. ``lines`` are whole, whatever the size; ``top`` is the first to be shown.

    ``selected`` is the index of a line to be marked. ``footer`` is shown whatever the size.
    """

    title: str
    lines: tuple[str, ...]
    footer: str = ""
    top: int = 0
    selected: int | None = None
    question: bool = False
    """Drawn where no pane draws: panes are not shown in its rows, at the full width."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Columns from ``start`` to before ``end`` of a row, as they are to look; later marks win."""

    start: int
    end: int
    style: Style


class CopyView(Protocol):
    """A pane in copy mode: what is drawn at its place instead of what its program shows."""

    @property
    def top(self) -> int:
        """The number of the line in the first row."""

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and row of the copy cursor, inside the pane."""

    @property
    def position(self) -> str:
        """As tmux shows it at the right of the first row: ``[12/340]``, lines above the end."""

    def row(self, line: int) -> Row | None:
        """The runs of a line; None when it has not come yet, or can no longer be read."""

    def marks(self, line: int) -> Sequence[Mark]:
        """What is selected or found in that line."""


@dataclass(frozen=True, slots=True)
class PromptView:
    """A line that is being written, in place of the status line; ``cursor`` is an index of it."""

    text: str
    cursor: int


@dataclass(slots=True)
class Ui:
    """All there is to draw besides panes and status. Written by the controller alone,

    but for ``offset`` and ``tab_spans``, which whoever composes sets with each frame: the mouse is
    understood by them.
    """

    colours: Colours = field(default_factory=Colours)
    read_only: bool = False
    prefix: bool = False
    """The prefix was pressed, and the next key is a command."""
    copies: dict[int, CopyView] = field(default_factory=dict)
    """By pane id."""
    boxes: list[Box] = field(default_factory=list)
    """The last one is on top. At most three."""
    prompt: PromptView | None = None
    message: str | None = None
    """In place of the status line until it expires."""
    offset: tuple[int, int] = (0, 0)
    """The column and row of the tab that stands in the first cell of the view."""
    status_row: int | None = None
    """The row of the view that the status line is in; None: the last one."""
    tab_spans: tuple[tuple[int, int, int], ...] = ()
    """(first column, column after the last, tab id) of each tab in the status line."""
    cols: int = 80
    rows: int = 24
    """Size of the view, the status line included."""
