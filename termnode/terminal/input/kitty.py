"""The kitty keyboard protocol, for presses: no key is ever held or let go here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from termnode.terminal.input.functions import kitty_function
from termnode.terminal.input.keyboard import csi, held, shifted
from termnode.terminal.input.legacy import keypad_char
from termnode.terminal.input.names import CHAR, Key

DISAMBIGUATE, EVENT_TYPES, ALTERNATES, ALL_KEYS, TEXT = 1, 2, 4, 8, 16
"""What a program can ask for. A press needs no event type: it is the default."""

_NUMBERS: Final[Mapping[str, int]] = {
    "Tab": 9,
    "Enter": 13,
    "Escape": 27,
    "BSpace": 127,
    **{f"KP{digit}": 57399 + digit for digit in range(10)},
    "KP.": 57409,
    "KP/": 57410,
    "KP*": 57411,
    "KP-": 57412,
    "KP+": 57413,
    "KPEnter": 57414,
}
_PLAIN: Final[Mapping[str, bytes]] = {"Tab": b"\t", "Enter": b"\r", "BSpace": b"\x7f"}


def replaces_legacy(flags: int) -> bool:
    """Whether these flags change what a press sends; the others only add to that."""
    return bool(flags & (DISAMBIGUATE | ALL_KEYS))


def encode_kitty(key: Key, flags: int) -> bytes:
    """The bytes of a pressed key, under flags that replace the legacy encoding."""
    function = kitty_function(key)
    if function is not None:
        return function
    if not flags & ALL_KEYS:
        plain = _text(key).encode() or (_PLAIN.get(key.code) if held(key) == 1 else None)
        if plain:
            return plain
    return _sequence(key, flags)


def _text(key: Key) -> str:
    """What the key would write."""
    if key.ctrl or key.alt:
        return ""
    return shifted(key) if key.code == CHAR else keypad_char(key.code)


def _sequence(key: Key, flags: int) -> bytes:
    number = str(ord(key.char) if key.code == CHAR else _NUMBERS[key.code])
    if flags & ALTERNATES and shifted(key) != key.char:
        number += f":{ord(shifted(key))}"
    modifiers = str(held(key)) if held(key) > 1 else ""
    text = _text(key) if flags & ALL_KEYS and flags & TEXT else ""
    fields = [number, modifiers, ":".join(str(ord(char)) for char in text)]
    return csi(";".join(fields).rstrip(";") + "u")
