"""A view shows what its panes show, and painting what changed comes to the same as painting all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brokerd.client import Refusal
from termnode.attach import places
from termnode.attach.compose import Composer, Frame, compose
from termnode.attach.paint import Painter
from termnode.attach.places import tab_room
from termnode.attach.ui.state import Box, Mark, PromptView, Ui
from termnode.terminal import engines
from termnode.terminal.engine import Style
from termnode.view.messages import Bell, Layout, PaneGone, PaneState, PlacedPane, Row, TabInfo, Tabs
from termnode.workspace.tree import Direction
from tests.support.screen_lab import Grid, ScreenLab, Shown, frame_grid
from tests.support.vt_streams import well_formed

EMULATORS = engines.available()
FRAMES = "─│┌┐└┘├┤┬┴┼·"

link = st.sampled_from((b"\x1b]8;;http://h/a\x1b\\link\x1b]8;;\x1b\\", b"\x1b]8;;x:y z\x07w"))
words = st.sampled_from(
    (
        "❤\ufe0f x",
        "e\u0301e\u0301",
        "日本",
        "👩\u200d👧|",
        "🇫🇷",
        "ab",
        "─┼",
        "\x1b[7m  \x1b[m",
        "½ñ",
    )
).map(str.encode)
place = st.builds(lambda x, y: b"\x1b[%d;%dH" % (y, x), st.integers(1, 30), st.integers(1, 9))
output = st.lists(words | place | link, max_size=5).map(b"".join) | well_formed
sizes = st.tuples(st.integers(1, 40), st.integers(1, 14))


@dataclass
class Copying:
    """Copy mode over a few lines."""

    top: int
    cursor: tuple[int, int]
    position: str
    start: int

    def row(self, line: int) -> Row | None:
        return (("history 中文 ", 13, None), (str(line), len(str(line)), Style(fg=3)))

    def marks(self, line: int) -> Sequence[Mark]:
        return [Mark(self.start, self.start + 3, Style(reverse=True))] if line % 2 else []


boxes = st.builds(
    Box,
    title=st.text(max_size=8),
    lines=st.lists(st.text(max_size=30), max_size=4).map(tuple),
    footer=st.sampled_from(("", "y: yes")),
    top=st.integers(0, 5),
    selected=st.none() | st.integers(0, 4),
    question=st.booleans(),
)
prompts = st.builds(PromptView, text=st.text(max_size=50), cursor=st.integers(0, 50))
extras = st.fixed_dictionaries(
    {
        "boxes": st.lists(boxes, max_size=2),
        "prompt": st.none() | prompts,
        "message": st.none() | st.text(max_size=50),
        "prefix": st.booleans(),
        "copies": st.just({})
        | st.builds(
            lambda pane, copy: {pane: copy},
            st.integers(1, 4),
            st.builds(
                Copying,
                top=st.integers(0, 9),
                cursor=st.tuples(st.integers(0, 9), st.integers(0, 3)),
                position=st.sampled_from(("", "[12/340]")),
                start=st.integers(0, 12),
            ),
        ),
    }
)


def split(lab: ScreenLab, number: int) -> None:
    direction = Direction.HORIZONTAL if number % 2 else Direction.VERTICAL
    lab.workspace.split(lab.panes[number % len(lab.panes)], direction)


def zoom(lab: ScreenLab, number: int) -> None:
    lab.workspace.zoom(lab.panes[number % len(lab.panes)])


def focus(lab: ScreenLab, number: int) -> None:
    lab.workspace.focus(lab.panes[number % len(lab.panes)])


def resize(lab: ScreenLab, number: int) -> None:
    lab.workspace.resize(1 + number % 41, 1 + number % 13)


def close(lab: ScreenLab, number: int) -> None:
    if len(lab.panes) > 1:
        lab.workspace.close_pane(lab.panes[number % len(lab.panes)])


Move = Callable[[ScreenLab, int], None]
moves = st.tuples(
    st.sampled_from((split, split, split, zoom, focus, resize, close)), st.integers(0, 99)
)
layouts = st.lists(moves, max_size=6)
step = st.tuples(st.lists(moves, max_size=1), st.integers(0, 9), output, st.none() | extras)


Cell = tuple[str, Style]
Steps = list[tuple[list[tuple[Move, int]], int, bytes, dict[str, object] | None]]


def arrange(lab: ScreenLab, moved: list[tuple[Move, int]]) -> None:
    for move, number in moved:
        try:
            move(lab, number)
        except Refusal:
            continue


def feed(lab: ScreenLab, number: int, data: bytes) -> None:
    lab.feed(lab.panes[number % len(lab.panes)], data)


# -- composition ----------------------------------------------------------------------------------


def expected(lab: ScreenLab, frame: Frame, corner: tuple[int, int]) -> list[tuple[int, int, Cell]]:
    """Place and look of each cell of the view that belongs to a pane."""
    layout = lab.model.layout
    assert layout is not None
    room = tab_room(frame.cols, frame.rows)
    cells: list[tuple[int, int, Cell]] = []
    for at in layout.panes:
        if at.hidden:
            continue
        for dy, row in enumerate(lab.grid(at.id)):
            y = at.y + dy - corner[1]
            line = [(at.x + dx - corner[0], cell) for dx, cell in enumerate(row)]
            if 0 <= y < room[1]:
                cells += [(x, y, cell) for x, cell in _cropped(line, room[0])]
    return cells


def _cropped(line: list[tuple[int, Cell]], cols: int) -> list[tuple[int, Cell]]:
    """The cells that are in view; half a wide character is blank."""
    seen = []
    for at, (x, (text, style)) in enumerate(line):
        shown = text
        if (not text and x == 0) or (
            x == cols - 1 and at + 1 < len(line) and not line[at + 1][1][0]
        ):
            shown = " "
        if 0 <= x < cols:
            seen.append((x, (shown, style)))
    return seen


def check_composed(lab: ScreenLab, frame: Frame, corner: tuple[int, int]) -> None:
    grid = frame_grid(frame, lab.width)
    assert len(grid) == frame.rows
    assert all(len(row) == frame.cols for row in grid)
    wanted = expected(lab, frame, corner)
    for x, y, cell in wanted:
        assert grid[y][x] == cell, (x, y)
    check_borders(lab, grid, {(x, y) for x, y, _ in wanted}, frame)


def check_borders(lab: ScreenLab, grid: Grid, taken: set[tuple[int, int]], frame: Frame) -> None:
    cols, rows = tab_room(frame.cols, frame.rows)
    for y in range(rows):
        for x in range(cols):
            assert (x, y) in taken or grid[y][x][0] in FRAMES


@dataclass
class Scene:
    """A tab to begin with."""

    size: tuple[int, int]
    moved: list[tuple[Move, int]]

    def play(self, emulator: str, use: Callable[[ScreenLab], None]) -> None:
        lab = ScreenLab(emulator, *self.size)
        try:
            arrange(lab, self.moved)
            use(lab)
        finally:
            lab.close()


scenes = st.builds(Scene, sizes, layouts)


@pytest.mark.parametrize("emulator", EMULATORS)
@settings(max_examples=120)
@given(scene=scenes, view=sizes, data=st.lists(output, max_size=4))
def test_each_pane_is_seen_at_its_place(
    emulator: str, scene: Scene, view: tuple[int, int], data: list[bytes]
) -> None:
    def use(lab: ScreenLab) -> None:
        for number, each in enumerate(data):
            feed(lab, number, each)
        lab.tell()
        ui = Ui()
        frame = compose(lab.model, ui, *view)
        check_composed(lab, frame, ui.offset)
        check_cursor(lab, ui, frame)

    scene.play(emulator, use)


def check_cursor(lab: ScreenLab, ui: Ui, frame: Frame) -> None:
    """The active pane's cursor is in view, wherever it is in a tab that is too large."""
    at = lab.model.active
    assert at is not None
    cursor = lab.engines[at.id].cursor
    seen = (frame.cursor.x, frame.cursor.y)
    if cursor.visible and frame.cursor.visible:
        assert seen == (at.x + cursor.x - ui.offset[0], at.y + cursor.y - ui.offset[1])
    assert frame.cursor.visible == cursor.visible


