"""Rows put into a reply, in the form asked for, as many as fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, Protocol

from brokerd.client import MAX_RESPONSE_BODY, encode
from termnode.service.looking.snapshot_part import Row
from termnode.service.state import Result
from termnode.terminal.engine import Cursor
from termnode.terminal.render.ansi import ansi_row
from termnode.terminal.render.cells import Width
from termnode.terminal.render.html import HtmlRow, Page
from termnode.terminal.render.objects import run_objects

ROOM: Final = MAX_RESPONSE_BODY - 16 * 1024
"""Bytes of a reply that rows may take. The rest is for the fields beside them, the largest of which
is a title (1,024 characters)."""

_WRAP_COST: Final = 8
"""Bytes that a row's number may take in ``wrapped``."""


class Form(Protocol):
    """Takes rows in, one after the other, and gives the fields of the reply that hold them."""

    styled: bool
    """Whether it needs the looks of a row, or its text alone."""

    def take(self, row: Row, room: int) -> int | None:
        """Take the row in and say the bytes it costs; None, and nothing done, when over ``room``"""

    def result(self) -> Result:
        """The fields, once all rows are in."""


def fill(form: Form, rows: Iterable[Row], room: int = ROOM) -> int | None:
    """Put the rows in that fit into ``room`` bytes; gives the first line left out, or None.

    A row that is too large alone is shortened until it fits.
    """
    left = room
    for row in rows:
        cost = form.take(row, left)
        if cost is None:
            if left < room:
                return row.line
            cost = _take_shortened(form, row, left)
        left -= cost
    return None


def _take_shortened(form: Form, row: Row, room: int) -> int:
    cost = None
    while cost is None:
        row = row.shortened()
        cost = form.take(row, room)
    return cost


def plain(row: Row) -> str:
    """A row of format text."""
    return row.text


def colored(row: Row) -> str:
    """A row of format ansi."""
    return ansi_row(row.runs)


class Joined:
    """``text``: rows joined by newlines, and which of them go on in the next."""

    def __init__(self, render: Callable[[Row], str], *, styled: bool) -> None:
        self.styled = styled
        self._render = render
        self._rows: list[str] = []
        self._wrapped: list[int] = []
        self._cut = False

    def take(self, row: Row, room: int) -> int | None:
        """See Form."""
        text = self._render(row)
        cost = string_bytes(text) + (_WRAP_COST if row.wrapped else 0)
        if cost > room:
            return None
        if row.wrapped:
            self._wrapped.append(len(self._rows))
        self._rows.append(text)
        self._cut |= row.cut
        return cost

    def result(self) -> Result:
        """See Form."""
        cut: Result = {"cut": True} if self._cut else {}
        return {"text": "\n".join(self._rows), "wrapped": self._wrapped, **cut}


class Listed:
    """``lines``: an object per row; ``content`` gives what is in it."""

    def __init__(self, content: Callable[[Row], Result], *, styled: bool) -> None:
        self.styled = styled
        self._content = content
        self._lines: list[Result] = []

    def take(self, row: Row, room: int) -> int | None:
        """See Form."""
        item: Result = {"line": row.line}
        if row.y >= 0:
            item["row"] = row.y
        item |= self._content(row)
        if row.wrapped:
            item["wrapped"] = True
        if row.cut:
            item["cut"] = True
        cost = len(encode(item)) + 1
        if cost <= room:
            self._lines.append(item)
            return cost
        return None

    def result(self) -> Result:
        """See Form."""
        return {"lines": self._lines}


class Paged:
    """``html``: a page. ``cursor`` is shown where it is visible and its row is given."""

    styled = True

    def __init__(self, width: Width, title: str, cursor: Cursor) -> None:
        self._page = Page(width)
        self._title = title
        self._cursor = cursor
        self._rows: list[HtmlRow] = []
        self._defined: set[object] = set()
        self._cut = False

    def take(self, row: Row, room: int) -> int | None:
        """See Form."""
        here = self._cursor.visible and row.y == self._cursor.y
        made = self._page.row(row.runs, self._cursor if here else None)
        fresh = [style for style in made.styles if style not in self._defined]
        cost = string_bytes(made.html) + sum(string_bytes(self._page.rule(s)) for s in fresh)
        if cost > room:
            return None
        self._rows.append(made)
        self._defined.update(fresh)
        self._cut |= row.cut
        return cost

    def result(self) -> Result:
        """See Form."""
        cut: Result = {"cut": True} if self._cut else {}
        return {"html": self._page.page(self._rows, self._title), **cut}


def string_bytes(text: str) -> int:
    """Bytes of a string in a reply, without its quotes, and of a newline after it."""
    if text.isascii() and text.isprintable():
        return len(text) + text.count('"') + text.count("\\") + 2
    return len(encode(text))


def text_line(row: Row) -> Result:
    """A line of format text."""
    return {"text": plain(row)}


def ansi_line(row: Row) -> Result:
    """A line of format ansi."""
    return {"text": colored(row)}


def styled_line(row: Row) -> Result:
    """A line of format styled."""
    return {"runs": run_objects(row.runs)}
