"""What all encodings share: which key is pressed physically, and how sequences are written."""

from __future__ import annotations

from dataclasses import replace

from termnode.terminal.input.names import CHAR, Key

SHIFT, ALT, CTRL = 1, 2, 4
"""Bits of a modifier parameter, which is one more than their sum."""


def pressed(key: Key) -> Key:
    """The key on the keyboard: a capital is its letter with Shift, BTab is Tab with Shift."""
    if key.code == "BTab":
        return replace(key, code="Tab", shift=True)
    if key.code == CHAR and _is_capital(key.char):
        return replace(key, char=key.char.lower(), shift=True)
    return key


def _is_capital(char: str) -> bool:
    small = char.lower()
    return small != char and small.upper() == char


def shifted(key: Key) -> str:
    """The character that a pressed key gives: a letter's capital with Shift.

    What Shift makes of other characters depends on the keyboard, so they stay as they are.
    """
    capital = key.char.upper()
    return capital if key.shift and len(capital) == 1 and capital.lower() == key.char else key.char


def held(key: Key) -> int:
    """The modifier parameter: 1 when nothing is held."""
    return 1 + SHIFT * key.shift + ALT * key.alt + CTRL * key.ctrl


def csi(rest: str) -> bytes:
    """A control sequence."""
    return f"\x1b[{rest}".encode("ascii")
