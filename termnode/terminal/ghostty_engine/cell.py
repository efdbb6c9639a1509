"""What the packed cells of a row only refer to: styles, links, and joined code points."""

from __future__ import annotations

from typing import Final

from termnode.terminal.engine import Style
from termnode.terminal.ghostty_engine.library import (
    SUCCESS,
    CData,
    check,
    ffi,
    grid_ref,
    lib,
    owned,
)
from termnode.terminal.ghostty_engine.sink import printable
from termnode.terminal.ghostty_engine.styles import StyleBuffer

MAX_URI: Final = 2_048
"""Bytes of a link's address; a longer one is no link."""


class CellReader:
    """Reads single cells of the row that ``pointer`` was last filled with."""

    def __init__(self, terminal: CData) -> None:
        self._terminal = terminal
        self._cells = owned(
            "GhosttyRenderStateRowCells",
            lib.ghostty_render_state_row_cells_new,
            lib.ghostty_render_state_row_cells_free,
        )
        self.pointer = ffi.new("GhosttyRenderStateRowCells *", self._cells)
        self.absolute = 0
        """The row's number from the oldest row of history: links are found by it."""
        self._style = StyleBuffer()
        self._length = ffi.new("uint32_t *")
        self._ref = ffi.new("GhosttyGridRef *")
        self._ref.size = ffi.sizeof("GhosttyGridRef")
        self._uri = ffi.new("uint8_t[]", MAX_URI)
        self._uri_length = ffi.new("size_t *")

    def _get(self, column: int, key: int, out: CData) -> None:
        check(lib.ghostty_render_state_row_cells_select(self._cells, column), "cell")
        check(lib.ghostty_render_state_row_cells_get(self._cells, key, out), "cell")

    def grapheme(self, column: int) -> str:
        """The text of a cell with several code points (the library keeps at most about 64)."""
        self._get(column, lib.GHOSTTY_RENDER_STATE_ROW_CELLS_DATA_GRAPHEMES_LEN, self._length)
        # The library fills the buffer without being told its size: it must hold all of them.
        points = ffi.new("uint32_t[]", max(1, self._length[0]))
        self._get(column, lib.GHOSTTY_RENDER_STATE_ROW_CELLS_DATA_GRAPHEMES_BUF, points)
        return bytes(ffi.buffer(points, self._length[0] * 4)).decode("utf-32-le", "replace")

    def style(self, column: int) -> Style:
        """The style of a cell, without its link."""
        key = lib.GHOSTTY_RENDER_STATE_ROW_CELLS_DATA_STYLE
        self._get(column, key, self._style.pointer)
        return self._style.style()

    def links(self, start: int, end: int) -> list[str | None]:
        """The link of each cell from column ``start`` to before ``end``."""
        grid_ref(self._terminal, self.absolute, self._ref)
        return [self._link(column) for column in range(start, end)]

    def _link(self, column: int) -> str | None:
        self._ref.x = column
        result = lib.ghostty_grid_ref_hyperlink_uri(self._ref, self._uri, MAX_URI, self._uri_length)
        if result != SUCCESS or not self._uri_length[0]:
            return None
        return printable(bytes(ffi.buffer(self._uri, self._uri_length[0])))

    def close(self) -> None:
        """Free the cells."""
        ffi.release(self._cells)
