"""How callers name a program, a directory, a pattern. No I/O."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from typing import TypeAlias

Program: TypeAlias = str | Sequence[str] | None
"""A program with its arguments, as a list or in one string; None is the person's shell."""


def argv_of(program: Program) -> list[str] | None:
    """The words of a program. A string is split as a shell splits it; no shell is run.

    Raises ValueError for an open quote.
    """
    if program is None:
        return None
    return shlex.split(program) if isinstance(program, str) else list(program)


def directory_of(cwd: str | os.PathLike[str] | None) -> str | None:
    """An absolute directory: a relative one is this process's."""
    return None if cwd is None else os.path.abspath(cwd)


def direction(*, below: bool) -> str:
    """The word of the service for it."""
    return "v" if below else "h"


_FLAGS = ((re.IGNORECASE, "i"), (re.MULTILINE, "m"), (re.DOTALL, "s"))


def pattern_of(pattern: str | re.Pattern[str]) -> str:
    """A pattern in RE2 syntax; of a compiled one its text and the flags that RE2 has too."""
    if isinstance(pattern, str):
        return pattern
    flags = "".join(letter for flag, letter in _FLAGS if pattern.flags & flag)
    return f"(?{flags}){pattern.pattern}" if flags else pattern.pattern


def milliseconds(seconds: float | None) -> int | None:
    """Whole ones, at least one."""
    return None if seconds is None else max(1, round(1000 * seconds))
