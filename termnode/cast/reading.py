"""Reads a recording: asciicast v2 and v3. Sans-IO: lines in, events out, one at a time."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from termnode.terminal.engine import MAX_COLS, MAX_ROWS

MAX_LINE: Final = 8 * 1024 * 1024
"""Characters of a line."""

_SIZE: Final = re.compile(r"([0-9]{1,4})x([0-9]{1,4})", re.ASCII)


class NotACast(Exception):
    """What was read is no recording that can be played; the message says why and in which line."""


@dataclass(frozen=True, slots=True)
class Header:
    """What is known before the first event. ``idle_limit`` is in seconds."""

    version: int
    cols: int
    rows: int
    title: str
    idle_limit: float | None


@dataclass(frozen=True, slots=True)
class Printed:
    """``text`` was written, ``at`` seconds after the beginning."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Sized:
    """The terminal had another size from then on."""

    at: float
    cols: int
    rows: int


@dataclass(frozen=True, slots=True)
class Over:
    """The program ended; ``status`` is the recording's word for how."""

    at: float
    status: str


CastEvent = Printed | Sized | Over


class CastReader:
    """A recording, read from its lines. Raises NotACast, when made and while it is read.

    Events of other kinds (input, markers, and what later versions add) are passed over, and so is a
    last line without its end: a recorder that was killed left it.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = enumerate(lines, 1)
        self.header = _header(next(self._lines, (1, ""))[1])
        self._at = 0.0

    def events(self) -> Iterator[CastEvent]:
        """The events in order; their times never go back."""
        for number, line in self._lines:
            if not line.strip() or (line.startswith("#") and self.header.version >= 3):
                continue
            try:
                found = self._event(json.loads(line))
            except (ValueError, RecursionError) as error:
                if not line.endswith("\n"):
                    return
                raise NotACast(f"line {number} is no event of a recording") from error
            if found is not None:
                yield found

    def _event(self, value: Any) -> CastEvent | None:  # noqa: ANN401 - JSON of any shape
        """Raises ValueError."""
        if not (isinstance(value, list) and len(value) >= 3 and isinstance(value[1], str)):
            raise ValueError
        time, code, data = value[:3]
        self._at = self._time(time)
        if code not in {"o", "r", "x"}:
            return None
        if not isinstance(data, str):
            raise ValueError
        if code == "r":
            return Sized(self._at, *_size(data))
        return Printed(self._at, data) if code == "o" else Over(self._at, data)

    def _time(self, value: Any) -> float:  # noqa: ANN401 - JSON of any shape
        """Seconds since the beginning: version 2 says them, version 3 those since the last one."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError
        time = float(value) + (self._at if self.header.version >= 3 else 0.0)
        if not math.isfinite(time):
            raise ValueError
        return max(time, self._at)


def _size(text: str) -> tuple[int, int]:
    found = _SIZE.fullmatch(text)
    if found is None:
        raise ValueError
    return _checked(int(found[1]), int(found[2]))


def _checked(cols: object, rows: object) -> tuple[int, int]:
    if type(cols) is not int or type(rows) is not int:
        raise ValueError
    if not (1 <= cols <= MAX_COLS and 1 <= rows <= MAX_ROWS):
        raise ValueError
    return cols, rows


def _header(line: str) -> Header:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    version = value.get("version") if isinstance(value, dict) else None
    if type(version) is not int:
        raise NotACast("this is no recording (asciicast): its first line is no header")
    if version not in {2, 3}:
        raise NotACast(f"version {version} of asciicast cannot be played; 2 and 3 can")
    try:
        return _read_header(version, value)
    except ValueError:
        raise NotACast(
            f"the header names no size from 1x1 to {MAX_COLS}x{MAX_ROWS} that it was recorded in"
        ) from None


def _read_header(version: int, value: dict[str, Any]) -> Header:
    if version == 2:
        cols, rows = _checked(value.get("width"), value.get("height"))
    else:
        term = value.get("term")
        about = term if isinstance(term, dict) else {}
        cols, rows = _checked(about.get("cols"), about.get("rows"))
    title = value.get("title")
    return Header(version, cols, rows, title if isinstance(title, str) else "", _idle(value))


def _idle(value: dict[str, Any]) -> float | None:
    limit = value.get("idle_time_limit")
    good = isinstance(limit, int | float) and not isinstance(limit, bool) and 0 < limit < math.inf
    return float(limit) if good and limit is not None else None
