"""One native terminal with all that goes into it: output, sizes, and the sequences it lacks."""

from __future__ import annotations

from typing import Final

from termnode.terminal.engine import MAX_TITLE
from termnode.terminal.ghostty_engine import actions, options, snapshot
from termnode.terminal.ghostty_engine.library import CData, check, ffi, get_value, lib
from termnode.terminal.ghostty_engine.lines import LineNumbers
from termnode.terminal.ghostty_engine.prefilter import PROMPT_OSC, Action, Prefilter
from termnode.terminal.ghostty_engine.sink import (
    CELL_HEIGHT_PX,
    CELL_WIDTH_PX,
    Sink,
    attach,
    printable,
    read_string,
)

_CANCEL: Final = b"\x18"
"""Ends any sequence without effect."""


class Native:
    """A native terminal, configured, with its sink and its filter.

    Any method may raise LibraryError, but for ``feed`` and ``write``: those never fail.
    """

    def __init__(self, terminal: CData, cols: int, rows: int, scrollback: int) -> None:
        self.terminal = terminal
        self.cols = cols
        self.rows = rows
        self.scrollback = scrollback
        self.sink = Sink(cols, rows)
        self.state = actions.State()
        self._filter = Prefilter()
        self._handle = ffi.new_handle(self.sink)
        self._number = ffi.new("uint16_t *")
        self._flag = ffi.new("bool *")
        options.configure(terminal)
        options.limit_scrollback(terminal, scrollback, cols)
        attach(terminal, self._handle)
        self._lines = LineNumbers(terminal, cols, rows)
        self._on_main = self._lines.on_main_screen
        self._of_alternate = 0
        """Changes of screens, and wipes of the alternate screen that came with them."""
        self._wipes = 0
        """Wipes of the screen in use that the filter does not count."""
        self._main_erasures = 0
        """Wipes of the main screen until it was last left."""
        self._wipes_before = 0
        """Wipes of the screen in use, until the main screen was last entered."""

    def feed(self, data: bytes) -> None:
        """Take program output."""
        for piece in self._filter.pieces(data):
            if isinstance(piece, Action):
                actions.perform(piece, self)
            else:
                self.write(piece)

    def write(self, data: bytes) -> None:
        """Give ``data`` to the library as it is, past the filter."""
        lib.ghostty_terminal_vt_write(self.terminal, data, len(data))

    def query(self, data: bytes) -> bytes:
        """Give a query to the library; its answer is returned instead of queued."""
        earlier = self.sink.take_replies()
        self.write(data)
        answer = self.sink.take_replies()
        self.sink.reply(earlier)
        return answer

    def reply(self, data: bytes) -> None:
        """Queue an answer for the program."""
        self.sink.reply(data)

    @property
    def position(self) -> tuple[int, int]:
        """Column and row of the cursor, from 0."""
        x = int(get_value(self.terminal, "CURSOR_X", self._number))
        return x, int(get_value(self.terminal, "CURSOR_Y", self._number))

    def number_lines(self) -> int:
        """The number of the line in the first row of the main screen."""
        return self._lines.look()

    def history_wiped(self) -> None:
        """There is no history any more; ``number_lines`` came before."""
        self._lines.history_wiped()

    def note_screens(self) -> None:
        """Count a change of screens, if there was one since the last call."""
        on_main = self._lines.on_main_screen
        if on_main != self._on_main:
            self._main_erasures = self.main_erasures
            self._wipes_before = self._all_wipes
            self._on_main = on_main
            self._of_alternate += 1

    def note_wipe_below(self) -> None:
        """Count a wipe, if the cursor is in the first cell. Shells erase below each prompt."""
        self._wipes += self.position == (0, 0)

    def screen_wiped(self) -> None:
        """Count a wipe of the screen in use."""
        self._wipes += 1

    def alternate_wiped(self) -> None:
        """Count a wipe of the alternate screen alone."""
        self._of_alternate += 1

    @property
    def erasures(self) -> int:
        """How often everything on the screen may have been wiped at once."""
        self.note_screens()
        return self._all_wipes + self._of_alternate

    @property
    def main_erasures(self) -> int:
        """How often everything on the main screen was wiped; as of the last ``note_screens``."""
        since = self._all_wipes - self._wipes_before if self._on_main else 0
        return self._main_erasures + since

    @property
    def _all_wipes(self) -> int:
        return self._filter.wipes + self._wipes

    def note_prompt(self) -> None:
        """Keep where the cursor is for the prompt mark that comes next."""
        x, y = self.position
        pending = bool(get_value(self.terminal, "CURSOR_PENDING_WRAP", self._flag))
        line = self._lines.look() + y if self._lines.on_main_screen else None
        self.sink.prompt = (line, x + pending)

    @property
    def title(self) -> str:
        """The title, without control characters and at most MAX_TITLE long."""
        return printable(read_string(self.terminal, "TITLE", 4 * MAX_TITLE))[:MAX_TITLE]

    @property
    def lossy(self) -> bool:
        """Whether the library ever left something out, for want of room in one of its tables."""
        return bool(get_value(self.terminal, "VT_PROCESSING_ERROR", ffi.new("bool *")))

    def resize(self, cols: int, rows: int) -> None:
        """Change the size. A failure may leave the screen torn."""
        # The limit is in bytes, so it grows before the rows do and shrinks after them.
        self._lines.look()
        options.limit_scrollback(self.terminal, self.scrollback, max(cols, self.cols))
        self.cols = self.sink.cols = cols
        self.rows = self.sink.rows = rows
        result = lib.ghostty_terminal_resize(
            self.terminal, cols, rows, CELL_WIDTH_PX, CELL_HEIGHT_PX
        )
        check(result, "resize")
        options.limit_scrollback(self.terminal, self.scrollback, cols)
        self._lines.resized(cols, rows)

    def snapshot(self) -> bytes:
        """Everything as bytes; SnapshotError when that is not possible now."""
        return snapshot.encode(self.terminal, self._filter.held, self.state)

    @classmethod
    def restore(cls, data: bytes, scrollback: int) -> Native:
        """The terminal that ``data`` was taken of; SnapshotError when it is damaged."""
        saved = snapshot.decode(data)
        number = ffi.new("uint16_t *")
        cols = int(get_value(saved.terminal, "COLS", number))
        rows = int(get_value(saved.terminal, "ROWS", number))
        native = cls(saved.terminal, cols, rows, scrollback)
        native._filter.held = saved.held
        native.state = saved.state
        native._resume_prompt_mark()
        return native

    def _resume_prompt_mark(self) -> None:
        """Begin an unfinished prompt mark again.

        The snapshot brought it before the library was told to hand such sequences back.
        """
        begun = snapshot.continuation(self.terminal)
        if begun.startswith(b"\x1b]" + PROMPT_OSC):
            self.note_prompt()
            self.write(_CANCEL + begun)

    def close(self) -> None:
        """Free the terminal."""
        self._lines.close()
        ffi.release(self.terminal)
