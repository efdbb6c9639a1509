"""A pane's output as plain lines, each once it is complete. Sans-IO.

An emulator takes the output, so what is told is what stood on the screen and no sequence is in it.
A line is complete when the cursor is below it: what is changed in it later is not told again. Lines
that one program draws over another way (a full-screen program on the alternate screen) are not
told at all, nor are those that stood there before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from termnode.terminal.engine import Engine, EngineFactory
from termnode.view.messages import Ended, Keyframe, Output, Resized

PIECE: Final = 4_096
"""Bytes fed between two looks: no more lines than history holds can go by in them."""

MAX_ROWS_HELD: Final = 200
"""Rows of one wrapped line that wait for its end."""

_BEFORE: Final = re.compile(rb"(?=\x1b(?:c|\[[0-9;]*[HJf]|\[\?(?:47|1047|1049)[hl]))")
"""Where a program may go back or wipe: what was complete before it is looked at first."""


class LineFollower:
    """Takes messages; gives the text to print, newlines included. ``close`` frees the emulator."""

    def __init__(self, make_engine: EngineFactory) -> None:
        self._make_engine = make_engine
        self._engine: Engine | None = None
        self._next = 0
        """The number of the first line that was not told."""
        self._wipes = 0

    def take(self, message: Keyframe | Output | Resized | Ended) -> str:
        """What is to be printed now. The first message must be a keyframe."""
        match message:
            case Keyframe():
                return self._begin(message)
            case Output():
                return "".join(self._fed(message.data))
            case Resized():
                self._resize(message.cols, message.rows)
                return ""
            case Ended():
                return self.rest()

    def rest(self) -> str:
        """The line in which the cursor stands, when there is something in it."""
        engine = self._engine
        if engine is None or engine.modes.alternate:
            return ""
        last = engine.scrolled + engine.cursor.y
        rows = self._rows(engine, min(self._next, last), last + 1)
        text = "".join(row for row, _ in rows).rstrip(" ")
        self._next = last + 1
        return f"{text}\n" if text else ""

    def close(self) -> None:
        """Free the emulator; may be called again."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _begin(self, first: Keyframe) -> str:
        """What the keyframe shows was told, or missed, or is of a time before."""
        self.close()
        self._engine = engine = self._make_engine(first.cols, first.rows)
        engine.feed(first.ansi)
        self._settle(engine)
        return ""

    def _settle(self, engine: Engine) -> None:
        """Begin with the line in which the cursor stands."""
        self._wipes = engine.main_erasures
        self._next = engine.scrolled
        if not engine.modes.alternate:
            self._next += engine.cursor.y

    def _resize(self, cols: int, rows: int) -> None:
        if self._engine is not None:
            self._engine.resize(cols, rows)
            self._settle(self._engine)

    def _fed(self, data: bytes) -> Iterator[str]:
        engine = self._engine
        assert engine is not None, "the first message is a keyframe"
        for part in _BEFORE.split(data):
            for at in range(0, len(part), PIECE):
                engine.feed(part[at : at + PIECE])
                engine.take_replies()
                yield self._complete(engine)

    def _complete(self, engine: Engine) -> str:
        """The lines that became complete, as text."""
        if engine.modes.alternate:
            return ""
        cursor = engine.scrolled + engine.cursor.y
        if engine.main_erasures != self._wipes:
            self._wipes = engine.main_erasures
            self._next = min(self._next, engine.scrolled)
        if cursor <= self._next:
            return ""
        return "".join(self._told(engine, cursor))

    def _told(self, engine: Engine, cursor: int) -> Iterator[str]:
        """Whole lines before that of the cursor; a very long one in parts."""
        begun: list[str] = []
        for text, goes_on in self._rows(engine, self._next, cursor):
            begun.append(text)
            if not goes_on:
                yield "".join(begun) + "\n"
                begun.clear()
        if len(begun) > MAX_ROWS_HELD:
            yield "".join(begun)
            begun.clear()
        self._next = cursor - len(begun)

    def _rows(self, engine: Engine, first: int, end: int) -> list[tuple[str, bool]]:
        """Rows by number, as far back as there are any, and whether each goes on in the next one:
        then it is as wide as the screen."""
        top = max(first - engine.scrolled, -engine.history_len)
        count = end - engine.scrolled - top
        return [
            (text.ljust(engine.cols) if wrap and text.isascii() else text, wrap)
            for text, wrap in zip(engine.text(top, count), engine.wrapped(top, count), strict=True)
        ]
