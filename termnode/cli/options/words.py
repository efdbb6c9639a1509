"""The words that options take: the verb table's, without the time that importing that takes."""

from __future__ import annotations

from typing import Final

ACTIONS: Final = ("press", "release", "click", "move", "drag", "wheel-up", "wheel-down")
BUTTONS: Final = ("left", "middle", "right")
MODIFIERS: Final = ("shift", "alt", "ctrl")
FORMATS: Final = ("text", "styled", "ansi", "html")
EVENT_KINDS: Final = ("quiet", "prompt", "command", "title", "bell", "exit", "layout", "input")
LAYOUTS: Final = (
    "even-horizontal",
    "even-vertical",
    "main-horizontal",
    "main-vertical",
    "tiled",
)
