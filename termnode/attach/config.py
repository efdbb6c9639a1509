"""The person's `config.toml`: prefix, keys, colours, mouse. What it does not say is the default.

`termnode.control.config_file` reads it; what it says of models is not the view's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from termnode.attach.ui.bindings import PREFIX
from termnode.attach.ui.settings import settings
from termnode.attach.ui.state import Colours
from termnode.control import config_file
from termnode.control.config_file import MAX_BYTES, ConfigError, locate
from termnode.terminal.input.names import Key

__all__ = ["MAX_BYTES", "Config", "ConfigError", "load", "locate", "parse"]


@dataclass(frozen=True, slots=True)
class Config:
    """``keys`` and ``copy_keys`` change the tables of `bindings`: another action, or None."""

    prefix: str = PREFIX
    mouse: bool = True
    keys: Mapping[Key, str | None] = field(default_factory=dict)
    copy_keys: Mapping[Key, str | None] = field(default_factory=dict)
    colours: Colours = field(default_factory=Colours)


def load(path: Path) -> Config:
    """The configuration; the defaults where there is no file. Raises ConfigError."""
    return parse(config_file.read(path), path)


def parse(data: bytes, path: Path) -> Config:
    """The configuration that the text says. Raises ConfigError."""
    return config_file.parse(data, path, _config)


def _config(table: Mapping[str, Any]) -> Config:
    return Config(**settings(table))
