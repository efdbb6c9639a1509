"""What xterm sends when the program has asked for nothing but application modes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from termnode.terminal.engine import Modes
from termnode.terminal.input.functions import xterm_function
from termnode.terminal.input.keyboard import held, shifted
from termnode.terminal.input.names import CHAR, Key

_CONTROL: Final[Mapping[str, int]] = {
    **{chr(code): code & 0x1F for code in range(0x40, 0x7F)},
    " ": 0,
    "2": 0,
    **{str(digit): 0x1B + digit - 3 for digit in range(3, 8)},
    "8": 0x7F,
    "/": 0x1F,
}
"""The control characters that Ctrl makes, as X11 has them."""

_KEYPAD: Final[Mapping[str, str]] = {
    "KPEnter": "M",
    "KP*": "j",
    "KP+": "k",
    "KP-": "m",
    "KP.": "n",
    "KP/": "o",
    **{f"KP{digit}": chr(ord("p") + digit) for digit in range(10)},
}
"""The finals of application keypad mode."""


def encode_legacy(key: Key, modes: Modes) -> bytes:
    """The bytes of a pressed key. What it cannot say of the modifiers is left out, as in xterm."""
    function = xterm_function(key, app_cursor=modes.app_cursor)
    if function is not None:
        return function
    if modes.app_keypad and key.code in _KEYPAD:
        modifiers = held(key)
        return f"\x1bO{modifiers if modifiers > 1 else ''}{_KEYPAD[key.code]}".encode()
    return (b"\x1b" if key.alt else b"") + _without_alt(key)


def control_byte(char: str) -> int | None:
    """The control character that Ctrl and ``char`` make in X11; None when they make none."""
    return _CONTROL.get(char)


def keypad_char(code: str) -> str:
    """The character on a key of the keypad; empty for KPEnter and all other keys."""
    return code[2:] if code in _KEYPAD and code != "KPEnter" else ""


def _without_alt(key: Key) -> bytes:
    if key.code == CHAR:
        return _character(key)
    if key.code == "Tab":
        return b"\x1b[Z" if key.shift else b"\t"
    if key.code == "BSpace":
        return b"\x08" if key.ctrl else b"\x7f"
    if key.code == "Escape":
        return b"\x1b"
    return keypad_char(key.code).encode() or b"\r"


def _character(key: Key) -> bytes:
    if key.ctrl and key.char == "?":
        return b"\x7f"  # X11 makes nothing of it, but xterm does
    control = control_byte(key.char) if key.ctrl else None
    return shifted(key).encode() if control is None else bytes([control])
