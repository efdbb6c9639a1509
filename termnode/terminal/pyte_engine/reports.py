"""Answers to a program's questions. One table; no answer repeats text that the program sent.

Sources: VT510 manual, xterm's control sequences, the kitty keyboard protocol. Sizes in pixels are
those of a nominal cell, as a pane has no pixels. Colors are those of a plain dark terminal: what a
program sets by OSC is not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pyte import graphics

from termnode.terminal.engine import Color, Style
from termnode.terminal.pyte_engine import modes
from termnode.terminal.pyte_engine.csi import Params, at
from termnode.terminal.pyte_engine.motion import ORIGIN
from termnode.terminal.pyte_engine.screen import PyteScreen

Answer = Callable[[PyteScreen, Params], str]

ST: Final = "\x1b\\"
CELL_WIDTH: Final = 8
CELL_HEIGHT: Final = 16
FOREGROUND: Final = "e5e5e5"
BACKGROUND: Final = "000000"

_CAPABILITIES: Final[Mapping[str, str]] = {
    "TN": "xterm-256color",
    "Co": "256",
    "colors": "256",
    "RGB": "8",
}
"""What XTGETTCAP tells, besides that it does not know."""


def _position(prefix: str, suffix: str = "") -> Answer:
    def answer(screen: PyteScreen, _: Params) -> str:
        top = screen.bounds()[0] if ORIGIN in screen.mode else 0
        column = min(screen.cursor.x, screen.columns - 1) + 1
        return f"\x1b[{prefix}{screen.cursor.y - top + 1};{column}{suffix}R"

    return answer


_STATUS: Final[Mapping[int, Answer]] = {5: lambda _s, _p: "\x1b[0n", 6: _position("")}
_EXTENDED_POSITION: Final = _position("?", ";1")


def _private_mode(screen: PyteScreen, params: Params) -> str:
    number = at(params, 0)
    value = modes.report(number in modes.KNOWN_PRIVATE, screen.has_mode(number))
    return f"\x1b[?{number};{value}$y"


def _standard_mode(screen: PyteScreen, params: Params) -> str:
    number = at(params, 0)
    value = modes.report(number in modes.KNOWN_STANDARD, number in screen.mode)
    return f"\x1b[{number};{value}$y"


def _size(screen: PyteScreen, params: Params) -> str:
    lines, columns = screen.lines, screen.columns
    sizes = {
        14: f"\x1b[4;{lines * CELL_HEIGHT};{columns * CELL_WIDTH}t",
        16: f"\x1b[6;{CELL_HEIGHT};{CELL_WIDTH}t",
        18: f"\x1b[8;{lines};{columns}t",
    }
    return sizes.get(at(params, 0), "")


def _only_zero(text: str) -> Answer:
    return lambda _, params: "" if at(params, 0) else text


ANSWERS: Final[Mapping[str, Answer]] = {
    "c": _only_zero("\x1b[?62;22c"),
    ">c": _only_zero("\x1b[>1;100;0c"),
    "=c": _only_zero("\x1bP!|00000000\x1b\\"),
    "n": lambda s, p: _STATUS[at(p, 0)](s, p) if at(p, 0) in _STATUS else "",
    "?n": lambda s, p: _EXTENDED_POSITION(s, p) if at(p, 0) == 6 else "",
    "?$p": _private_mode,
    "$p": _standard_mode,
    ">q": _only_zero("\x1bP>|termnode(pyte)\x1b\\"),
    "?u": lambda s, _: f"\x1b[?{s.kitty[-1]}u",
    "?m": lambda s, p: f"\x1b[>4;{s.modify_other_keys}m" if at(p, 0) == 4 else "",
    "t": _size,
}
"""Key of a control sequence to its answer; an empty answer is none."""


def _rgb(color: str) -> str:
    """``rrggbb`` as X11 writes it, with each part twice as long."""
    return "rgb:" + "/".join(color[i : i + 2] * 2 for i in (0, 2, 4))


def dynamic_color(number: int, end: str) -> str:
    """OSC 10, 11 or 12: foreground, background or cursor color."""
    return f"\x1b]{number};{_rgb(BACKGROUND if number == 11 else FOREGROUND)}{end}"


def palette_color(index: int, end: str) -> str:
    """OSC 4: one of the 256 colors."""
    return f"\x1b]4;{index};{_rgb(graphics.FG_BG_256[index])}{end}"


def setting(screen: PyteScreen, what: str) -> str:
    """DECRQSS: the rendition, the margins or the cursor's shape; else that it is invalid."""
    top, bottom = screen.bounds()
    known = {
        "m": f"{rendition(screen.pen.style)}m",
        "r": f"{top + 1};{bottom + 1}r",
        " q": f"{screen.cursor_shape} q",
    }
    return f"\x1bP1$r{known[what]}{ST}" if what in known else f"\x1bP0$r{ST}"


def capability(name: str) -> str:
    """XTGETTCAP: one terminfo capability, its name in hexadecimal; else that it is invalid."""
    for known, value in _CAPABILITIES.items():
        if known.encode().hex() == name.lower():
            return f"\x1bP1+r{known.encode().hex()}={value.encode().hex()}{ST}"
    return f"\x1bP0+r{ST}"


_FLAGS: Final[tuple[tuple[str, str], ...]] = (
    ("bold", "1"),
    ("dim", "2"),
    ("italic", "3"),
    ("blink", "5"),
    ("reverse", "7"),
    ("conceal", "8"),
    ("strike", "9"),
    ("overline", "53"),
)


def rendition(style: Style) -> str:
    """The SGR parameters that make this style from nothing."""
    parts = ["0"]
    parts += [code for name, code in _FLAGS if getattr(style, name)]
    if style.underline:
        parts.append("4" if style.underline == 1 else f"4:{style.underline}")
    for code, color in (("38", style.fg), ("48", style.bg), ("58", style.underline_color)):
        parts += _color(code, color)
    return ";".join(parts)


def _color(code: str, color: Color) -> list[str]:
    if color is None:
        return []
    if isinstance(color, int):
        return [f"{code}:5:{color}"]
    return [f"{code}:2::{color[0]}:{color[1]}:{color[2]}"]
