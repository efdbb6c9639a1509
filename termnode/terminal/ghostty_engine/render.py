"""The library's render state: its own copy of the visible rows, refreshed where they changed."""

from __future__ import annotations

from collections.abc import Iterator

from termnode.terminal.ghostty_engine import layout
from termnode.terminal.ghostty_engine.cell import CellReader
from termnode.terminal.ghostty_engine.library import CData, check, ffi, lib, owned
from termnode.terminal.ghostty_engine.row import Row


class RenderState:
    """A render state with the buffers to read it. ``close`` before the terminal is closed."""

    def __init__(self, terminal: CData) -> None:
        self._terminal = terminal
        self._state = owned(
            "GhosttyRenderState", lib.ghostty_render_state_new, lib.ghostty_render_state_free
        )
        self._iterator = owned(
            "GhosttyRenderStateRowIterator",
            lib.ghostty_render_state_row_iterator_new,
            lib.ghostty_render_state_row_iterator_free,
        )
        self._iterator_out = ffi.new("GhosttyRenderStateRowIterator *", self._iterator)
        self._cells_view = ffi.new("GhosttyCellsView *")
        self._row_flags = ffi.new("uint64_t *")
        self._y = ffi.new("uint16_t *")
        self._reader = CellReader(terminal)

    def update(self) -> None:
        """Take over what changed in the terminal since the last update."""
        check(lib.ghostty_render_state_update(self._state, self._terminal), "render update")

    def clean(self) -> None:
        """Count every row as seen."""
        check(lib.ghostty_render_state_clean(self._state), "render clean")

    def overscan(self, below: int) -> None:
        """Make the next update take in ``below`` more rows under the visible ones."""
        size = ffi.new("GhosttyRenderStateOverscan *", {"above": 0, "below": below})
        option = lib.GHOSTTY_RENDER_STATE_OPTION_OVERSCAN
        check(lib.ghostty_render_state_set(self._state, option, size), "render overscan")

    def get(self, name: str, out: CData) -> CData:
        """Read one datum of the state into ``out``; gives its value."""
        key = getattr(lib, f"GHOSTTY_RENDER_STATE_DATA_{name}")
        check(lib.ghostty_render_state_get(self._state, key, out), name)
        return out[0]

    def dirty_rows(self) -> Iterator[int]:
        """The number of each row that changed; ``read`` reads the row just given."""
        self._rewind()
        while lib.ghostty_render_state_row_iterator_next_dirty(self._iterator, self._y):
            yield self._y[0]

    def all_rows(self) -> Iterator[int]:
        """Every row from the top; ``read`` reads the row just given."""
        self._rewind()
        y = 0
        while lib.ghostty_render_state_row_iterator_next(self._iterator):
            yield y
            y += 1

    def _rewind(self) -> None:
        self.get("ROW_ITERATOR", self._iterator_out)

    def _row_get(self, key: int, out: CData) -> CData:
        check(lib.ghostty_render_state_row_get(self._iterator, key, out), "row")
        return out[0]

    def read(self) -> Row:
        """The row the iteration stands at."""
        flags = self._row_get(lib.GHOSTTY_RENDER_STATE_ROW_DATA_RAW, self._row_flags)
        cells = self._row_get(lib.GHOSTTY_RENDER_STATE_ROW_DATA_CELLS_RAW, self._cells_view)
        return Row(layout.cell_view(cells), flags)

    def read_runs(self, row: Row, absolute: int) -> None:
        """Fill the runs of ``row``, where the iteration stands.

        ``absolute`` is its number from the oldest row of history.
        """
        self._row_get(lib.GHOSTTY_RENDER_STATE_ROW_DATA_CELLS, self._reader.pointer)
        self._reader.absolute = absolute
        row.make_runs(self._reader)

    def close(self) -> None:
        """Free the state."""
        self._reader.close()
        ffi.release(self._iterator)
        ffi.release(self._state)
