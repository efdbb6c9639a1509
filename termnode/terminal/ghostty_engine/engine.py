"""The native engine: libghostty-vt behind the interface of ``termnode.terminal.engine``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, TypeVar

from termnode.terminal.engine import (
    DEFAULT_SCROLLBACK,
    PLAIN,
    Cursor,
    Event,
    Modes,
    Run,
    check_size,
    row_range,
)
from termnode.terminal.ghostty_engine import layout
from termnode.terminal.ghostty_engine.library import LibraryError
from termnode.terminal.ghostty_engine.looks import Looks
from termnode.terminal.ghostty_engine.native import Native
from termnode.terminal.ghostty_engine.options import new_terminal
from termnode.terminal.ghostty_engine.plain import PlainText
from termnode.terminal.ghostty_engine.row import Row
from termnode.terminal.ghostty_engine.screen import SHAPES, Screen
from termnode.terminal.ghostty_engine.snapshot import SnapshotError
from termnode.terminal.ghostty_engine.status import Status

_MISPACKED: Final = layout.verify()
if _MISPACKED:
    raise ImportError(
        f"the installed terminal library packs {_MISPACKED} differently than this release expects; "
        "install the pinned version of pyghostty, or set TERMNODE_EMULATOR=pyte"
    )

_T = TypeVar("_T")


class GhosttyEngine:
    """See ``termnode.terminal.engine.Engine``.

    ``dead`` becomes true when the library refuses a call that cannot fail (memory ran out, or it
    broke its own rules). A dead engine takes no more output and raises nothing; it goes on giving
    the text (without looks), cursor, modes and title it last knew, and whoever owns the pane builds
    it a new one.

    While the alternate screen is up there is no history; it comes back with the main screen.
    """

    name = "ghostty"

    def __init__(self, cols: int, rows: int, scrollback: int = DEFAULT_SCROLLBACK) -> None:
        check_size(cols, rows)
        if scrollback < 0:
            raise ValueError("scrollback is a number of lines, 0 or more")
        self._use(Native(new_terminal(cols, rows), cols, rows, scrollback))

    def _use(self, native: Native) -> None:
        """Begin work on a native terminal, new or from a snapshot."""
        self.cols = native.cols
        self.rows = native.rows
        self.dead = False
        self._native = native
        self._screen = Screen(native.terminal)
        self._plain = PlainText(native.terminal)
        self._looks = Looks(native.terminal)
        self._status = Status(native.terminal)
        self._cursor, self._modes, self._title = Cursor(0, 0), Modes(), ""
        self._scrolled = self._erasures = self._main_erasures = 0
        self._last_text: list[str] = []

    def _guard(self, call: Callable[[], _T], last: _T) -> _T:
        """What ``call`` gives, or ``last`` when the library fails or has failed before."""
        if self.dead:
            return last
        try:
            return call()
        except LibraryError:
            self._die()
            return last

    def _die(self) -> None:
        """Take no more output; keep what can still be read."""
        self.dead = True
        with suppress(LibraryError):
            self._remember()

    def _remember(self) -> None:
        """Read what a dead engine goes on showing."""
        self._title = self._native.title
        self._cursor = self._read_cursor()
        self._scrolled, self._erasures = self._native.number_lines(), self._native.erasures
        self._main_erasures = self._native.main_erasures
        self._last_text = self._read_plain(self._plain, 0, None)

    def feed(self, data: bytes) -> None:
        """See Engine."""
        if not data.isascii():
            self._screen.suspect()
        self._guard(lambda: self._native.feed(data), None)

    def take_replies(self) -> bytes:
        """See Engine."""
        return self._native.sink.take_replies()

    def take_events(self) -> list[Event]:
        """See Engine."""
        return self._native.sink.take_events()

    def resize(self, cols: int, rows: int) -> None:
        """See Engine."""
        check_size(cols, rows)
        # A resize that fails halfway leaves a torn screen: what it was is read before.
        self._guard(self._remember, None)
        if not self.dead:
            try:
                self._native.resize(cols, rows)
                self.cols, self.rows = cols, rows
            except LibraryError:
                self.dead = True

    @property
    def cursor(self) -> Cursor:
        """See Engine."""
        self._cursor = self._guard(self._read_cursor, self._cursor)
        return self._cursor

    def _read_cursor(self) -> Cursor:
        return self._status.cursor(SHAPES.get(self._screen.cursor_shape(), 0))

    @property
    def modes(self) -> Modes:
        """See Engine."""
        keys = self._native.state.modify_other_keys
        self._modes = self._guard(lambda: self._status.modes(keys), self._modes)
        return self._modes

    @property
    def title(self) -> str:
        """See Engine."""
        self._title = self._guard(lambda: self._native.title, self._title)
        return self._title

    @property
    def lossy(self) -> bool:
        """Whether the library ever left something out, for want of room in one of its tables.

        Seen with links only (1,663 different ones on neighbouring cells); the text is whole.
        """
        return self._guard(lambda: self._native.lossy, True)

    @property
    def history_len(self) -> int:
        """See Engine. The library may hold more rows than are counted here."""
        return self._guard(lambda: min(self._screen.scrollback, self._native.scrollback), 0)

    @property
    def scrolled(self) -> int:
        """See Engine."""
        self._scrolled = self._guard(self._native.number_lines, self._scrolled)
        return self._scrolled

    @property
    def erasures(self) -> int:
        """See Engine."""
        self._erasures = self._guard(lambda: self._native.erasures, self._erasures)
        return self._erasures

    @property
    def main_erasures(self) -> int:
        """See Engine."""
        self._main_erasures = self._guard(lambda: self._native.main_erasures, self._main_erasures)
        return self._main_erasures

    def text(self, top: int = 0, count: int | None = None) -> list[str]:
        """See Engine."""
        if self.dead:
            return self._last(top, count)
        return self._guard(lambda: self._read_plain(self._plain, top, count), [])

    def wrapped(self, top: int = 0, count: int | None = None) -> list[bool]:
        """See Engine."""
        rows = self._guard(lambda: self._read(top, count, runs=False), None)
        return (
            [False for _ in self._last(top, count)] if rows is None else [r.wrapped for r in rows]
        )

    def runs(self, top: int = 0, count: int | None = None) -> list[Sequence[Run]]:
        """See Engine."""
        rows = self._guard(lambda: self._read(top, count, runs=True), None)
        if rows is None:
            return [[(text, PLAIN)] if text else () for text in self._last(top, count)]
        return [row.runs or () for row in rows]

    def looks(self, top: int = 0, count: int | None = None) -> Sequence[object]:
        """See Engine."""
        if self.dead:
            return self.runs(top, count)
        return self._guard(lambda: self._read_looks(top, count), [])

    def _wanted(self, top: int, count: int | None) -> tuple[int, range]:
        """How many rows of history the library holds, and the rows asked for."""
        held = self._screen.scrollback
        rows = row_range(top, count, self.rows, min(held, self._native.scrollback))
        return held, rows

    def _read_plain(self, reader: PlainText, top: int, count: int | None) -> list[str]:
        held, wanted = self._wanted(top, count)
        return reader.read(held + wanted.start, len(wanted), self.cols) if wanted else []

    def _read_looks(self, top: int, count: int | None) -> Sequence[object]:
        looks = self._read_plain(self._looks, top, count)
        if "" not in looks:
            return looks
        rows = self._read(top, count, runs=False)
        return [look or row.background or "" for look, row in zip(looks, rows, strict=True)]

    def _last(self, top: int, count: int | None) -> list[str]:
        """The rows asked for, of a dead engine."""
        rows = self._last_text
        return [rows[y] for y in row_range(top, count, len(rows), 0)]

    def _read(self, top: int, count: int | None, *, runs: bool) -> list[Row]:
        held, wanted = self._wanted(top, count)
        above = wanted[: max(0, -wanted.start)]
        below = wanted[len(above) :]
        rows: list[Row] = []
        if above:
            rows += self._screen.history(held + above.start, held + above.stop, runs=runs)
        if below:
            screen = self._screen.rows_with_runs(below) if runs else self._screen.rows()
            rows += screen[below.start : below.stop]
        return rows

    def take_dirty(self) -> frozenset[int]:
        """See Engine."""
        return self._guard(self._screen.take_dirty, frozenset())

    def snapshot(self) -> bytes:
        """Everything as bytes, for ``restore``.

        Raises SnapshotError when the engine is dead, and inside certain unfinished sequences.
        """
        if self.dead:
            raise SnapshotError("the emulator of this pane has failed; rebuild the pane")
        return self._native.snapshot()

    @classmethod
    def restore(cls, data: bytes, scrollback: int = DEFAULT_SCROLLBACK) -> GhosttyEngine:
        """The engine that ``data`` was taken of; SnapshotError when it is damaged."""
        engine = cls.__new__(cls)
        engine._use(Native.restore(data, scrollback))
        return engine

    def close(self) -> None:
        """See Engine. Calling it again does nothing."""
        self.dead = True
        self._screen.close()
        self._native.close()
