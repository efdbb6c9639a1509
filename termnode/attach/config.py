"""The person's `config.toml`: prefix, keys, colours, mouse. What it does not say is the default.

`$XDG_CONFIG_HOME/termnode/config.toml`, else `~/.config/termnode/config.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from termnode.attach.ui.bindings import PREFIX
from termnode.attach.ui.settings import Wrong, settings
from termnode.attach.ui.state import Colours
from termnode.terminal.input.names import Key

MAX_BYTES: Final = 65_536

_AT_LINE: Final = re.compile(r"\(at line (\d+)")


class ConfigError(Exception):
    """What is wrong, on which line (from 1; None: the file as a whole), and what to do.

    The text never repeats what the file says.
    """

    def __init__(self, path: Path, line: int | None, text: str) -> None:
        super().__init__(f"{path.name}{'' if line is None else f', line {line}'}: {text}")
        self.path = path
        self.line = line
        self.text = text


@dataclass(frozen=True, slots=True)
class Config:
    """``keys`` and ``copy_keys`` change the tables of `bindings`: another action, or None."""

    prefix: str = PREFIX
    mouse: bool = True
    keys: Mapping[Key, str | None] = field(default_factory=dict)
    copy_keys: Mapping[Key, str | None] = field(default_factory=dict)
    colours: Colours = field(default_factory=Colours)


def locate(environment: Mapping[str, str]) -> Path:
    """Where the file is; a relative XDG_CONFIG_HOME counts as none, as its standard says."""
    base = environment.get("XDG_CONFIG_HOME", "")
    home = Path(environment.get("HOME", "/"))
    return (Path(base) if base.startswith("/") else home / ".config") / "termnode" / "config.toml"


def load(path: Path) -> Config:
    """The configuration; the defaults where there is no file. Raises ConfigError."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return Config()
    except OSError as error:
        why = f"it cannot be read ({error.strerror}): correct or remove it"
        raise ConfigError(path, None, why) from None
    if len(data) > MAX_BYTES:
        raise ConfigError(path, None, f"it has more than {MAX_BYTES:,} bytes: make it smaller")
    return parse(data, path)


def parse(data: bytes, path: Path) -> Config:
    """The configuration that the text says. Raises ConfigError."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(path, line, "this is no UTF-8: save the file as UTF-8") from None
    try:
        return Config(**settings(tomllib.loads(text)))
    except tomllib.TOMLDecodeError as error:
        line = _toml_line(error, text)
        advice = 'this is no TOML: write key = "value", and sections as [keys]'
        raise ConfigError(path, line, advice) from None
    except Wrong as wrong:
        raise ConfigError(path, _line_of(text, wrong.where), str(wrong)) from None


def _toml_line(error: Exception, text: str) -> int:
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
