"""Control sequences to events: xterm's, modifyOtherKeys, kitty's, and a few of older terminals."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from termnode.attach.keys.events import Event, FocusEvent, RawEvent, ReplyEvent
from termnode.attach.keys.kitty import kitty_key
from termnode.attach.keys.mouse import sgr_mouse
from termnode.attach.keys.naming import held_key, is_text, key_event
from termnode.terminal.input.keyboard import ALT, CTRL, SHIFT
from termnode.terminal.input.names import CHAR

Events = tuple[Event, ...]

_LETTERS: Final[Mapping[str, str]] = {
    "A": "Up", "B": "Down", "C": "Right", "D": "Left", "H": "Home", "F": "End",
    "P": "F1", "Q": "F2", "R": "F3", "S": "F4",
}  # fmt: skip
_NUMBERS: Final[Mapping[int, str]] = {
    1: "Home", 2: "Insert", 3: "Delete", 4: "End", 5: "PageUp", 6: "PageDown", 7: "Home", 8: "End",
    11: "F1", 12: "F2", 13: "F3", 14: "F4", 15: "F5", 17: "F6", 18: "F7", 19: "F8", 20: "F9",
    21: "F10", 23: "F11", 24: "F12",
}  # fmt: skip
_KEYPAD: Final[Mapping[str, str]] = {
    "M": "KPEnter", "j": "KP*", "k": "KP+", "m": "KP-", "n": "KP.", "o": "KP/",
    **{chr(ord("p") + digit): f"KP{digit}" for digit in range(10)},
}  # fmt: skip
_CONSOLE: Final[Mapping[str, str]] = dict(zip("ABCDE", ("F1", "F2", "F3", "F4", "F5"), strict=True))
_OTHERS: Final[Mapping[int, str]] = {
    8: "BSpace", 9: "Tab", 13: "Enter", 27: "Escape", 127: "BSpace",
}  # fmt: skip
_RXVT: Final[Mapping[str, int]] = {"~": 0, "$": SHIFT, "^": CTRL, "@": SHIFT | CTRL}
_RXVT_ARROWS: Final[Mapping[str, str]] = {"a": "Up", "b": "Down", "c": "Right", "d": "Left"}

_KEYS: Final = SHIFT | ALT | CTRL
_LOCKS: Final = 64 | 128
"""Caps and Num Lock in a modifier parameter: they say nothing that the key does not."""
_RELEASE: Final = 3

_NUMERIC: Final = re.compile(r"[0-9]{0,7}(?:[;:][0-9]{0,7})*")


def csi_events(parameters: str, intermediates: str, final: str, whole: bytes) -> Events:
    """The events of one control sequence, at most one; none of a key that was let go."""
    if parameters[:1] == "<" and final in "mM":
        report = sgr_mouse(parameters[1:], final)
        return () if report is None else (report,)
    if intermediates or not _NUMERIC.fullmatch(parameters):
        return (ReplyEvent(whole),)  # no key has these; answers do
    return _FINALS.get(final, _unknown)(parameters, final, whole)


def ss3_events(digits: str, final: str) -> Events:
    """The event of ``ESC O``, modifiers and a letter; none where no key sends it."""
    modifiers = max(int(digits or 1) - 1, 0)
    code = _LETTERS.get(final) or _KEYPAD.get(final)
    if code is not None and not modifiers & ~_KEYS:
        return (key_event(held_key(code, modifiers)),)
    if final in _RXVT_ARROWS and not digits:
        return (key_event(held_key(_RXVT_ARROWS[final], CTRL)),)
    return (key_event(held_key(CHAR, 0, "=")),) if final == "X" and not digits else ()


def console_events(letter: str) -> Events:
    """The event of ``CSI [`` and a letter: F1 to F5 of the Linux console."""
    return (key_event(held_key(_CONSOLE[letter], 0)),) if letter in _CONSOLE else ()


def _numbers(parameters: str) -> list[list[int]]:
    return [[int(part or 0) for part in field.split(":")] for field in parameters.split(";")]


def _modifiers(fields: list[list[int]]) -> tuple[int, int]:
    """What is held, and whether it is a press (1), a repetition (2) or a release (3)."""
    field = fields[1] if len(fields) > 1 else [1]
    return max(field[0] - 1, 0) & ~_LOCKS, field[1] if len(field) > 1 else 1


def _key(code: str, fields: list[list[int]], whole: bytes) -> Events:
    modifiers, kind = _modifiers(fields)
    if modifiers & ~_KEYS:
        return (RawEvent(whole),)
    return () if kind == _RELEASE else (key_event(held_key(code, modifiers)),)


def _lettered(parameters: str, final: str, whole: bytes) -> Events:
    fields = _numbers(parameters)
    if len(fields) > 2 or fields[0][0] > 1:
        return (ReplyEvent(whole),)  # where the cursor is
    return _key(_LETTERS[final], fields, whole)


def _numbered(parameters: str, final: str, whole: bytes) -> Events:
    fields = _numbers(parameters)
    number = fields[0][0]
    if number == 27 and len(fields) == 3:
        return _other(fields, whole)
    if number in {200, 201}:
        return (ReplyEvent(whole),)  # a marker where none belongs
    if number not in _NUMBERS:
        return (RawEvent(whole),)
    if final == "~":
        return _key(_NUMBERS[number], fields, whole)
    return (key_event(held_key(_NUMBERS[number], _RXVT[final])),)


def _other(fields: list[list[int]], whole: bytes) -> Events:
    """modifyOtherKeys."""
    modifiers, code = _modifiers(fields)[0], fields[2][0]
    if modifiers & ~_KEYS:
        return (ReplyEvent(whole),)
    if code in _OTHERS:
        held = modifiers | CTRL if code == 8 else modifiers
        return (key_event(held_key(_OTHERS[code], held)),)
    if code > 0x10FFFF or not is_text(chr(code)):
        return (ReplyEvent(whole),)
    return (key_event(held_key(CHAR, modifiers, chr(code))),)


def _kitty(parameters: str, _final: str, whole: bytes) -> Events:
    fields = _numbers(parameters)
    modifiers, kind = _modifiers(fields)
    if kind == _RELEASE:
        return ()
    event = None if modifiers & ~_KEYS else kitty_key(fields[0], modifiers, fields[2:3])
    return (ReplyEvent(whole) if event is None else event,)


def _back_tab(_parameters: str, _final: str, _whole: bytes) -> Events:
    return (key_event(held_key("Tab", SHIFT)),)


def _focus(parameters: str, final: str, whole: bytes) -> Events:
    return (RawEvent(whole),) if parameters else (FocusEvent(final == "I"),)


def _shifted_arrow(parameters: str, final: str, whole: bytes) -> Events:
    if parameters:
        return (ReplyEvent(whole),)
    return (key_event(held_key(_RXVT_ARROWS[final], SHIFT)),)


def _reply(_parameters: str, _final: str, whole: bytes) -> Events:
    return (ReplyEvent(whole),)


def _unknown(_parameters: str, _final: str, whole: bytes) -> Events:
    return (RawEvent(whole),)


_FINALS: Final[Mapping[str, Callable[[str, str, bytes], Events]]] = {
    **dict.fromkeys(_LETTERS, _lettered),
    **dict.fromkeys(_RXVT, _numbered),
    **dict.fromkeys(_RXVT_ARROWS, _shifted_arrow),
    **dict.fromkeys("nty", _reply),
    "u": _kitty,
    "Z": _back_tab,
    "I": _focus,
    "O": _focus,
}
