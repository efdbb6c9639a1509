"""The text that a model reads of a screen. Pure (specs/modelterm.md, "What the model reads").

Each row of a program begins with its number, so that nothing in it can be taken for the header or
for another row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from termnode.modelterm.styles import Run, notes

Row = tuple[Run, ...]
"""The runs of one row, trailing blanks of no look left out."""

WARNING: Final = "untrusted output of a program follows"

_FOLDED: Final = 3
"""Blank rows in a row that become one line."""

_UNSEEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters, halves of surrogate pairs, and what breaks a line or turns its direction."""


@dataclass(frozen=True, slots=True)
class Look:
    """A screen as it was at ``revision``, or a page of its history ``back`` rows up.

    ``cursor`` is (row, column) from 1; ``rows`` are as many as the screen has. ``person_inputs`` is
    how often persons had typed there by then.
    """

    id: str
    name: str
    state: str
    cols: int
    lines: tuple[Row, ...]
    cursor: tuple[int, int]
    full_screen: bool
    revision: int
    history: int = 0
    back: int | None = None
    person_typed: bool = False
    person_inputs: int = 0

    @property
    def rows(self) -> int:
        """How many rows the screen has."""
        return len(self.lines)


@dataclass(frozen=True, slots=True)
class Since:
    """What was asked for with ``since``: the revision, and the rows shown then, where known."""

    revision: int
    lines: tuple[Row, ...] | None


def text_of(row: Row) -> str:
    """A row's text without trailing blanks; what cannot be shown is U+FFFD."""
    return _UNSEEN.sub("\ufffd", "".join(text for text, _ in row)).rstrip(" ")


def changed_rows(look: Look, since: Since) -> tuple[int, ...] | None:
    """Numbers of the rows that differ, from 1; None when it is not known, or the size is another.

    By place: a model keeps a picture of rows, and rows that moved are others in it.
    """
    before = since.lines
    if before is None or len(before) != look.rows:
        return None
    pairs = zip(before, look.lines, strict=True)
    return tuple(number for number, (old, new) in enumerate(pairs, start=1) if old != new)


def render(look: Look, *, since: Since | None = None, style: bool = False) -> str:
    """The whole text: header, warning, rows."""
    changed = None if since is None else changed_rows(look, since)
    numbers = range(1, look.rows + 1) if changed is None else changed
    body = _body(look, numbers, style=style)
    return "\n".join([_header(look, since, changed), WARNING, *body])


def _header(look: Look, since: Since | None, changed: Sequence[int] | None) -> str:
    parts = [
        look.state,
        f"{look.cols}x{look.rows}",
        f"cursor {look.cursor[0]},{look.cursor[1]}",
        "full-screen" if look.full_screen else "",
        "" if look.back is None else f"back {look.back} of {look.history}",
        f"revision {look.revision}",
        _extent(since, changed),
        "a person typed here" if look.person_typed else "",
    ]
    return f"[{look.id} {look.name}] " + " | ".join(filter(None, parts))


def _extent(since: Since | None, changed: Sequence[int] | None) -> str:
    if since is None:
        return ""
    return "all rows: too long ago" if changed is None else f"changed since {since.revision}"


def _body(look: Look, numbers: Sequence[int], *, style: bool) -> Iterator[str]:
    width = len(str(look.rows))
    for first, last, line in _folded(look, numbers, style=style):
        if last - first + 1 >= _FOLDED:
            yield f"{'~':>{width}}| {first}-{last} blank"
        else:
            yield from (f"{number:>{width}}|{line}" for number in range(first, last + 1))


def _folded(look: Look, numbers: Sequence[int], *, style: bool) -> Iterator[tuple[int, int, str]]:
    """First and last number, and the line, of each row; blank ones beside each other together."""
    begun: tuple[int, int] | None = None
    for number in numbers:
        line = _line(look.lines[number - 1], style=style)
        if begun is not None and (line or number != begun[1] + 1):
            yield (*begun, "")
            begun = None
        if line:
            yield number, number, line
        else:
            begun = (number if begun is None else begun[0], number)
    if begun is not None:
        yield (*begun, "")


def _line(row: Row, *, style: bool) -> str:
    text = text_of(row)
    looks = notes(row) if style else ""
    return f"{text} {{{looks}}}" if looks else text
