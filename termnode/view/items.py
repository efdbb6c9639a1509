"""What a person did: the items of `Input`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Final, TypeAlias

from termnode.terminal.engine import MAX_COLS, MAX_ROWS
from termnode.view.codec import BOOLEAN, Codec, integer, need, raw, row, sequence, text

MAX_ITEMS: Final = 1_024
"""Items of one message."""

MAX_TEXT: Final = 65_536
"""Characters of one text, and bytes of one `Raw`."""

MAX_PASTE: Final = 240_000
"""Characters of one `Pasted`: a longer paste comes as several (1 MiB is the limit of a frame)."""

MAX_NAME: Final = 64
"""Characters of a key's name, a mouse action, button or modifier."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key by the name that `termnode.terminal.input.names.parse_key` knows."""

    name: str


@dataclass(frozen=True, slots=True)
class Text:
    """Typed text."""

    text: str


@dataclass(frozen=True, slots=True)
class Pasted:
    """Pasted text; ``more``: the paste goes on in the next `Pasted` for this pane."""

    text: str
    more: bool = False


@dataclass(frozen=True, slots=True)
class Mouse:
    """The mouse, in cells of the pane from 0; words as in `term.mouse`."""

    action: str
    button: str
    x: int
    y: int
    modifiers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Focus:
    """The person's terminal, or the pane in it, has got or lost the focus."""

    has: bool


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes to be passed as they are."""

    data: bytes


Item: TypeAlias = Key | Text | Pasted | Mouse | Focus | Raw

_WORD: Final = text(MAX_NAME)
_PARTS: Final[dict[str, tuple[Callable[..., Item], tuple[Codec, ...]]]] = {
    "k": (Key, (_WORD,)),
    "t": (Text, (text(MAX_TEXT),)),
    "p": (Pasted, (text(MAX_PASTE), BOOLEAN)),
    "m": (
        Mouse,
        (_WORD, _WORD, integer(0, MAX_COLS), integer(0, MAX_ROWS), sequence(_WORD, 8)),
    ),
    "f": (Focus, (BOOLEAN,)),
    "r": (Raw, (raw(MAX_TEXT),)),
}
_LETTERS: Final = {cls: letter for letter, (cls, _) in _PARTS.items()}


def _pack(item: Item) -> list[Any]:
    letter = _LETTERS[type(item)]
    parts = _PARTS[letter][1]
    return [letter, *row(*parts).pack([getattr(item, each.name) for each in fields(item)])]


def _unpack(value: Any) -> Item:  # noqa: ANN401
    known = isinstance(value, list) and value and isinstance(value[0], str) and value[0] in _PARTS
    need(known, "an unknown kind of input")
    make, parts = _PARTS[value[0]]
    return make(*row(*parts).unpack(value[1:]))


ITEM: Final = Codec(_pack, _unpack)
