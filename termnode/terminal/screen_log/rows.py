"""The rows of a screen as they were last seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from termnode.terminal.engine import Engine
from termnode.terminal.screen_log.marks import Marks, edited, whole

Look = object
"""Equal looks: equal text in equal styles."""


@dataclass(slots=True)
class Row:
    """A row and when it changed: ``stamp`` is its newest change, also of its look alone."""

    text: str
    look: Look
    stamp: int
    marks: Marks

    def see(self, text: str, look: Look, now: int) -> None:
        """Take in what the row shows now."""
        if look == self.look and text == self.text:
            return
        if text != self.text:
            self.marks = edited(self.marks, self.text, text, now)
            self.text = text
        self.look, self.stamp = look, now


def new_row(text: str, look: Look, now: int) -> Row:
    """A row that is new as a whole."""
    return Row(text, look, now, whole(now))


def read_texts(engine: Engine, top: int, count: int) -> list[str]:
    """``count`` rows from ``top``; what the engine does not have is blank."""
    texts = engine.text(top, count)
    return texts + [""] * (count - len(texts))


def read(engine: Engine, top: int, count: int) -> Sequence[tuple[str, Look]]:
    """Text and look of ``count`` rows from ``top``."""
    if count <= 0:
        return ()
    looks = [*engine.looks(top, count)]
    looks += [()] * (count - len(looks))
    return list(zip(read_texts(engine, top, count), looks, strict=True))
