"""Styles as CSS declarations, and the sheet that every page has."""

from __future__ import annotations

from typing import Final

from termnode.terminal.engine import Style
from termnode.terminal.render.objects import hex_color
from termnode.terminal.render.palette import BACKGROUND, FOREGROUND, grounds, rgb

_UNDERLINES: Final = ("", "solid", "double", "wavy", "dotted", "dashed")

SHEET: Final = (
    f"body{{margin:0;background:{hex_color(BACKGROUND)}}}"
    f"pre{{margin:0;padding:1ch;color:{hex_color(FOREGROUND)};font-family:monospace;"
    "line-height:1.25em;direction:ltr;unicode-bidi:bidi-override;tab-size:8}"
    "pre span{display:inline-block;height:1.25em;vertical-align:top}"
    "pre .n,pre .w{width:1ch;overflow:hidden}pre .w{width:2ch}"
    "pre .h{visibility:hidden}"
    "pre .k1{outline:1px solid;outline-offset:-1px}"
    "pre .k3{box-shadow:inset 0 -2px}pre .k5{box-shadow:inset 2px 0}"
    "@keyframes b{50%{color:transparent}}"
    "@media(prefers-reduced-motion:no-preference){pre .b{animation:b 1s steps(1) infinite}}"
)
"""n and w: cells of one and two columns; h: concealed; b: blinking; k: the cursor, by its shape.

Every span is as high as its line, so that backgrounds meet. The order of the characters is that of
the columns, whatever direction a script has.
"""


def declarations(style: Style) -> str:
    """The CSS of a style; blink, conceal and links have none."""
    front, back = grounds(style)
    parts = []
    if front != FOREGROUND:
        parts.append(f"color:{hex_color(front)}")
    if back != BACKGROUND:
        parts.append(f"background:{hex_color(back)}")
    if style.bold:
        parts.append("font-weight:bold")
    if style.italic:
        parts.append("font-style:italic")
    return ";".join(parts + _decoration(style))


def _decoration(style: Style) -> list[str]:
    lines = [
        name
        for name, on in (
            ("underline", style.underline),
            ("overline", style.overline),
            ("line-through", style.strike),
        )
        if on
    ]
    if not lines:
        return []
    parts = [f"text-decoration:{' '.join(lines)}"]
    if style.underline > 1:
        parts.append(f"text-decoration-style:{_UNDERLINES[style.underline]}")
    if style.underline and style.underline_color is not None:
        parts.append(f"text-decoration-color:{hex_color(rgb(style.underline_color, FOREGROUND))}")
    return parts
