"""Cursor, editing and function keys: one form with modifiers, others without (xterm's PC style)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from termnode.terminal.input.keyboard import csi, held
from termnode.terminal.input.names import Key

_CURSOR: Final[Mapping[str, str]] = {
    "Up": "A",
    "Down": "B",
    "Right": "C",
    "Left": "D",
    "Home": "H",
    "End": "F",
}
_PF: Final[Mapping[str, str]] = {"F1": "P", "F2": "Q", "F3": "R", "F4": "S"}

_NUMBERED: Final[Mapping[str, int]] = {
    "Insert": 2,
    "Delete": 3,
    "PageUp": 5,
    "PageDown": 6,
    "F5": 15,
    "F6": 17,
    "F7": 18,
    "F8": 19,
    "F9": 20,
    "F10": 21,
    "F11": 23,
    "F12": 24,
}


def xterm_function(key: Key, *, app_cursor: bool) -> bytes | None:
    """The sequence of a function key; None for any other key."""
    if key.code in _CURSOR:
        return _lettered(key, _CURSOR[key.code], "O" if app_cursor else "[")
    if key.code in _PF:
        return _lettered(key, _PF[key.code], "O")
    return _numbered(key, _NUMBERED[key.code]) if key.code in _NUMBERED else None


def kitty_function(key: Key) -> bytes | None:
    """The same when the program takes kitty's sequences.

    These are always control sequences, and F3 has a number: its letter would be a cursor report.
    """
    if key.code == "F3":
        return _numbered(key, 13)
    letter = _CURSOR.get(key.code) or _PF.get(key.code)
    return _lettered(key, letter, "[") if letter else xterm_function(key, app_cursor=False)


def _lettered(key: Key, letter: str, plain: str) -> bytes:
    modifiers = held(key)
    return csi(f"1;{modifiers}{letter}") if modifiers > 1 else f"\x1b{plain}{letter}".encode()


def _numbered(key: Key, number: int) -> bytes:
    modifiers = held(key)
    return csi(f"{number};{modifiers}~" if modifiers > 1 else f"{number}~")
