"""What a person's terminal sends, as events: no I/O, the clock is an argument."""

from __future__ import annotations

from termnode.attach.keys.events import (
    Event,
    FocusEvent,
    KeyEvent,
    MouseEvent,
    PasteEvent,
    RawEvent,
    ReplyEvent,
    TextEvent,
)
from termnode.attach.keys.parser import InputParser

__all__ = [
    "Event",
    "FocusEvent",
    "InputParser",
    "KeyEvent",
    "MouseEvent",
    "PasteEvent",
    "RawEvent",
    "ReplyEvent",
    "TextEvent",
]
