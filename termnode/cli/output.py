"""Tables and colours for people; colours only on a terminal that wants them."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Sequence

DIM, BOLD, RED, GREEN, YELLOW = "2", "1", "31", "32", "33"


def paint(text: str, colour: str) -> str:
    """``text`` in ``colour`` when standard output is a terminal and NO_COLOR is not set."""
    if not sys.stdout.isatty() or "NO_COLOR" in os.environ:
        return text
    return f"\x1b[{colour}m{text}\x1b[0m"


def clean(text: str) -> str:
    """``text`` without control and formatting characters: it comes from a program in a pane."""
    return "".join(
        char if unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} else "\ufffd"
        for char in text
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Left-aligned columns with a head line; the last column is not padded."""
    cells = [list(head), *(list(map(clean, row)) for row in rows)]
    widths = [max(_width(row[column]) for row in cells) for column in range(len(head))]
    lines = [
        "  ".join(_padded(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]
    return "\n".join([paint(lines[0], DIM), *lines[1:]])


def _width(text: str) -> int:
    """Cells that the text takes; wide characters take two."""
    if text.isascii():
        return len(text)
    from wcwidth import wcswidth  # its tables cost a command 20 ms, and most need none

    return max(0, wcswidth(text))


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _width(text))


def span(milliseconds: float | None) -> str:
    """A time span as people say it: ``3s``, ``12m``, ``5h``, ``2d``; ``-`` when there is none."""
    if milliseconds is None:
        return "-"
    amount = milliseconds / 1000
    for unit, size in (("s", 60), ("m", 60), ("h", 24)):
        if amount < size:
            return f"{int(amount)}{unit}"
        amount /= size
    return f"{int(amount)}d"
