"""What the mouse sends: SGR (1006; 1016 in pixels) or the old encoding, of what was asked for.

Source: xterm's control sequences, "Mouse Tracking".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from termnode.terminal.engine import CELL_PIXELS, Modes

OLD_LIMIT: Final = 222
"""The last column and row, from 0, that the old encoding can name: one byte, 33 and up."""

X10, NORMAL, BUTTON, ANY = 9, 1000, 1002, 1003
"""Presses alone; presses and releases; motion with a button held too; all motion."""

_REQUESTED: Final[Mapping[str, tuple[int, ...]]] = {
    "press": (X10, NORMAL, BUTTON, ANY),
    "click": (X10, NORMAL, BUTTON, ANY),
    "release": (NORMAL, BUTTON, ANY),
    "wheel-up": (NORMAL, BUTTON, ANY),
    "wheel-down": (NORMAL, BUTTON, ANY),
    "drag": (BUTTON, ANY),
    "move": (ANY,),
}
"""In which modes the program is told of an action."""

_BUTTONS: Final[Mapping[str, int]] = {"left": 0, "middle": 1, "right": 2}
_NO_BUTTON: Final = 3
_MOTION: Final = 32
_WHEEL: Final[Mapping[str, int]] = {"wheel-up": 64, "wheel-down": 65}
_MODIFIERS: Final[Mapping[str, int]] = {"shift": 4, "alt": 8, "ctrl": 16}


class NotRequested(ValueError):
    """The program has not asked to be told of this kind of action."""


class OutOfRange(ValueError):
    """The old encoding cannot name the cell."""


def encode_mouse(  # noqa: PLR0917 - in the order of the verb's fields
    action: str, button: str, x: int, y: int, modifiers: Collection[str], modes: Modes
) -> bytes:
    """The bytes of one action at column ``x`` and row ``y``, both from 0.

    ``action`` and ``button`` are words of the verb table; "click" is a press and, where releases
    are asked for, a release. ``button`` counts for press, release, click and drag. Raises
    NotRequested, or OutOfRange beyond OLD_LIMIT in the old encoding. Mode 9 knows no modifiers.
    """
    if modes.mouse not in _REQUESTED[action]:
        raise NotRequested("the program has not asked to be told of this: look at modes.mouse")
    if not (modes.mouse_sgr or modes.mouse_pixels or max(x, y) <= OLD_LIMIT):
        raise OutOfRange(f"the program takes columns and rows from 0 to {OLD_LIMIT}")
    place = _centre(x, y) if modes.mouse_pixels else (x + 1, y + 1)
    held = 0 if modes.mouse == X10 else sum(_MODIFIERS[word] for word in set(modifiers))
    parts = ("press", "release") if action == "click" else (action,)
    return b"".join(
        _report(part, button, place, held, sgr=modes.mouse_sgr or modes.mouse_pixels)
        for part in parts
        if modes.mouse in _REQUESTED[part]
    )


def _centre(x: int, y: int) -> tuple[int, int]:
    """The pixel in the middle of a cell, for programs that want pixels (1016)."""
    width, height = CELL_PIXELS
    return x * width + width // 2, y * height + height // 2


def _report(action: str, button: str, place: tuple[int, int], held: int, *, sgr: bool) -> bytes:
    x, y = place
    code = _code(action, button, sgr=sgr) + held
    if sgr:
        return f"\x1b[<{code};{x};{y}{'m' if action == 'release' else 'M'}".encode()
    return b"\x1b[M" + bytes([32 + code, 32 + x, 32 + y])


def _code(action: str, button: str, *, sgr: bool) -> int:
    if action in _WHEEL:
        return _WHEEL[action]
    if action == "move":
        return _NO_BUTTON + _MOTION
    if action == "release" and not sgr:
        return _NO_BUTTON  # the old encoding does not say which one was let go
    return _BUTTONS[button] + (_MOTION if action == "drag" else 0)
