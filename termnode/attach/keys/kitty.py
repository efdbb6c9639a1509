"""Keys of the kitty keyboard protocol, the answer that ``CSI number u`` is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from termnode.attach.keys.events import Event, TextEvent
from termnode.attach.keys.naming import held_key, is_text, key_event
from termnode.terminal.input.keyboard import CTRL, SHIFT
from termnode.terminal.input.names import CHAR, Key

_CODES: Final[Mapping[int, str]] = {
    9: "Tab", 13: "Enter", 27: "Escape", 127: "BSpace",
    **{57399 + digit: f"KP{digit}" for digit in range(10)},
    57409: "KP.", 57410: "KP/", 57411: "KP*", 57412: "KP-", 57413: "KP+", 57414: "KPEnter",
    57417: "Left", 57418: "Right", 57419: "Up", 57420: "Down", 57421: "PageUp", 57422: "PageDown",
    57423: "Home", 57424: "End", 57425: "Insert", 57426: "Delete",
}  # fmt: skip
_CHARS: Final[Mapping[int, str]] = {57415: "=", 57416: ","}
"""Keys of the keypad that have no name of their own."""

_RESERVED: Final = range(57344, 63744)
"""Numbers of keys, and no characters."""


def kitty_key(
    numbers: Sequence[int], modifiers: int, text: Sequence[Sequence[int]]
) -> Event | None:
    """The event of a pressed key; None where it has no name.

    ``numbers`` are the key's, what Shift makes of it and the one at its place on a US keyboard
    (0: not told); ``text`` has at most one list, of what it writes.
    """
    if numbers[0] in _CODES:
        return key_event(held_key(_CODES[numbers[0]], modifiers))
    char = _CHARS.get(numbers[0]) or _char(numbers[0])
    if char is None:
        return None
    written = "".join(_char(number) or "" for group in text for number in group)
    if written and not modifiers & ~SHIFT and not (modifiers and written == char):
        return TextEvent(written)  # where Shift makes nothing else of it, that Shift is held counts
    return key_event(_character(char, modifiers, [_char(number) for number in numbers[1:3]]))


def _character(char: str, modifiers: int, others: Sequence[str | None]) -> Key:
    """What the key would be called by its character, so that any program can be told of it.

    With Shift that is the character Shift makes (``M-!``, ``C-_``), but for letters, whose capital
    has its own rules. Ctrl with a letter of another script is Ctrl with the key at that place:
    else there would be no C-c on such a keyboard.
    """
    shifted, base = [*others, None, None][:2]
    if modifiers & CTRL and base and not char.isascii():
        return held_key(CHAR, modifiers, base)
    if modifiers & SHIFT and shifted and shifted.lower() != char:
        return held_key(CHAR, modifiers & ~SHIFT, shifted)
    return held_key(CHAR, modifiers, char)


def _char(number: int) -> str | None:
    if number == 0 or number in _RESERVED or number > 0x10FFFF:
        return None
    return chr(number) if is_text(chr(number)) else None
