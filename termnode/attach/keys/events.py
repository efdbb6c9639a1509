"""What a person did, as their terminal told it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MAX_PASTE: Final = 240_000
"""Bytes of one piece of a paste, as UTF-8; so it has no more characters."""


@dataclass(frozen=True, slots=True)
class KeyEvent:
    """A key that is no text by itself: ``C-b``, ``M-x``, ``Enter``, ``S-F5``.

    `termnode.terminal.input.names.parse_key` knows the name. Every key has one spelling:
    prefixes as C- M- S-, BTab for Tab with Shift, M-A rather than M-S-a, C-S-a with Ctrl.
    """

    name: str


@dataclass(frozen=True, slots=True)
class TextEvent:
    """Characters that were typed, at least one, no control characters. ``d`` is text too."""

    text: str


@dataclass(frozen=True, slots=True)
class PasteEvent:
    """Pasted text as it came, control characters and all; MAX_PASTE bounds it.

    ``more``: it goes on in the next one; nothing else comes in between.
    """

    text: str
    more: bool = False


@dataclass(frozen=True, slots=True)
class MouseEvent:
    """One mouse report, in cells of the terminal from 0. Words are those of `term.mouse`.

    ``action`` is press, release, drag, move, wheel-up or wheel-down; ``button`` is left, middle or
    right (left where none is meant); ``modifiers`` are of shift, alt, ctrl, in this order.
    """

    action: str
    button: str
    x: int
    y: int
    modifiers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FocusEvent:
    """The terminal has got or lost the focus."""

    has: bool


@dataclass(frozen=True, slots=True)
class RawEvent:
    """Bytes that mean no key known here; for the program they are passed as they are."""

    data: bytes


@dataclass(frozen=True, slots=True)
class ReplyEvent:
    """An answer of the terminal to a query, or what only the modes set by the view have made it
    send and no program can be told. Never for a program."""

    data: bytes


Event = KeyEvent | TextEvent | PasteEvent | MouseEvent | FocusEvent | RawEvent | ReplyEvent
