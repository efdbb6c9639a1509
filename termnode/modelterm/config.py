"""What the person's `config.toml` says of models: off unless it says otherwise."""

from __future__ import annotations

from collections.abc import Mapping

from termnode.control.config_file import ConfigError, locate, parse, read
from termnode.control.model_config import ModelConfig, model_config

__all__ = ["ConfigError", "ModelConfig", "load_config"]


def load_config(environment: Mapping[str, str]) -> ModelConfig:
    """The configuration; the defaults where there is no file.

    Raises ConfigError, which names an unknown section or key and its line.
    """
    path = locate(environment)
    return parse(read(path), path, model_config)
