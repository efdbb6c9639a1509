"""One native terminal with all that goes into it: output, sizes, and the sequences it lacks."""

from __future__ import annotations

from typing import Final

from termnode.terminal.engine import MAX_TITLE
from termnode.terminal.ghostty_engine import actions, options, snapshot
from termnode.terminal.ghostty_engine.library import CData, check, ffi, get_value, lib
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
        options.configure(terminal)
        options.limit_scrollback(terminal, scrollback, cols)
        attach(terminal, self._handle)

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
        options.limit_scrollback(self.terminal, self.scrollback, max(cols, self.cols))
        self.cols = self.sink.cols = cols
        self.rows = self.sink.rows = rows
        result = lib.ghostty_terminal_resize(
            self.terminal, cols, rows, CELL_WIDTH_PX, CELL_HEIGHT_PX
        )
        check(result, "resize")
        options.limit_scrollback(self.terminal, self.scrollback, cols)

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
            self.write(_CANCEL + begun)

    def close(self) -> None:
        """Free the terminal."""
        ffi.release(self.terminal)
