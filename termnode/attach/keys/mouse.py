"""Mouse reports to events: SGR (1006), and the old form of terminals that know no other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from termnode.attach.keys.events import MouseEvent

_BUTTONS: Final = ("left", "middle", "right")
_WHEEL: Final[Mapping[int, str]] = {64: "wheel-up", 65: "wheel-down"}
_NONE: Final = 3
_MOTION: Final = 32
_HELD: Final = ((4, "shift"), (8, "alt"), (16, "ctrl"))
_ALL_HELD: Final = 4 | 8 | 16


def sgr_mouse(parameters: str, final: str) -> MouseEvent | None:
    """The event of ``CSI < code ; x ; y M``; None for buttons that have no word, or no report."""
    fields = parameters.split(";")
    if len(fields) != 3 or not all(field.isdecimal() and len(field) < 8 for field in fields):
        return None
    code, x, y = map(int, fields)
    return _event(code, x, y, released=final == "m")


def old_mouse(three: bytes) -> MouseEvent | None:
    """The event of the three bytes after ``CSI M``. It does not say which button was let go."""
    code, x, y = (byte - 32 for byte in three)
    released = code & ~_ALL_HELD == _NONE
    return _event(code - _NONE if released else code, x, y, released=released)


def _event(code: int, x: int, y: int, *, released: bool) -> MouseEvent | None:
    if x < 1 or y < 1 or code < 0:
        return None
    modifiers = tuple(word for bit, word in _HELD if code & bit)
    what = _action(code & ~_ALL_HELD, released=released)
    return None if what is None else MouseEvent(*what, x - 1, y - 1, modifiers)


def _action(code: int, *, released: bool) -> tuple[str, str] | None:
    """Action and button."""
    if code in _WHEEL:
        return None if released else (_WHEEL[code], "left")
    button = code & _NONE
    if code & ~(_NONE | _MOTION):
        return None
    if code & _MOTION:
        return ("move", "left") if button == _NONE else ("drag", _BUTTONS[button])
    if button == _NONE:
        return None
    return "release" if released else "press", _BUTTONS[button]
