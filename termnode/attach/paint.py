"""Frames as bytes for the person's terminal: what differs from the last one, or all of it.

Nothing but text, SGR, links, cursor movement and erasing is ever written, whatever a frame holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from termnode.attach.compose import Frame
from termnode.attach.depth import TRUE_COLOR, reduced
from termnode.attach.runs import EMPTY, cut, steady
from termnode.attach.spans import Change, change
from termnode.terminal.engine import PLAIN, Cursor, Style
from termnode.terminal.render.ansi import turn
from termnode.view.messages import Run3

_CLEAR: Final = "\x1b[m\x1b(B\x1b[?6l\x1b[4l\x1b[r\x1b[?7h\x1b[H\x1b[2J"
"""Default style and characters, no origin mode, no inserting, no scrolling region: then wiped."""

_SYNC: Final = ("\x1b[?2026h", "\x1b[?2026l")
_HIDE, _SHOW = "\x1b[?25l", "\x1b[?25h"
_WRAP_OFF, _WRAP_ON = "\x1b[?7l", "\x1b[?7h"
_CONTROL: Final = re.compile("[\0-\x1f\x7f-\x9f]")
_ADDRESS: Final = re.compile("[!-~]{1,1000}")
"""A link's address as it may be written: what else there is would end the sequence early."""


class Painter:
    """Paints one frame after another onto a terminal that nobody else writes to.

    ``depth``: how many colours it has (16, 256; else all). ``synchronized``: whether it is to show
    a frame at once (mode 2026). What `paint` returns must be written whole, or `forget` called.
    """

    def __init__(self, depth: int = TRUE_COLOR, synchronized: bool = False) -> None:
        self._depth = depth
        self._synchronized = synchronized
        self._last: Frame | None = None

    def forget(self) -> None:
        """Take nothing about the terminal for known: the next frame is painted in full."""
        self._last = None

    def paint(self, frame: Frame) -> bytes:
        """The bytes that make the terminal show the frame; none when it does already."""
        last = self._last
        if last is not None and (last.cols, last.rows) != (frame.cols, frame.rows):
            last = None
        self._last = frame
        changes = list(_changes(last, frame))
        old = None if last is None else last.cursor
        if old == frame.cursor and not changes:
            return b""
        return "".join(self._parts(frame, changes, old)).encode("utf-8", "replace")

    def _parts(
        self, frame: Frame, changes: list[tuple[int, Change]], old: Cursor | None
    ) -> Iterator[str]:
        whole = self._synchronized and bool(changes)
        if whole:
            yield _SYNC[0]
        if old is None or (old.visible and (changes or not frame.cursor.visible)):
            yield _HIDE
        if old is None:
            yield _CLEAR
        for y, each in changes:
            yield from self._row(frame, y, each)
        yield from _place(frame.cursor, old, hidden=bool(changes))
        if whole:
            yield _SYNC[1]

    def _row(self, frame: Frame, y: int, changed: Change) -> Iterator[str]:
        pen = _Pen(y, changed.start, self._depth)
        row = cut(frame.lines[y], changed.start, changed.end, _one)
        if changed.end < frame.cols or not row or not _may_wrap(row[-1][0]):
            yield from _written(row, pen)
        else:
            yield from (_WRAP_OFF, *_written([*row[:-1], _unjoined(row[-1])], pen), _WRAP_ON)
        if changed.erase and changed.end < frame.cols:
            yield f"{pen.place()}\x1b[K"


def _written(row: Sequence[Run3], pen: _Pen) -> Iterator[str]:
    for run in row:
        yield from pen.write(run)
    yield pen.plain()


def _may_wrap(text: str) -> bool:
    """Whether a terminal may think the text in the last column wider than the room that is left.

    Marks that join a character make it no wider, but for the one that asks for an emoji.
    """
    return not steady(text[:1]) or "\ufe0f" in text


def _unjoined(run: Run3) -> Run3:
    """Without what makes emoji of characters: that is what terminals differ in most."""
    return run[0].replace("\ufe0f", "").replace("\u200d", ""), run[1], run[2]


class _Pen:
    """Writes runs into one row. Every row begins, and is left, in the default style."""

    def __init__(self, y: int, x: int, depth: int) -> None:
        self._y, self._x = y, x
        self._depth = depth
        self._there = False
        """Whether the terminal's cursor is known to be where the pen is."""
        self._sgr = _PLAIN
        self._link: str | None = None

    def place(self) -> str:
        """Moves the cursor here, unless it is."""
        if self._there:
            return ""
        self._there = True
        return _to(self._x, self._y)

    def write(self, run: Run3) -> Iterator[str]:
        """A run. After text that is not ASCII, the next thing begins with a move."""
        text, count, style = run
        yield self.place()
        yield self._turn(style or PLAIN)
        shown = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)
        if not steady(shown):
            # If the terminal thinks the text narrower, nothing old is left beside it.
            yield f"{' ' * count}{_to(self._x, self._y)}"
        yield shown
        self._x += count
        self._there = shown.isascii()

    def plain(self) -> str:
        """Back to the default style, without a link."""
        return self._turn(PLAIN)

    def _turn(self, style: Style) -> str:
        parts = self._relink(style.link)
        sgr = _sgr(style, self._depth)
        if sgr != self._sgr:
            parts += sgr.from_any if self._sgr.from_plain else sgr.from_plain
            self._sgr = sgr
        return parts

    def _relink(self, address: str | None) -> str:
        if address is not None and (self._depth <= 16 or not _ADDRESS.fullmatch(address)):
            address = None
        if address == self._link:
            return ""
        self._link = address
        return f"\x1b]8;;{address or ''}\x1b\\"


class _Sgr(NamedTuple):
    """What sets a style: from the default one, and from any. Empty for the default one itself."""

    from_plain: str
    from_any: str


_PLAIN: Final = _Sgr("", "\x1b[m")


@lru_cache(4_096)
def _sgr(style: Style, depth: int) -> _Sgr:
    shown = reduced(style, depth)
    return _Sgr(turn(shown, styled=False), turn(shown, styled=True))


def _to(x: int, y: int) -> str:
    return f"\x1b[{y + 1};{x + 1}H"


def _one(_char: str) -> int:
    """The width of a character inside a run that is cut: those have one column each."""
    return 1


def _changes(last: Frame | None, frame: Frame) -> Iterator[tuple[int, Change]]:
    old = [EMPTY] * frame.rows if last is None else last.lines
    for y, (before, after) in enumerate(zip(old, frame.lines, strict=True)):
        if (found := change(before, after)) is not None:
            yield y, found


def _place(cursor: Cursor, old: Cursor | None, *, hidden: bool) -> Iterator[str]:
    """The cursor as it is to be."""
    if old is None or old.shape != cursor.shape:
        yield f"\x1b[{cursor.shape} q"
    yield _to(cursor.x, cursor.y)
    if cursor.visible and (hidden or old is None or not old.visible):
        yield _SHOW
