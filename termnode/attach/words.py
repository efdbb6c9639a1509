"""Words of the view's own lines, which may have come from programs: made safe and fitted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from termnode.terminal.engine import Style
from termnode.terminal.render.cells import Width
from termnode.view.messages import Run3

_CONTROL: Final = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that turn the direction of text."""

MORE: Final = "…"

_AT_ONCE: Final = 8_192
"""Characters looked at for one line, with the marks that join them."""


def clean(text: str) -> str:
    """The text with a space for each character that is no text."""
    return text if text.isascii() and text.isprintable() else _CONTROL.sub(" ", text)


def fitted(text: str, room: int, style: Style | None, width: Width) -> Run3:
    """The text as a run of at most ``room`` columns; an ellipsis stands for what had no room."""
    shown = clean(text[: 4 * room + 4])
    if len(shown) <= room and shown.isascii():
        return shown, len(shown), style
    kept, count = _first(shown, room, width)
    if len(kept) == len(shown) or not room:
        return kept, count, style
    kept, count = _first(shown, room - 1, width)
    return kept + MORE, count + 1, style


def filled(text: str, room: int, style: Style | None, width: Width) -> Run3:
    """As `fitted`, and blank to exactly ``room`` columns."""
    shown, count, _ = fitted(text, room, style, width)
    return shown + " " * (room - count), room, style


def wrapped(text: str, room: int, width: Width) -> Iterator[str]:
    """The text in lines of at most ``room`` (at least 2) columns, cut at spaces where it can be."""
    rest = clean(text)
    at = 0
    while True:
        end = at + len(_first(rest[at : at + _AT_ONCE], max(room, 2), width)[0])
        if end >= len(rest):
            yield rest[at:]
            return
        space = rest.rfind(" ", at + 1, end + 1)
        end = space if space > 0 else end
        yield rest[at:end]
        at = end + (rest[end] == " ")


def _first(text: str, room: int, width: Width) -> tuple[str, int]:
    """The first cells of ``text`` that fit, and their columns."""
    if text.isascii():
        return text[:room], min(len(text), room)
    count = 0
    for at, char in enumerate(text):
        wide = width(char)
        if count + wide > room:
            return text[:at], count
        count += wide
    return text, count