def test_a_border_over_a_pane_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check fails for a plan that begins a pane one column late."""
    lab = ScreenLab(EMULATORS[0], 20, 4)
    split(lab, 1)
    feed(lab, 0, b"left")
    feed(lab, 1, b"right")
    lab.tell()
    check_composed(lab, compose(lab.model, Ui(), 20, 5), (0, 0))
    real = places.plan

    def late(layout: Layout, *rest: object) -> object:
        panes = tuple(replace(at, x=at.x + 1, cols=at.cols - 1) for at in layout.panes)
        return real(replace(layout, panes=panes), *rest)  # type: ignore[arg-type]

    monkeypatch.setattr("termnode.attach.compose.plan", late)
    with pytest.raises(AssertionError):
        check_composed(lab, compose(lab.model, Ui(), 20, 5), (0, 0))
    lab.close()


# -- painting -------------------------------------------------------------------------------------


class Forgetful(Painter):
    """A painter that believes that every second frame changed nothing but its first row."""

    def __init__(self) -> None:
        super().__init__()
        self._count = 0

    def paint(self, frame: Frame) -> bytes:
        self._count += 1
        if self._count % 2:
            return super().paint(frame)
        painted = super().paint(frame._replace(lines=(frame.lines[0], *[()] * (frame.rows - 1))))
        self._last = frame
        return painted


def check_painting(
    frames: Sequence[Frame], emulator: str, depth: int, painter: Painter | None = None
) -> None:
    incremental = painter or Painter(depth, synchronized=True)
    shown = Shown(emulator, frames[0].cols, frames[0].rows)
    try:
        for frame in frames:
            if (shown.engine.cols, shown.engine.rows) != (frame.cols, frame.rows):
                shown.engine.resize(frame.cols, frame.rows)
            shown.feed(incremental.paint(frame))
            assert shown.seen() == painted_anew(frame, emulator, depth)
            assert incremental.paint(frame) == b""
    finally:
        shown.close()


def painted_anew(frame: Frame, emulator: str, depth: int) -> tuple[Grid, object]:
    shown = Shown(emulator, frame.cols, frame.rows)
    try:
        shown.feed(b"\x1b[31;44mold\r\n\x1b[4h\x1b[2;3r\x1b[?6h")  # what somebody else left there
        shown.feed(Painter(depth).paint(frame))
        return shown.seen()
    finally:
        shown.close()


@pytest.mark.parametrize("terminal", EMULATORS)
@pytest.mark.parametrize("emulator", EMULATORS)
@settings(max_examples=80)
@given(
    scene=scenes,
    steps=st.lists(step, min_size=1, max_size=5),
    looks=st.tuples(st.lists(sizes, min_size=1, max_size=2), st.sampled_from((16, 256, 1 << 24))),
)
def test_what_changed_comes_to_the_same_as_all(
    terminal: str,
    emulator: str,
    scene: Scene,
    steps: Steps,
    looks: tuple[list[tuple[int, int]], int],
) -> None:
    views, depth = looks

    def use(lab: ScreenLab) -> None:
        composer = Composer()
        frames = []
        for count, (more, number, data, extra) in enumerate(steps):
            arrange(lab, more)
            feed(lab, number, data)
            lab.tell()
            view = views[count * len(views) // len(steps)]
            ui = Ui(**(extra or {}))  # type: ignore[arg-type]
            frame = composer.compose(lab.model, ui, *view)
            assert frame == compose(lab.model, ui, *view)  # kept rows are those of a new one
            frames.append(frame)
        check_painting(frames, terminal, depth)

    scene.play(emulator, use)


@pytest.mark.parametrize("terminal", EMULATORS)
@settings(max_examples=100)
@given(size=sizes, data=st.lists(output, min_size=1, max_size=3))
def test_the_terminal_shows_the_frame(
    terminal: str, size: tuple[int, int], data: list[bytes]
) -> None:
    """Cell by cell, links too where they may be written."""

    def use(lab: ScreenLab) -> None:
        for each in data:
            feed(lab, 0, each)
        lab.tell()
        frame = compose(lab.model, Ui(), *size)
        rows, _ = painted_anew(frame, terminal, 1 << 24)
        assert [allowed(row) for row in rows] == [allowed(r) for r in frame_grid(frame, lab.width)]

    Scene(size, []).play(terminal, use)


def allowed(row: list[Cell]) -> list[Cell]:
    """Without links that may not be written, and without what joins an emoji in the last column:
    there the terminal must not wrap, and the fallback emulator then joins nothing.
    """
    cells = [
        (text, style if style.link == "http://h/a" else replace(style, link=None))
        for text, style in row
    ]
    last = len(cells) - (2 if len(cells) > 1 and not cells[-1][0] else 1)
    cells[last] = (cells[last][0].rstrip("\ufe0f\u200d"), cells[last][1])
    return cells


def test_a_painter_that_misses_a_change_is_seen() -> None:
    lab = ScreenLab(EMULATORS[0], 10, 3)
    frames = []
    for text in (b"one\r\n", b"two\r\n", b"three"):
        feed(lab, 0, text)
        lab.tell()
        frames.append(compose(lab.model, Ui(), 10, 4))
    check_painting(frames, EMULATORS[0], 256)
    with pytest.raises(AssertionError):
        check_painting(frames, EMULATORS[0], 256, Forgetful())
    lab.close()


# -- anything at all ------------------------------------------------------------------------------

numbers = st.integers(0, 60)
placed = st.builds(
    PlacedPane, id=st.integers(1, 5), x=numbers, y=numbers, cols=st.integers(1, 60),
    rows=st.integers(1, 60), hidden=st.booleans(),
)  # fmt: skip
rows_told = st.lists(
    st.tuples(st.text(max_size=6), st.integers(0, 8), st.none() | st.just(Style(bg=4))), max_size=3
).map(tuple)
messages = (
    st.builds(
        Layout, tab=numbers, cols=numbers, rows=numbers, zoomed=st.none(), active=st.integers(1, 5),
        panes=st.lists(placed, max_size=4).map(tuple),
    )
    | st.builds(
        PaneState, pane=st.integers(1, 5), generation=st.integers(1, 2), cols=st.integers(1, 60),
        rows=st.integers(1, 60), base=st.integers(0, 99), first=st.just(0),
        lines=st.lists(st.tuples(st.integers(0, 99), rows_told), max_size=4).map(tuple),
        full=st.booleans(), state=st.sampled_from(("running", "exited 3")), title=st.text(),
        revision=numbers,
    )
    | st.builds(PaneGone, st.integers(1, 5))
    | st.builds(Bell, st.integers(1, 5))
    | st.builds(
        Tabs, active=st.none() | numbers,
        tabs=st.lists(st.builds(TabInfo, title=st.text(max_size=30)), max_size=20).map(tuple),
    )
)  # fmt: skip


@settings(max_examples=300)
@given(told=st.lists(messages, max_size=8), view=sizes, extra=extras)
def test_nothing_that_is_told_makes_it_raise(
    told: list[object], view: tuple[int, int], extra: dict[str, object]
) -> None:
    """Layouts that overlap or leave holes, lines of wrong widths, control characters in text."""
    lab = ScreenLab("pyte", 8, 2)
    composer, painter = Composer(), Painter()
    for message in told:
        lab.model.apply(message)  # type: ignore[arg-type]
        ui = Ui(**extra)  # type: ignore[arg-type]
        frame = composer.compose(lab.model, ui, *view)
        assert len(frame.lines) == frame.rows
        assert all(sum(run[1] for run in row) <= frame.cols for row in frame.lines)
        painted = painter.paint(frame)
        assert not set(painted.replace(b"\x1b", b"")) & {*range(32), 127}
        assert b"\xc2\x9b" not in painted
    lab.close()


@pytest.mark.parametrize("size", [(1, 1), (2, 1), (1, 2), (2, 2), (3, 3), (0, 0)])
@given(extra=extras)
def test_the_smallest_views(size: tuple[int, int], extra: dict[str, object]) -> None:
    lab = ScreenLab("pyte", 30, 9)
    arrange(lab, [(split, 0), (split, 1), (split, 2)])
    feed(lab, 0, "日本語".encode())
    lab.tell()
    frame = compose(lab.model, Ui(**extra), *size)  # type: ignore[arg-type]
    check_painting([frame], "pyte", 256)
    lab.close()
