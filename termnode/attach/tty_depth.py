"""How many colours a terminal has, from what its environment says."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

TRUE_COLOR: Final = 1 << 24

_TRUE_COLOR_TERMS: Final = re.compile(
    r"(xterm-)?(kitty|ghostty)|alacritty|wezterm|foot|contour|.*-direct|.*(truecolor|24bit)"
)
"""Terminals that have them and may be reached where COLORTERM is not passed on."""


def depth(environ: Mapping[str, str], colours: Callable[[str], int] | None = None) -> int:
    """16, 256 or TRUE_COLOR. ``colours`` asks terminfo for the number of a TERM (-1: unknown)."""
    term = environ.get("TERM", "")
    if environ.get("COLORTERM", "").lower() in {"truecolor", "24bit"}:
        return TRUE_COLOR
    if _TRUE_COLOR_TERMS.match(term):
        return TRUE_COLOR
    number = (colours or terminfo_colours)(term)
    if number >= TRUE_COLOR:
        return TRUE_COLOR
    return 256 if number >= 256 or "256color" in term else 16


def terminfo_colours(term: str) -> int:
    """What terminfo has for ``term``; -1 where it has nothing, or there is no terminfo.

    Python looks it up once in a process: the first ``term`` counts for all others.
    """
    if not term:
        return -1
    with suppress(ImportError, OSError):
        return _asked(term)
    return -1


def _asked(term: str) -> int:
    import curses  # optional in Python, and loads a C library

    with suppress(curses.error), open("/dev/null", "w") as nowhere:
        curses.setupterm(term, nowhere.fileno())
        return curses.tigetnum("colors")
    return -1
