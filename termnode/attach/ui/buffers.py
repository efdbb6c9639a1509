"""What was copied: the newest is pasted."""

from __future__ import annotations

from typing import Final

MAX_BUFFERS: Final = 50
MAX_BUFFER: Final = 1 << 20
"""Characters of one; a selection beyond it is not copied."""
MAX_KEPT: Final = 4 << 20
"""Characters of all; the oldest go first."""


class Buffers:
    """Copied texts, newest first."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def add(self, text: str) -> bool:
        """Keep a text; False when it is longer than MAX_BUFFER, and nothing was kept."""
        if len(text) > MAX_BUFFER:
            return False
        self.texts.insert(0, text)
        del self.texts[MAX_BUFFERS:]
        while sum(map(len, self.texts)) > MAX_KEPT:
            self.texts.pop()
        return True

    def newest(self) -> str | None:
        """What is pasted."""
        return self.texts[0] if self.texts else None

    def drop(self, index: int) -> None:
        """Forget one, if it is there."""
        if index < len(self.texts):
            del self.texts[index]

    def listed(self) -> tuple[str, ...]:
        """One line for each: its length and how it begins."""
        return tuple(f"{len(text):>7} {_shown(text)}" for text in self.texts)


def _shown(text: str) -> str:
    start = text[:80].replace("\n", "⏎")
    return "".join(char if char.isprintable() else "·" for char in start)
