"""What the person did, cut into messages that fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from termnode.view.items import MAX_ITEMS, MAX_PASTE, MAX_TEXT
from termnode.view.messages import Input, Item, Pasted, Raw, Text

_ROOM: Final = MAX_PASTE
"""Characters of one message: of four bytes each they still fit into a frame."""

_SMALL: Final = 32
"""What an item without text is counted as."""


def inputs(pane: int, items: Iterable[Item]) -> list[Input]:
    """The items in order, in as few messages as they fit in."""
    messages: list[Input] = []
    batch: list[Item] = []
    room = _ROOM
    for item in _cut(items):
        size = _size(item)
        if batch and (size > room or len(batch) == MAX_ITEMS):
            messages.append(Input(pane, tuple(batch)))
            batch, room = [], _ROOM
        batch.append(item)
        room -= size
    return [*messages, Input(pane, tuple(batch))] if batch else messages


def _cut(items: Iterable[Item]) -> Iterator[Item]:
    for item in items:
        match item:
            case Text(text):
                yield from (Text(part) for part in _parts(text, MAX_TEXT))
            case Raw(data):
                starts = range(0, len(data), MAX_TEXT)
                yield from (Raw(data[start : start + MAX_TEXT]) for start in starts)
            case Pasted(text, more):
                yield from _pasted(text, more)
            case _:
                yield item


def _pasted(text: str, more: bool) -> Iterator[Pasted]:
    """An empty end is kept: it ends a paste that was under way."""
    parts = _parts(text, MAX_PASTE) or [""]
    for number, part in enumerate(parts, start=1):
        yield Pasted(part, more=more or number < len(parts))


def _parts(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def _size(item: Item) -> int:
    match item:
        case Text(text) | Pasted(text):
            return len(text)
        case Raw(data):
            return len(data)
        case _:
            return _SMALL
