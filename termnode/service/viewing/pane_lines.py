"""One pane as views are told of it: its frame, and its lines, each encoded once. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, Protocol

from termnode.service.live_pane import LivePane
from termnode.terminal.engine import PLAIN, Cursor, Engine, Modes, Run
from termnode.terminal.render.cells import Width, columns, width_of
from termnode.view.frames import encode_line
from termnode.view.messages import Row, Run3

_AT_ONCE: Final = 16
"""Rows read from the emulator at a time."""


MAX_LINKS: Final = 131_072
"""Characters of the links in one line."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What is told of a pane besides its lines."""

    generation: int
    cols: int
    rows: int
    base: int
    first: int
    cursor: Cursor
    modes: Modes
    title: str
    state: str

    @property
    def lines(self) -> range:
        """The lines on the screen."""
        return range(self.base, self.base + self.rows)


class PaneLook(Protocol):
    """What the hub reads of a pane, as it is now."""

    @property
    def frame(self) -> Frame: ...  # noqa: D102
    @property
    def revision(self) -> int: ...  # noqa: D102
    @property
    def numbering(self) -> object: ...  # noqa: D102
    def newer(self, since: int) -> Iterable[int] | None:
        """The lines that changed since that revision; None when numbers began anew."""

    def encoded(self, lines: Iterable[int]) -> list[bytes]:
        """Those lines of the screen."""


class PaneLines:
    """The lines of one program's screen. ``look`` first, in the same step as everything else."""

    def __init__(self, live: LivePane) -> None:
        self.live = live
        self.count = 0
        """Lines that were encoded."""
        self._frame: Frame | None = None
        self._looked = -1
        self._layout = -1
        self._encoded: dict[int, bytes] = {}

    def look(self, generation: int, title: str) -> None:
        """Take in the screen as it is; lines that changed are to be encoded again."""
        live, terminal = self.live, self.live.terminal
        log, engine = terminal.log, terminal.engine
        self._forget(log.revision)
        self._frame = Frame(
            generation,
            engine.cols,
            engine.rows,
            log.base,
            log.first,
            _cursor(engine),
            engine.modes,
            title,
            state_of(live),
        )

    def _forget(self, revision: int) -> None:
        log = self.live.terminal.log
        if revision == self._looked and log.layout == self._layout:
            return
        changes = log.changes(self._looked)
        if changes.full or log.layout != self._layout:
            self._encoded.clear()
        else:
            for line in changes.lines:
                self._encoded.pop(line, None)
        self._looked, self._layout = revision, log.layout
        shown = range(log.base, log.base + self.live.terminal.engine.rows)
        for line in [line for line in self._encoded if line not in shown]:
            del self._encoded[line]

    @property
    def frame(self) -> Frame:
        """As it was at the last look."""
        assert self._frame is not None, "look first"
        return self._frame

    @property
    def revision(self) -> int:
        """That of the last look."""
        return self._looked

    @property
    def numbering(self) -> object:
        """Another value when numbers began anew."""
        return self.live, self._layout

    def newer(self, since: int) -> Iterable[int] | None:
        """The lines that changed since that revision; None when numbers began anew."""
        changes = self.live.terminal.log.changes(since)
        return None if changes.full else changes.lines

    def encoded(self, lines: Iterable[int]) -> list[bytes]:
        """Those lines of the screen, ascending."""
        wanted = list(lines)
        missing = [line for line in wanted if line not in self._encoded]
        if missing:
            engine = self.live.terminal.engine
            width = width_of(engine.name)
            for stretch in _stretches(missing):
                self._encode(engine, width, stretch)
        return [self._encoded[line] for line in wanted]

    def _encode(self, engine: Engine, width: Width, stretch: Sequence[int]) -> None:
        """Neighbouring lines. A failing emulator may have fewer to give: the rest are blank."""
        rows = list(engine.runs(stretch[0] - self.frame.base, len(stretch)))
        rows += [()] * (len(stretch) - len(rows))
        for line, runs in zip(stretch, rows, strict=False):
            self._encoded[line] = encode_line((line, wire_row(runs, width)))
        self.count += len(stretch)


class Starting:
    """A pane whose program is being started: an empty screen."""

    revision = -1
    numbering: object = None

    def __init__(self, generation: int, cols: int, rows: int, title: str) -> None:
        cursor = Cursor(0, 0, visible=False)
        self.frame = Frame(generation, cols, rows, 0, 0, cursor, Modes(), title, "starting")

    def newer(self, since: int) -> Iterable[int] | None:  # noqa: ARG002  # as PaneLook has it
        """Nothing ever changes."""
        return ()

    def encoded(self, lines: Iterable[int]) -> list[bytes]:
        """Blank lines."""
        return [encode_line((line, ())) for line in lines]


def wire_row(runs: Sequence[Run], width: Width) -> Row:
    """A row's runs as they travel; links that are too many for a frame are left out, all of them.

    A program chooses how long they are, and must not shut anybody out with them.
    """
    row = tuple(
        (text, columns(text, width), None if style == PLAIN else style) for text, style in runs
    )
    links = sum(len(style.link) for _, _, style in row if style is not None and style.link)
    return row if links <= MAX_LINKS else tuple(map(_without_link, row))


def _without_link(run: Run3) -> Run3:
    text, cells, style = run
    plain = None if style is None else replace(style, link=None)
    return text, cells, None if plain == PLAIN else plain


def state_of(live: LivePane) -> str:
    """What views are told of a program: running, or how it ended."""
    ending = live.exit_body()
    if ending is None:
        return "running"
    if "code" in ending:
        return f"exited {ending['code']}"
    return f"signal {ending['signal']}" if "signal" in ending else "exited"


def _cursor(engine: Engine) -> Cursor:
    at = engine.cursor
    return Cursor(at.x, at.y, at.visible, at.shape)


def _stretches(lines: Sequence[int]) -> Iterable[list[int]]:
    """Neighbouring lines together, at most so many."""
    for _, group in groupby(enumerate(lines), key=lambda item: item[1] - item[0]):
        together = [line for _, line in group]
        yield from (together[at : at + _AT_ONCE] for at in range(0, len(together), _AT_ONCE))
