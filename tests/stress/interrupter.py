"""A person at a view who presses C-c alone, at any moment of what goes on at the prompt."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

from termnode.view.messages import Key, Text
from tests.support.typist import LOG, PATIENCE
from tests.support.view_client import Viewer

_PAUSES: Final = (0.001, 0.003, 0.005, 0.01, 0.02, 0.03, 0.05, 0.2)
"""Seconds between two of them: shorter and longer than an admission takes."""


class Interrupter:
    """As `tests.support.typist.Typist`, of whom only the last line is entered."""

    def __init__(self, view: Viewer, seed: int, has_run: Callable[[str], bool]) -> None:
        self.entered: list[str] = []
        self.deeds: list[str] = []
        self._view = view
        self._random = random.Random(seed)
        self._has_run = has_run

    def act(self) -> None:
        """Once more, and then nothing for a moment."""
        self._view.press(Key("C-c"))
        self._view.read(self._random.choice(_PAUSES))

    def last(self) -> None:
        """Clear the line, and enter one that must be run."""
        self._view.until(self._is_free, "the prompt is free again", PATIENCE)
        self.entered.append("h1")
        self._view.press(Text(f"echo h1 >>{LOG}"), Key("Enter"))
        self._view.until(lambda: self._has_run("h1"), "the last line has run", PATIENCE)

    def sees(self) -> list[str]:
        """The last rows that are not blank."""
        return [row for row in self._view.rows() if row][-6:]

    def _is_free(self) -> bool:
        self._view.press(Key("C-c"))
        self._view.read(0.2)
        return self._at_prompt().endswith("$")

    def _at_prompt(self) -> str:
        return "".join(self.sees()[-1:])
