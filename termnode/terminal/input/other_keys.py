"""xterm's modifyOtherKeys: keys whose modifiers the usual bytes cannot tell get a sequence.

Level 1 leaves alone whatever has usual bytes, Alt in front included; level 2 leaves alone little.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from termnode.terminal.input.keyboard import CTRL, SHIFT, csi, held, shifted
from termnode.terminal.input.legacy import control_byte
from termnode.terminal.input.names import CHAR, Key

_CODES: Final[Mapping[str, int]] = {"Tab": 9, "Enter": 13, "Escape": 27, "BSpace": 0x7F}


def encode_other(key: Key, level: int) -> bytes | None:
    """The sequence of a pressed key at level 1 or above (3 counts as 2); None: the usual bytes."""
    modifiers = held(key)
    if modifiers == 1 or not (key.code == CHAR or key.code in _CODES):
        return None
    return _first_level(key, modifiers) if level == 1 else _second_level(key, modifiers)


def _first_level(key: Key, modifiers: int) -> bytes | None:
    if key.code == CHAR:
        lost = key.ctrl and control_byte(key.char) is None
        return _sequence(ord(shifted(key)), modifiers) if lost else None
    if key.code == "Enter":
        # Alt is there in front already: only Shift would be lost with it.
        modifiers = modifiers if not key.alt else 1 + SHIFT * key.shift
        return _sequence(13, modifiers) if modifiers > 1 else None
    if key.code == "Tab" and not key.alt and not key.shift:
        return _sequence(9, modifiers)
    return None


def _second_level(key: Key, modifiers: int) -> bytes | None:
    return _SECOND[key.code](key, modifiers)


def _character(key: Key, modifiers: int) -> bytes | None:
    code = ord(shifted(key))
    # Shift alone is told only of the keys that Ctrl makes control characters of, and of Space.
    told = modifiers != 1 + SHIFT or code == 0x20 or 0x40 <= code < 0x7F
    return _sequence(code, modifiers) if told else None


def _above(least: int) -> Callable[[Key, int], bytes | None]:
    return lambda key, modifiers: (
        _sequence(_CODES[key.code], modifiers) if modifiers > least else None
    )


def _backspace(key: Key, modifiers: int) -> bytes | None:
    """With Ctrl it sends BS, and that is code 8 then."""
    if not key.ctrl:
        return _sequence(0x7F, modifiers)
    return _sequence(8, modifiers) if modifiers > 1 + CTRL else None


def _sequence(code: int, modifiers: int) -> bytes:
    return csi(f"27;{modifiers};{code}~")


_SECOND: Final[Mapping[str, Callable[[Key, int], bytes | None]]] = {
    CHAR: _character,
    "Tab": _above(1 + SHIFT),
    "Enter": _above(1),
    "Escape": _above(1 + SHIFT),
    "BSpace": _backspace,
}
