"""A workspace whose panes are emulators, told to a view's model as the service tells it."""

from __future__ import annotations

from collections.abc import Sequence

from termnode.attach.compose import Frame
from termnode.attach.model import Model
from termnode.terminal import engines
from termnode.terminal.engine import PLAIN, Engine, Run, Style
from termnode.terminal.render.cells import Width, cells, columns, width_of
from termnode.view.messages import (
    Layout,
    PaneState,
    PlacedPane,
    Row,
    TabInfo,
    Tabs,
    Welcome,
)
from termnode.workspace.model import Workspace

Grid = list[list[tuple[str, Style]]]
"""Text and style of each cell; the second cell of a wide character has no text."""

BLANK = (" ", PLAIN)


def as_row(runs: Sequence[Run], width: Width) -> Row:
    return tuple(
        (text, columns(text, width), None if style == PLAIN else style) for text, style in runs
    )


class ScreenLab:
    """Ends with `close`. Every change is told by `tell`, only what changed since the last time."""

    def __init__(self, emulator: str, cols: int, rows: int) -> None:
        self.emulator = emulator
        self.width = width_of(emulator)
        self.workspace = Workspace(cols, rows)
        self.engines: dict[int, Engine] = {}
        self.model = Model()
        self._told: dict[int, dict[int, Row]] = {}
        self.model.apply(Welcome("term", 1, 1, "open", emulator, read_only=False))
        self.workspace.add_tab()

    def close(self) -> None:
        for engine in self.engines.values():
            engine.close()

    @property
    def panes(self) -> list[int]:
        return sorted(self.workspace.panes)

    def feed(self, pane: int, data: bytes) -> None:
        self._fit()
        self.engines[pane].feed(data)

    def feed_text(self, text: str) -> None:
        """To the first pane."""
        self.feed(self.panes[0], text.encode())

    def tell(self) -> None:
        self._fit()
        tab = self.workspace.tab()
        self.model.apply(
            Tabs(
                tab.id,
                (TabInfo(tab.id, "sh", tuple(self.panes), tab.active, tab.zoomed, False, False),),
            )
        )
        self.model.apply(self._layout())
        for pane in self.panes:
            self.model.apply(self._state(pane))

    def grid(self, pane: int) -> Grid:
        """What the pane's emulator shows."""
        engine = self.engines[pane]
        return [grid_row(as_row(row, self.width), engine.cols, self.width) for row in engine.runs()]

    def _fit(self) -> None:
        """Emulators of the sizes of their panes, as the service keeps them."""
        for pane, (cols, rows) in self.workspace.sizes(*self.workspace.tabs).items():
            engine = self.engines.get(pane)
            if engine is None:
                self.engines[pane] = engines.make(self.emulator)(cols, rows, 20)
            elif (engine.cols, engine.rows) != (cols, rows):
                engine.resize(cols, rows)
                self._told.pop(pane, None)

    def _layout(self) -> Layout:
        tab = self.workspace.tab()
        cols, rows = self.workspace.area(tab.id)
        placed = tuple(
            PlacedPane(pane, at.x, at.y, at.cols, at.rows, hidden=tab.zoomed and pane != tab.active)
            for pane, at in self.workspace.geometry(tab.id).items()
        )
        zoomed = tab.active if tab.zoomed else None
        return Layout(tab.id, cols, rows, placed, zoomed, tab.active)

    def _state(self, pane: int) -> PaneState:
        engine = self.engines[pane]
        now = {y: as_row(row, self.width) for y, row in enumerate(engine.runs())}
        before = self._told.get(pane)
        lines = tuple((y, row) for y, row in now.items() if (before or {}).get(y) != row)
        self._told[pane] = now
        return PaneState(
            pane, 1, engine.cols, engine.rows, 0, 0, lines, engine.cursor, engine.modes,
            "", "running", before is None, 1,
        )  # fmt: skip


def grid_row(row: Row, cols: int, width: Width) -> list[tuple[str, Style]]:
    """The cells of a row, at least ``cols`` of them."""
    grid: list[tuple[str, Style]] = []
    for text, _, style in row:
        for cell, wide in cells(text, width):
            grid += [(cell, style or PLAIN), *[("", style or PLAIN)] * (wide - 1)]
    return grid + [BLANK] * (cols - len(grid))


def frame_grid(frame: Frame, width: Width) -> Grid:
    return [grid_row(row, frame.cols, width) for row in frame.lines]


class Shown:
    """A terminal that a painter's bytes are fed to."""

    def __init__(self, emulator: str, cols: int, rows: int) -> None:
        self.engine = engines.make(emulator)(cols, rows, 0)
        self._width = width_of(emulator)

    def feed(self, data: bytes) -> None:
        self.engine.feed(data)

    def close(self) -> None:
        self.engine.close()

    def seen(self) -> tuple[Grid, object]:
        """The cells, and the cursor as far as it is to be seen."""
        engine = self.engine
        rows = [
            grid_row(as_row(row, self._width), engine.cols, self._width) for row in engine.runs()
        ]
        cursor = engine.cursor
        place = (cursor.x, cursor.y, cursor.shape) if cursor.visible else None
        return rows, place
