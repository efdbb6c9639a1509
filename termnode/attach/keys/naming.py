"""One spelling for each key."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from termnode.attach.keys.events import Event, KeyEvent, TextEvent
from termnode.terminal.input.keyboard import ALT, CTRL, SHIFT, pressed, shifted
from termnode.terminal.input.names import CHAR, Key, parse_key


def held_key(code: str, modifiers: int, char: str = "") -> Key:
    """A key with the SHIFT, ALT and CTRL of ``modifiers``."""
    return Key(code, char, bool(modifiers & CTRL), bool(modifiers & ALT), bool(modifiers & SHIFT))


def key_event(key: Key) -> Event:
    """The event of a key: text where nothing but Shift is held with a character."""
    key = _canonical(key)
    if key.code == CHAR and not (key.ctrl or key.alt or key.shift):
        return TextEvent(key.char)
    return KeyEvent(_name(key))


def with_alt(event: Event) -> Event | None:
    """The same key with Alt; None for what is no key or has Alt already."""
    key = parse_key(event.name) if isinstance(event, KeyEvent) else None
    return None if key is None or key.alt else key_event(replace(key, alt=True))


def is_text(char: str) -> bool:
    """Whether a character can be typed: no control character, no half of a surrogate pair."""
    return unicodedata.category(char) not in {"Cc", "Cs"}


_CONTROLS: Final[Mapping[int, Key]] = {
    code: parse_key(f"0x{code:x}") for code in (*range(0x20), 0x7F)
}


def control_key(code: int) -> Key:
    """The key that sends a control character, below 0x20 or 0x7F."""
    return _CONTROLS[code]


def _canonical(key: Key) -> Key:
    key = pressed(key)
    if key.code == "Tab" and key.shift:
        return replace(key, code="BTab", shift=False)
    if key.code == CHAR and not key.ctrl and shifted(key) != key.char:
        return replace(key, char=shifted(key), shift=False)
    return key


def _name(key: Key) -> str:
    prefixes = "C-" * key.ctrl + "M-" * key.alt + "S-" * key.shift
    return prefixes + ("Space" if key.char == " " else key.char or key.code)
