"""Writes a recording: asciicast v3, one JSON value a line. Sans-IO.

Times are milliseconds of any one clock; an interval is what was rounded off before too, so that
errors do not add up.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Mapping
from typing import Final

from termnode.view.messages import Ended, Keyframe, Output, Resized

VERSION: Final = 3
MAX_EVENT: Final = 65_536
"""Bytes of output in one event; readers may keep a line whole."""

_KEPT: Final = ("TERM", "SHELL")
"""Of the environment: anything else in it may be private."""

Told = Keyframe | Output | Resized | Ended


class CastWriter:
    """Turns what a pane is told to do into the lines of a file, given whole to ``write``.

    ``timestamp`` is Unix time in seconds; ``environment`` is that of the pane's program, of which
    TERM and SHELL are written. What the program's command was is not written.
    """

    def __init__(
        self, write: Callable[[str], object], timestamp: int, environment: Mapping[str, str]
    ) -> None:
        self._write = write
        self._timestamp = timestamp
        self._environment = {name: environment[name] for name in _KEPT if name in environment}
        self._told_ms: int | None = None
        self._size = 0, 0
        self._text = codecs.getincrementaldecoder("utf-8")("replace")

    def take(self, message: Told) -> None:
        """Write one message down; the first must be a keyframe. Bytes that are no UTF-8 become
        U+FFFD: a recording is text."""
        match message:
            case Keyframe():
                self._begin(message)
                self._resize(message.cols, message.rows, message.time_ms)
                self._text.reset()  # of a character that was cut by a gap no rest will come
                self._output(message.ansi, message.time_ms)
            case Output():
                self._output(message.data, message.time_ms)
            case Resized():
                self._resize(message.cols, message.rows, message.time_ms)
            case Ended():
                self._event(message.time_ms, "x", exit_status(message.state))

    def _begin(self, first: Keyframe) -> None:
        """The header, once."""
        if self._told_ms is not None:
            return
        self._told_ms = first.time_ms
        self._size = first.cols, first.rows
        term = {"cols": first.cols, "rows": first.rows}
        kind = self._environment.get("TERM")
        header = {
            "version": VERSION,
            "term": {**term, **({"type": kind} if kind else {})},
            "timestamp": self._timestamp,
            **({"title": first.title} if first.title else {}),
            "env": self._environment,
        }
        self._line(header)

    def _resize(self, cols: int, rows: int, time_ms: int) -> None:
        if (cols, rows) != self._size:
            self._size = cols, rows
            self._event(time_ms, "r", f"{cols}x{rows}")

    def _output(self, data: bytes, time_ms: int) -> None:
        for at in range(0, len(data), MAX_EVENT):
            text = self._text.decode(data[at : at + MAX_EVENT])
            if text:
                self._event(time_ms, "o", text)

    def _event(self, time_ms: int, code: str, data: str) -> None:
        before = self._told_ms
        assert before is not None, "the first message is a keyframe"
        self._told_ms = max(time_ms, before)
        self._line([(self._told_ms - before) / 1000, code, data])

    def _line(self, value: object) -> None:
        self._write(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")


def exit_status(state: str) -> str:
    """The number that a shell gives for how a program ended; empty when nobody knows."""
    how, _, number = state.partition(" ")
    if not number.isdigit():
        return ""
    return str(128 + int(number)) if how == "signal" else number
