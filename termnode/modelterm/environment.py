"""The environment that a model's programs get, and the directory they start in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

KEPT: Final = frozenset({"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TZ", "LANG"})
"""Besides LC_*. Nothing else goes along: keys, tokens and sockets of the person stay outside."""

TERM: Final = "xterm-256color"
UTF8: Final = "C.UTF-8"

_LOCALE: Final = re.compile(r"LC_[A-Z]{1,24}")
_UTF8: Final = re.compile(r"\.utf-?8(@|$)", re.IGNORECASE)


def clean(environment: Mapping[str, str], tmux_dir: Path | None = None) -> dict[str, str]:
    """The whole environment of a program: what is kept, TERM, a UTF-8 locale, its own tmux."""
    kept = {name: value for name, value in environment.items() if _is_kept(name, value)}
    kept["TERM"] = TERM
    if not _UTF8.search(_character_locale(kept)):
        kept["LC_ALL"] = UTF8
    if tmux_dir is not None:
        kept["TMUX_TMPDIR"] = str(tmux_dir)
    return kept


def find_root(start: Path) -> Path:
    """The root of the repository around ``start`` (a ``.git`` in it), else ``start`` itself."""
    here = start.absolute()
    return next((each for each in (here, *here.parents) if (each / ".git").exists()), here)


def _is_kept(name: str, value: str) -> bool:
    return (name in KEPT or _LOCALE.fullmatch(name) is not None) and "\0" not in value


def _character_locale(environment: Mapping[str, str]) -> str:
    """The locale by which programs read characters: the first of these that is set (POSIX)."""
    names = ("LC_ALL", "LC_CTYPE", "LANG")
    return next((environment[name] for name in names if environment.get(name)), "")
