"""The numbers of lines: how many rows ever left the top of the main screen.

The library does not count them. One row near the newest end of history is tracked instead: where
it is now, against how much history is held, says how many rows have followed it. A look costs
about 2 us and happens only when a number is asked for, or before output that the tracked row may
not survive.
"""

from __future__ import annotations

from termnode.terminal.ghostty_engine.library import (
    SUCCESS,
    CData,
    ffi,
    get_value,
    lib,
    screen_point,
    set_tracked,
    track,
)


class LineNumbers:
    """Numbers the lines of one terminal; see ``Engine.scrolled``. LibraryError when memory is out.

    The numbers of a terminal from a snapshot begin with its history.
    """

    def __init__(self, terminal: CData, cols: int, rows: int) -> None:
        self._terminal = terminal
        self._cols = cols
        self._rows = rows
        self._scrolled = 0
        self._count = ffi.new("size_t *")
        self._screen = ffi.new("GhosttyTerminalScreen *")
        self._point = ffi.new("GhosttyPointCoordinate *")
        self._tracked: CData = None
        """The tracked row, followed to wherever it goes; None before the first look."""
        self._number = 0
        """Its line number."""
        self._column = 0
        """The column it is tracked by: a row that is wiped out leaves the reference at column 0."""
        self._fresh = 0
        """Number of the first screen row when all lines must get numbers never given before."""
        self._anew = True
        self.look()

    @property
    def on_main_screen(self) -> bool:
        """Whether the main screen is up."""
        screen = get_value(self._terminal, "ACTIVE_SCREEN", self._screen)
        return bool(screen == lib.GHOSTTY_TERMINAL_SCREEN_PRIMARY)

    def look(self) -> int:
        """The number of the line in the first row, now; of the main screen as it was left."""
        if self.on_main_screen:
            held = int(get_value(self._terminal, "SCROLLBACK_ROWS", self._count))
            followed = None if self._anew else self._follow(held)
            self._scrolled = self._fresh + held if followed is None else followed
            self._track(held)
        return self._scrolled

    def history_wiped(self) -> None:
        """All rows above the screen are gone, those on it keep their numbers.

        Call ``look`` before it happens.
        """
        if self.on_main_screen:
            self._track(int(get_value(self._terminal, "SCROLLBACK_ROWS", self._count)))

    def resized(self, cols: int, rows: int) -> None:
        """The size has changed; call ``look`` before it does."""
        self._fresh = max(self._fresh, self._scrolled + rows)
        self._anew = self._anew or cols != self._cols
        self._cols, self._rows = cols, rows
        self.look()

    def _follow(self, held: int) -> int | None:
        """What the tracked row says; None when it is gone."""
        point = self._point
        tag = lib.GHOSTTY_POINT_TAG_SCREEN
        if lib.ghostty_tracked_grid_ref_point(self._tracked, tag, point) != SUCCESS:
            return None
        return self._number + held - point.y if point.x == self._column else None

    def _track(self, held: int) -> None:
        """Follow the newest row of history, for it is dropped last; without one the screen's."""
        y = max(held - 1, 0)
        self._number = self._scrolled - held + y
        self._column = min(1, self._cols - 1)
        self._fresh = self._scrolled + self._rows
        self._anew = False
        point = screen_point(y, self._column)
        if self._tracked is None:
            self._tracked = track(self._terminal, point)
        else:
            set_tracked(self._tracked, self._terminal, point)

    def close(self) -> None:
        """Stop following."""
        if self._tracked is not None:
            ffi.release(self._tracked)
            self._tracked = None
