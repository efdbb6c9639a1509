"""Select Graphic Rendition: what ``CSI ... m`` does to a style.

Sources: ECMA-48 8.3.117 (the numbers), ITU T.416 (colon forms of colors), and what terminals agree
on beyond them: 21 is double underline, ``4:n`` names the underline, 58/59 color it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from termnode.terminal.engine import PLAIN, Color, Style

MAX_PARAMS: Final = 256
"""Parameters of one sequence that count; the rest are left out."""

_COLOR_FIELDS: Final[Mapping[int, str]] = {38: "fg", 48: "bg", 58: "underline_color"}

_CHANGES: Final[dict[int, dict[str, Any]]] = {
    1: {"bold": True},
    2: {"dim": True},
    3: {"italic": True},
    4: {"underline": 1},
    5: {"blink": True},
    6: {"blink": True},
    7: {"reverse": True},
    8: {"conceal": True},
    9: {"strike": True},
    21: {"underline": 2},
    22: {"bold": False, "dim": False},
    23: {"italic": False},
    24: {"underline": 0},
    25: {"blink": False},
    27: {"reverse": False},
    28: {"conceal": False},
    29: {"strike": False},
    39: {"fg": None},
    49: {"bg": None},
    53: {"overline": True},
    55: {"overline": False},
    59: {"underline_color": None},
    **{30 + i: {"fg": i} for i in range(8)},
    **{40 + i: {"bg": i} for i in range(8)},
    **{90 + i: {"fg": 8 + i} for i in range(8)},
    **{100 + i: {"bg": 8 + i} for i in range(8)},
}

_RESET: Final[dict[str, Any]] = {
    name: getattr(PLAIN, name) for name in Style.__dataclass_fields__ if name != "link"
}
"""SGR 0 leaves the hyperlink alone: that belongs to OSC 8."""


def apply(style: Style, params: str) -> Style:
    """``style`` after SGR ``params``. Unknown numbers and broken colors change nothing."""
    changes: dict[str, Any] = {}
    items = (params or "0").split(";", MAX_PARAMS)[:MAX_PARAMS]
    at = 0
    while at < len(items):
        at += _step(items, at, changes)
    return replace(style, **changes) if changes else style


def _step(items: list[str], at: int, changes: dict[str, Any]) -> int:
    """Apply the parameter at ``at``; returns how many parameters it took."""
    item = items[at]
    if ":" in item:
        _colon(item.split(":"), changes)
        return 1
    code = number(item)
    if code in _COLOR_FIELDS:
        return _semicolon_color(items, at, _COLOR_FIELDS[code], changes)
    changes.update(_CHANGES.get(code, {}) if code else _RESET)
    return 1


def number(text: str) -> int:
    """A parameter as a number; nothing, too much, or one with a colon in it is 0."""
    return int(text) if text.isdecimal() and len(text) <= 9 else 0


def _semicolon_color(items: list[str], at: int, field: str, changes: dict[str, Any]) -> int:
    """``38;5;n`` or ``38;2;r;g;b``, as spelled before colons came into use."""
    kind = number(items[at + 1]) if at + 1 < len(items) else 0
    if kind == 5:
        _set_color(changes, field, _indexed(items[at + 2 : at + 3]))
        return 3
    if kind == 2:
        _set_color(changes, field, _rgb(items[at + 2 : at + 5]))
        return 5
    return 2


def _colon(parts: list[str], changes: dict[str, Any]) -> None:
    """``4:n``, ``38:5:n``, ``38:2:r:g:b`` or, with a color space, ``38:2:i:r:g:b``."""
    code, kind = number(parts[0]), number(parts[1])
    if code == 4:
        changes.update({"underline": kind} if kind <= 5 else {})
    elif code in _COLOR_FIELDS and kind == 5:
        _set_color(changes, _COLOR_FIELDS[code], _indexed(parts[2:3]))
    elif code in _COLOR_FIELDS and kind == 2:
        rgb = parts[3:6] if len(parts) > 5 else parts[2:5]
        _set_color(changes, _COLOR_FIELDS[code], _rgb(rgb))


def _set_color(changes: dict[str, Any], field: str, color: Color) -> None:
    if color is not None:
        changes[field] = color


def _indexed(parts: list[str]) -> Color:
    """A palette index, when there is one within 0-255."""
    value = number(parts[0]) if parts and ":" not in parts[0] else 256
    return value if value <= 255 else None


def _rgb(parts: list[str]) -> Color:
    """Three parts, each cut to 255; None when one is missing."""
    if len(parts) != 3 or any(":" in part for part in parts):
        return None
    red, green, blue = (min(number(part), 255) for part in parts)
    return red, green, blue
