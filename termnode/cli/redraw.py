"""Lines that are drawn again and again at one place of a terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from wcwidth import wcswidth

_COLOUR: Final = re.compile("\x1b\\[[0-9;]*m")


class Redraw:
    """Makes the bytes that replace what was drawn before. What is drawn fits the terminal."""

    def __init__(self) -> None:
        self._drawn = 0

    def draw(self, lines: Sequence[str], cols: int, rows: int) -> str:
        """What to write so that ``lines`` stand where those before stood."""
        room = max(1, rows - 1)  # the cursor ends in the line below
        shown = [_cut(line, max(1, cols)) for line in lines[:room]]
        if len(lines) > room:
            shown[-1] = _cut(f"... and {len(lines) - room + 1} more", max(1, cols))
        up = f"\x1b[{min(self._drawn, room)}A" if self._drawn else ""
        self._drawn = len(shown)
        return f"{up}\r" + "".join(f"{line}\x1b[K\n" for line in shown) + "\x1b[J"


def _cut(line: str, cols: int) -> str:
    """The line, or as much of it as has room in ``cols`` cells, then without its colours."""
    plain = _COLOUR.sub("", line)
    if wcswidth(plain) <= cols:
        return line
    plain = plain[:cols]
    while wcswidth(plain) > cols:
        plain = plain[:-1]
    return plain
