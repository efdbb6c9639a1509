"""Runs as objects for JSON: their text, and of their style only what is set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Final

from termnode.terminal.engine import PLAIN, Color, Run, Style

_NAMES: Final = tuple(field.name for field in fields(Style))
_COLORS: Final = frozenset({"fg", "bg", "underline_color"})


def run_objects(runs: Sequence[Run]) -> list[dict[str, object]]:
    """One object per run: ``text`` and the parts of `Style` that are not the default.

    Colours are a palette index (0-255) or ``"#rrggbb"``.
    """
    return [{"text": text, **style_object(style)} for text, style in runs]


def style_object(style: Style) -> dict[str, object]:
    """What a style sets."""
    if style == PLAIN:
        return {}
    return {
        name: color(value) if name in _COLORS else value
        for name in _NAMES
        if (value := getattr(style, name)) != getattr(PLAIN, name)
    }


def color(value: Color) -> int | str | None:
    """A colour as replies say it; None is the default one."""
    return hex_color(value) if isinstance(value, tuple) else value


def hex_color(rgb: tuple[int, int, int]) -> str:
    """``#rrggbb``."""
    return "#{:02x}{:02x}{:02x}".format(*rgb)
