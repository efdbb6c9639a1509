"""How many columns text takes: each code point on its own, by wcwidth.

The rule of this engine, in one place: width 2 takes two columns, width 0 (combining marks, joiners,
variation selectors) joins the cell before it, everything else takes one column. A sequence joined
by ZWJ is the sum of its parts. Sequences never change the width of a character already drawn.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import groupby
from typing import Final

from wcwidth import wcwidth

MAX_CLUSTER: Final = 32
"""Code points of one cell; further marks are dropped, so a cell costs bounded time and space."""

_SCANNED: Final = (
    (0x20, 0x7F),
    (0xA0, 0x3400),
    (0xA000, 0xAC00),
    (0xF900, 0x10000),
    (0x1F000, 0x1FB00),  # emoji
)
_UNIFORM_WIDE: Final = "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\U00020000-\U0002fffd"
"""Ideographs and Hangul syllables: too many to scan one by one, and all of them are wide."""


def _classes() -> dict[int, str]:
    """Width to the code points that have it, as ranges of a character class."""
    ranges: defaultdict[int, list[str]] = defaultdict(list)
    for low, high in _SCANNED:
        for columns, run in groupby(range(low, high), key=lambda code: wcwidth(chr(code))):
            codes = list(run)
            ranges[columns].append(f"\\U{codes[0]:08x}-\\U{codes[-1]:08x}")
    return {columns: "".join(parts) for columns, parts in ranges.items()}


_CLASSES: Final = _classes()
SEGMENTS: Final = re.compile(
    f"([{_CLASSES[1]}]+)|([{_CLASSES[2]}{_UNIFORM_WIDE}]+)|([{_CLASSES[0]}]+)|(.)",
    re.DOTALL,
)
"""Text cut into runs: group 1 narrow, 2 wide, 3 zero-width, 4 one code point of another block."""


def width(char: str) -> int:
    """Columns of one code point: 0, 1 or 2."""
    return max(wcwidth(char), 0)


def is_wide(text: str) -> bool:
    """Whether a cell with this text is the left half of a wide character."""
    return len(text) > 0 and width(text[0]) == 2
