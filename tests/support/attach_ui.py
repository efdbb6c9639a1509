"""A person at a view, and a service that is played by the test: events in, effects out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from termnode.attach.config import Config
from termnode.attach.keys.events import Event, KeyEvent, MouseEvent, TextEvent
from termnode.attach.ui.controller import Controller
from termnode.attach.ui.effects import Effect, Send
from termnode.terminal import engines
from termnode.terminal.engine import Cursor, Modes
from termnode.view.messages import (
    Do,
    Done,
    FromService,
    Input,
    Item,
    Layout,
    Message,
    Page,
    PageWanted,
    PaneState,
    PlacedPane,
    Row,
    TabInfo,
    Tabs,
    Welcome,
)

_T = TypeVar("_T")

ONE = (PlacedPane(1, 0, 0, 80, 23, hidden=False),)
TWO = (
    PlacedPane(1, 0, 0, 40, 23, hidden=False),
    PlacedPane(2, 41, 0, 39, 23, hidden=False),
)
"""Side by side."""


def row(text: str, cells: int | None = None) -> Row:
    return ((text, len(text) if cells is None else cells, None),) if text else ()


def tab(number: int = 1, panes: Sequence[int] = (1,), title: str = "sh") -> TabInfo:
    return TabInfo(number, title, tuple(panes), panes[0], zoomed=False, bell=False, activity=False)


class Person:
    """A view of 80x24 with the given panes in tab 1, and what came of what was done."""

    def __init__(
        self,
        panes: Sequence[PlacedPane] = ONE,
        *,
        config: Config | None = None,
        active: int = 1,
        tabs: Sequence[TabInfo] | None = None,
        read_only: bool = False,
    ) -> None:
        self.controller = Controller(config or Config())
        self.ui = self.controller.ui
        self.now = 100.0
        self.effects: list[Effect] = []
        self.answers = True
        """Whether commands are answered before the next event, unless the test has done so."""
        self._asked: list[int] = []
        emulator = engines.available()[0]
        ids = [pane.id for pane in panes]
        self.told(
            Welcome("term", 1, 1, "open", emulator, read_only=read_only),
            Tabs(1, tuple(tabs or (tab(1, ids),))),
            self.layout(panes, active),
            *(self.state(pane.id, cols=pane.cols, rows=pane.rows) for pane in panes),
        )
        self.take()

    @staticmethod
    def layout(panes: Sequence[PlacedPane], active: int = 1, zoomed: int | None = None) -> Layout:
        return Layout(1, 80, 23, tuple(panes), zoomed, active)

    @staticmethod
    def state(  # noqa: PLR0917 - in the order of the message
        pane: int = 1,
        lines: Sequence[Row] = (),
        base: int = 0,
        first: int = 0,
        cols: int = 80,
        rows: int = 23,
        *,
        modes: Modes | None = None,
        generation: int = 1,
        full: bool = True,
        cursor: Cursor | None = None,
    ) -> PaneState:
        shown = [*lines, *[()] * (rows - len(lines))]
        told = tuple((base + y, line) for y, line in enumerate(shown))
        return PaneState(
            pane, generation, cols, rows, base, first, told, cursor or Cursor(0, 0),
            modes or Modes(), "sh", "running", full, 1,
        )  # fmt: skip

    def told(self, *messages: FromService) -> None:
        for message in messages:
            if isinstance(message, Done) and message.req in self._asked:
                self._asked.remove(message.req)
            self._note(self.controller.told(message, self.now))

    def does(self, *events: Event) -> None:
        if self.answers:
            self.told(*(Done(request, 0, {}) for request in list(self._asked)))
        self._note(self.controller.handle_all(events, self.now))

    def _note(self, effects: list[Effect]) -> None:
        self.effects += effects
        sent = [each.message for each in effects if isinstance(each, Send)]
        self._asked += [message.req for message in sent if isinstance(message, Do)]

    def press(self, *names: str) -> None:
        """Keys by name; a single character is typed text, as a terminal tells it."""
        for name in names:
            self.does(TextEvent(name) if len(name) == 1 else KeyEvent(name))

    def command(self, *names: str) -> None:
        self.press("C-b", *names)

    def mouse(self, action: str, x: int, y: int, button: str = "left", *held: str) -> None:
        self.does(MouseEvent(action, button, x, y, held))

    def passes(self, seconds: float) -> None:
        self.now += seconds
        self.effects += self.controller.tick(self.now)

    def take(self) -> list[Effect]:
        """All effects since the last call."""
        effects, self.effects = self.effects, []
        return effects

    def sent(self, kind: type[_T]) -> list[_T]:
        """Messages of one kind that were sent since the last call of this or `take`."""
        messages: list[Message] = [each.message for each in self.take() if isinstance(each, Send)]
        return [message for message in messages if isinstance(message, kind)]

    def items(self) -> list[tuple[int, Item]]:
        """What was sent to panes."""
        return [(each.pane, item) for each in self.sent(Input) for item in each.items]

    def verbs(self) -> list[tuple[str, dict[str, Any]]]:
        """Which verbs were asked for."""
        return [(each.verb, dict(each.body)) for each in self.sent(Do)]

    def refuse_last(self, message: str) -> None:
        asked = self.sent(Do)[-1]
        body = {"error_code": "CONFLICT", "message": message, "details": {}}
        self.told(Done(asked.req, 10, body))

    def serve(self, lines: Sequence[Row], first: int = 0, most: int = 500) -> int:
        """Answer all pages that are asked for out of these lines; how many there were."""
        served = 0
        for _ in range(1_000):
            wanted = self.sent(PageWanted)
            if not wanted:
                return served
            for page in wanted:
                served += 1
                numbers = range(max(page.line, first), page.line + min(page.lines, most))
                got = [(n, lines[n - first]) for n in numbers if n - first < len(lines)]
                end = first + len(lines)
                self.told(Page(page.req, page.pane, 1, first, end, tuple(got)))
        raise AssertionError("pages are asked for without end")
