"""The person's `config.toml`, read: one file for the view and for what a model may do.

`$XDG_CONFIG_HOME/termnode/config.toml`, else `~/.config/termnode/config.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

T = TypeVar("T")

MAX_BYTES: Final = 65_536

_AT_LINE: Final = re.compile(r"\(at line (\d+)")


class ConfigError(Exception):
    """What is wrong, on which line (from 1; None: the file as a whole), and what to do.

    The text never repeats a value that the file has.
    """

    def __init__(self, path: Path, line: int | None, text: str) -> None:
        super().__init__(f"{path.name}{'' if line is None else f', line {line}'}: {text}")
        self.path = path
        self.line = line
        self.text = text


class Wrong(ValueError):
    """What is wrong, and ``where``: the names of the sections and of the key."""

    def __init__(self, where: tuple[str, ...], text: str) -> None:
        super().__init__(text)
        self.where = where


def locate(environment: Mapping[str, str]) -> Path:
    """Where the file is; a relative XDG_CONFIG_HOME counts as none, as its standard says."""
    base = environment.get("XDG_CONFIG_HOME", "")
    home = Path(environment.get("HOME", "/"))
    return (Path(base) if base.startswith("/") else home / ".config") / "termnode" / "config.toml"


def read(path: Path) -> bytes:
    """What is in the file; nothing where there is none. Raises ConfigError."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return b""
    except OSError as error:
        why = f"it cannot be read ({error.strerror}): correct or remove it"
        raise ConfigError(path, None, why) from None
    if len(data) > MAX_BYTES:
        raise ConfigError(path, None, f"it has more than {MAX_BYTES:,} bytes: make it smaller")
    return data


def parse(data: bytes, path: Path, take: Callable[[Mapping[str, Any]], T]) -> T:
    """What ``take`` makes of the text's table; it may raise Wrong. Raises ConfigError."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(path, line, "this is no UTF-8: save the file as UTF-8") from None
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also a number too long, brackets too deep
        advice = 'this is no TOML: write key = "value", and sections as [keys]'
        raise ConfigError(path, _toml_line(error, text), advice) from None
    try:
        return take(table)
    except Wrong as wrong:
        raise ConfigError(path, _line_of(text, wrong.where), str(wrong)) from None


def section(name: str, value: object) -> Mapping[str, Any]:
    """A section's keys. Raises Wrong when it is none."""
    if not isinstance(value, dict):
        raise Wrong((name,), f"{name} is a section: write [{name}] in a line of its own")
    return value


def _toml_line(error: Exception, text: str) -> int | None:
    if not isinstance(error, tomllib.TOMLDecodeError):
        return None
    found = _AT_LINE.search(str(error))
    return int(found[1]) if found else text.count("\n") + 1


def _line_of(text: str, where: tuple[str, ...]) -> int | None:
    """The line with which the key is there: the last of the shortest beginning that has it."""
    lines = text.splitlines(keepends=True)
    for count in range(1, len(lines) + 1):
        try:
            table: Any = tomllib.loads("".join(lines[:count]))
        except tomllib.TOMLDecodeError:
            continue
        for name in where:
            table = table.get(name) if isinstance(table, dict) else None
        if table is not None:
            return count
    return None
