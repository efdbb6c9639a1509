"""A hub over real emulators without programs, and views that only believe what they are told."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, cast

from termnode.service.identity.words import NoIdentity
from termnode.service.panes import Panes
from termnode.service.state import State
from termnode.service.viewing.hub import Hub, View
from termnode.service.viewing.marks import Marks
from termnode.service.viewing.people import People
from termnode.service.viewing.scene import StateScene
from termnode.terminal.engine import PLAIN, Engine
from termnode.terminal.render.cells import columns, width_of
from termnode.view.frames import Decoder
from termnode.view.messages import (
    Bell,
    FromService,
    Layout,
    PaneGone,
    PaneState,
    Row,
    Status,
    Tabs,
)
from termnode.workspace.model import Workspace
from termnode.workspace.parts import Change
from tests.support.stub_pane import StubTerminal


class LabTerminal(StubTerminal):
    """A stub terminal with what views use besides."""

    closed = False

    def __init__(self, cols: int, rows: int, engine: Engine | None, revision: int) -> None:
        super().__init__(cols, rows, 50)
        if engine is not None:
            self.engine = engine
        self.revision = revision


class LabPane:
    """What views use of a `LivePane`."""

    def __init__(self, pane: int, terminal: LabTerminal) -> None:
        self.id = pane
        self.terminal = terminal
        self.ending: dict[str, object] | None = None

    def exit_body(self) -> dict[str, object] | None:
        return self.ending


class Lab:
    """A workspace whose panes are fed by the test. ``now`` is in seconds."""

    def __init__(self, cols: int = 20, rows: int = 6, make: Any = None) -> None:  # noqa: ANN401
        self.make = make
        self.now = 0.0
        self.workspace = Workspace(cols, rows)
        self.panes: dict[int, LabPane] = {}
        self.people = People(lambda: self.now)
        self.asked: tuple[Any, ...] = ()
        state = SimpleNamespace(
            workspace=self.workspace,
            panes=cast("Panes", self.panes),
            find_live=self.panes.get,
            pane_title=self._title,
            people=self.people,
            asking=SimpleNamespace(open=lambda: self.asked),
            is_open=lambda: True,
            config=SimpleNamespace(name="term"),
            identity=NoIdentity(),
        )
        self.marks = Marks()
        self.scene = StateScene(cast("State", state), self.marks)
        self.hub = Hub(self.scene)
        self.apply(self.workspace.add_tab())

    def _title(self, pane: int) -> str:
        live = self.panes.get(pane)
        return live.terminal.engine.title if live else ""

    def apply(self, change: Change) -> None:
        for pane in change.closed:
            self.panes.pop(pane, None)
        for pane, (cols, rows) in change.sizes.items():
            if pane == change.opened:
                self.start(pane, cols, rows)
            elif pane in self.panes:
                self.resize(pane, cols, rows)

    def start(self, pane: int, cols: int, rows: int) -> None:
        before = self.panes.get(pane)
        revision = 0 if before is None else before.terminal.revision + 1
        engine = None if self.make is None else self.make(cols, rows, 50)
        self.panes[pane] = LabPane(pane, LabTerminal(cols, rows, engine, revision))

    def restart(self, pane: int) -> None:
        engine = self.panes[pane].terminal.engine
        self.workspace.restart(pane)
        self.start(pane, engine.cols, engine.rows)

    def resize(self, pane: int, cols: int, rows: int) -> None:
        terminal = self.panes[pane].terminal
        if (terminal.engine.cols, terminal.engine.rows) != (cols, rows):
            terminal.resize(cols, rows)

    def feed(self, pane: int, data: bytes) -> None:
        self.panes[pane].terminal.feed(data)

    def settle(self, *views: Eye) -> None:
        """Time goes by until nothing is due to any of them."""
        for view in views:
            nothing = 0
            while nothing < 2:  # what is held back for a moment is due at the second look
                view.acknowledge()
                self.now += 1.0
                nothing = 0 if view.look() else nothing + 1


class Eye:
    """A view as a simple-minded person would write it: it holds what it was told, no more."""

    def __init__(self, lab: Lab, **how: Any) -> None:  # noqa: ANN401
        self.lab = lab
        self.view: View = lab.hub.attach(**how)
        self.decoder = Decoder()
        self.received = 0
        self.bytes = 0
        self.messages: list[FromService] = []
        self.tabs: Tabs | None = None
        self.layout: Layout | None = None
        self.status: Status | None = None
        self.states: dict[int, PaneState] = {}
        self.lines: dict[int, dict[int, Row]] = {}
        self.bells: list[int] = []

    def look(self) -> bool:
        """Take what is due now; whether there was anything."""
        batch = self.lab.hub.due(self.view, self.lab.now)
        self.bytes += sum(map(len, batch))
        self._take(self.decoder.feed(b"".join(batch)))
        return bool(batch)

    def acknowledge(self) -> None:
        assert self.view.pace.ack(self.received)

    def _take(self, messages: Iterable[FromService]) -> None:
        for message in messages:
            self.received += 1
            self.messages.append(message)
            match message:
                case Tabs():
                    self.tabs = message
                case Layout():
                    self.layout = message
                    shown = {placed.id for placed in message.panes}
                    self.states = {key: at for key, at in self.states.items() if key in shown}
                    self.lines = {key: at for key, at in self.lines.items() if key in shown}
                case PaneState():
                    self._pane(message)
                case PaneGone():
                    self.states.pop(message.pane, None)
                    self.lines.pop(message.pane, None)
                case Status():
                    self.status = message
                case Bell():
                    self.bells.append(message.pane)

    def _pane(self, message: PaneState) -> None:
        lines = {} if message.full else self.lines.get(message.pane, {})
        lines.update(message.lines)
        shown = range(message.base, message.base + message.rows)
        self.lines[message.pane] = {line: row for line, row in lines.items() if line in shown}
        self.states[message.pane] = message

    def rows(self, pane: int) -> list[Row]:
        """What it shows; a line it was never told fails the test."""
        state = self.states[pane]
        return [self.lines[pane][state.base + y] for y in range(state.rows)]

    def check(self) -> None:
        """It shows exactly what there is."""
        lab = self.lab
        assert self.tabs == lab.scene.tabs()
        if self.tabs.active is None:
            return
        wanted = self.view.tab if self.view.tab in lab.workspace.tabs else self.tabs.active
        assert wanted is not None
        assert self.layout == lab.scene.layout(wanted)
        for placed in self.layout.panes:
            if not placed.hidden:
                self._check_pane(placed.id)

    def _check_pane(self, pane: int) -> None:
        engine, state = self.lab.panes[pane].terminal.engine, self.states[pane]
        assert (state.cols, state.rows) == (engine.cols, engine.rows)
        assert self.rows(pane) == wanted_rows(engine)
        cursor = engine.cursor
        told = state.cursor
        assert (told.x, told.y, told.visible, told.shape) == (
            cursor.x,
            cursor.y,
            cursor.visible,
            cursor.shape,
        )
        assert state.modes == engine.modes
        assert state.title == engine.title
        assert state.generation == self.lab.workspace.panes[pane].generation


def wanted_rows(engine: Engine) -> list[Row]:
    """The screen of an emulator as rows of the protocol, made without the code under test."""
    width = width_of(engine.name)
    rows = [
        tuple(
            (text, columns(text, width), None if style == PLAIN else style) for text, style in row
        )
        for row in engine.runs(0, engine.rows)
    ]
    return [*rows, *[()] * (engine.rows - len(rows))]
