"""The engine interface over the pyte-based screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from termnode.terminal.engine import (
    DEFAULT_SCROLLBACK,
    Cursor,
    Event,
    Modes,
    Run,
    check_size,
    row_range,
)
from termnode.terminal.pyte_engine import modes
from termnode.terminal.pyte_engine.cells import Row
from termnode.terminal.pyte_engine.dispatch import Dispatcher
from termnode.terminal.pyte_engine.invariants import check
from termnode.terminal.pyte_engine.parser import Parser
from termnode.terminal.pyte_engine.screen import PyteScreen
from termnode.terminal.pyte_engine.view import row_runs, row_text

_MOUSE: Final = sorted(modes.MOUSE)


class PyteEngine:
    """A terminal emulator in Python (see ``termnode.terminal.engine.Engine``).

    Raises ValueError for a size out of bounds or a negative ``scrollback``.
    """

    name: str = "pyte"

    def __init__(self, cols: int, rows: int, scrollback: int = DEFAULT_SCROLLBACK) -> None:
        check_size(cols, rows)
        if scrollback < 0:
            raise ValueError("scrollback is a number of lines, 0 or more")
        self.cols = cols
        self.rows = rows
        self.screen = PyteScreen(cols, rows, scrollback)
        self._parser = Parser(Dispatcher(self.screen))

    def feed(self, data: bytes) -> None:
        """Take program output, in any chunking; never raises."""
        self._parser.feed(data)

    def take_replies(self) -> bytes:
        """Answers to the program's queries; clears them."""
        return self.screen.outbox.take_replies()

    def take_events(self) -> list[Event]:
        """Events since the last call; clears them."""
        return self.screen.outbox.take_events()

    def resize(self, cols: int, rows: int) -> None:
        """Change the size; the main screen and history are laid out anew."""
        check_size(cols, rows)
        self.cols, self.rows = cols, rows
        self.screen.resize(lines=rows, columns=cols)

    @property
    def cursor(self) -> Cursor:
        """Where the cursor is and how it looks."""
        cursor, last = self.screen.cursor, self.screen.columns - 1
        return Cursor(
            x=min(cursor.x, last),
            y=cursor.y,
            visible=not cursor.hidden,
            shape=self.screen.cursor_shape,
            pending_wrap=cursor.x > last,
        )

    @property
    def modes(self) -> Modes:
        """The modes the program has set."""
        screen, has = self.screen, self.screen.has_mode
        mouse = next((kind for kind in _MOUSE if has(kind)), 0)
        return Modes(
            alternate=screen.alternate,
            app_cursor=has(modes.APP_CURSOR),
            app_keypad=has(modes.KEYPAD),
            bracketed_paste=has(modes.PASTE),
            focus_events=has(modes.FOCUS),
            mouse=mouse,
            mouse_sgr=mouse > 0 and (has(modes.MOUSE_SGR) or has(modes.MOUSE_PIXELS)),
            mouse_pixels=mouse > 0 and has(modes.MOUSE_PIXELS),
            synchronized=has(modes.SYNCHRONIZED),
            autowrap=has(modes.AUTOWRAP),
            reverse=has(modes.REVERSE),
            kitty_flags=screen.kitty[-1],
            modify_other_keys=screen.modify_other_keys,
        )

    @property
    def title(self) -> str:
        """The title the program gave."""
        return self.screen.title

    @property
    def history_len(self) -> int:
        """Rows of scrollback."""
        return len(self.screen.history.rows)

    @property
    def scrolled(self) -> int:
        """The number of the line in the first row of the main screen."""
        return self.screen.history.scrolled

    @property
    def erasures(self) -> int:
        """Rises when everything on the screen may have been wiped at once."""
        return self.screen.erasures

    @property
    def main_erasures(self) -> int:
        """Rises when everything on the main screen may have been wiped at once."""
        return self.screen.main_erasures

    def text(self, top: int = 0, count: int | None = None) -> list[str]:
        """Rows as text, without trailing blanks."""
        return [row_text(row, self.cols) for row in self._rows(top, count)]

    def wrapped(self, top: int = 0, count: int | None = None) -> list[bool]:
        """Whether each row's text goes on in the next row."""
        return [row.wrapped for row in self._rows(top, count)]

    def runs(self, top: int = 0, count: int | None = None) -> list[Sequence[Run]]:
        """Rows as runs of one style."""
        return [row_runs(row, self.cols) for row in self._rows(top, count)]

    def looks(self, top: int = 0, count: int | None = None) -> Sequence[object]:
        """For each row a value to compare."""
        return self.runs(top, count)

    def take_dirty(self) -> frozenset[int]:
        """Screen rows changed since the last call."""
        screen = self.screen
        taken = frozenset(range(screen.lines) if screen.all_dirty else screen.dirty)
        screen.dirty.clear()
        screen.all_dirty = False
        return taken

    def close(self) -> None:
        """Nothing is held that the garbage collector does not free."""

    def verify(self) -> None:
        """Raise AssertionError unless everything kept is consistent; for tests."""
        check(self.screen)

    def _rows(self, top: int, count: int | None) -> list[Row]:
        """The rows that ``top`` and ``count`` name."""
        screen, history = self.screen, self.history_len
        named = row_range(top, count, screen.lines, history)
        if not isinstance(named, range) or not named:
            return []
        first, last = named.start, named.stop
        above = screen.history.slice(history + first, history + min(last, 0)) if first < 0 else []
        return above + screen.grid[max(first, 0) : max(last, 0)]
