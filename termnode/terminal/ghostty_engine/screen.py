"""The rows of the live screen and of history, read when asked for."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Final

from termnode.terminal.ghostty_engine.library import CData, ffi, get_value, lib, scroll_to
from termnode.terminal.ghostty_engine.render import RenderState
from termnode.terminal.ghostty_engine.row import Row

_PAGE: Final = 256
"""History rows taken from the library at a time."""


class Screen:
    """Caches the screen's rows; a row is read again only after the library says it changed."""

    def __init__(self, terminal: CData) -> None:
        self._terminal = terminal
        self._state = RenderState(terminal)
        self._rows: list[Row] = []
        self._dirty: set[int] = set()
        self._suspect = False
        self._number = ffi.new("size_t *")
        self._shape = ffi.new("GhosttyRenderStateCursorVisualStyle *")
        self._blinking = ffi.new("bool *")

    @property
    def scrollback(self) -> int:
        """Rows of history that the library holds."""
        return int(get_value(self._terminal, "SCROLLBACK_ROWS", self._number))

    def suspect(self) -> None:
        """Output came that may have changed a row without the library's notice.

        A mark that joins a character already on the screen does (pyghostty 0.1.3).
        """
        self._suspect = True

    def rows(self) -> list[Row]:
        """The screen's rows as they are now."""
        self._state.update()
        noted = self._start_over() if self._suspect else None
        changed = {y: self._state.read() for y in self._state.dirty_rows()}
        if changed:
            self._replace(changed, changed.keys() if noted is None else noted)
            self._state.clean()
        return self._rows

    def _start_over(self) -> AbstractSet[int]:
        """Have all rows read anew; gives those that the library noted."""
        noted = set(self._state.dirty_rows())
        self._state.close()
        self._state = RenderState(self._terminal)
        self._state.update()
        self._suspect = False
        return noted

    def _replace(self, changed: dict[int, Row], noted: AbstractSet[int]) -> None:
        total = self._state.get("ROWS", ffi.new("uint16_t *"))
        if total != len(self._rows):
            # A resize changes every row, so each of the new ones is in ``changed``.
            self._rows = [changed[y] for y in range(total)]
            self._dirty = set(range(total))
            return
        for y, row in changed.items():
            if y in noted or not row.same(self._rows[y]):
                self._rows[y] = row
                self._dirty.add(y)

    def take_dirty(self) -> frozenset[int]:
        """The rows that changed since the last call."""
        self.rows()
        dirty = frozenset(self._dirty)
        self._dirty.clear()
        return dirty

    def rows_with_runs(self, wanted: range) -> list[Row]:
        """The screen's rows, those wanted with their runs filled: up to 10 us for each cell."""
        rows = self.rows()
        missing = {y for y in wanted if rows[y].runs is None}
        if missing:
            above = self.scrollback
            for y in self._state.all_rows():
                if y in missing:
                    self._state.read_runs(rows[y], above + y)
        return rows

    def history(self, first: int, last: int, *, runs: bool) -> Iterator[Row]:
        """Rows ``first`` to before ``last`` of history, 0 being the oldest the library holds."""
        # Reading takes the library's notes of what changed: the live screen must have them first.
        self.rows()
        for start in range(first, last, _PAGE):
            yield from self._page(start, min(_PAGE, last - start), runs=runs)

    def _page(self, start: int, count: int, *, runs: bool) -> list[Row]:
        # A new state each time: one kept for later would miss changes already noted elsewhere.
        state = RenderState(self._terminal)
        try:
            state.overscan(count)
            scroll_to(self._terminal, start)
            state.update()
            return [_read(state, start + y, runs) for y in state.all_rows() if y < count]
        finally:
            scroll_to(self._terminal, None)
            state.close()

    def cursor_shape(self) -> tuple[int, bool]:
        """The library's cursor style, and whether it blinks."""
        self._state.update()
        style = self._state.get("CURSOR_VISUAL_STYLE", self._shape)
        return int(style), bool(self._state.get("CURSOR_BLINKING", self._blinking))

    def close(self) -> None:
        """Free what the library holds for reading."""
        self._state.close()


def _read(state: RenderState, absolute: int, runs: bool) -> Row:
    row = state.read()
    if runs:
        state.read_runs(row, absolute)
    return row


SHAPES: Final = {
    (lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_BLOCK, True): 1,
    (lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_BLOCK, False): 2,
    (lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_UNDERLINE, True): 3,
    (lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_UNDERLINE, False): 4,
    (lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_BAR, True): 5,
    (lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_BAR, False): 6,
}
"""DECSCUSR's number for a cursor style; any other is 0, the default."""
