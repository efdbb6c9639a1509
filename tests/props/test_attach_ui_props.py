"""A view's keys, mouse and copy mode under any events, pages and layouts."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from brokerd.client import Refusal
from termnode.attach.keys.events import (
    Event,
    FocusEvent,
    KeyEvent,
    MouseEvent,
    PasteEvent,
    RawEvent,
    TextEvent,
)
from termnode.attach.ui import geometry
from termnode.attach.ui.bindings import COMMANDS, COPY
from termnode.attach.ui.copying.mode import CopyMode
from termnode.attach.ui.editing import Line
from termnode.attach.ui.effects import Copy, Send
from termnode.attach.ui.geometry import DIRECTIONS, OPPOSITE, Border, beside, border_at, drag
from termnode.attach.ui.sending import inputs
from termnode.control.schema import validate
from termnode.control.verbs import BY_NAME
from termnode.terminal import engines
from termnode.terminal.engine import Cursor, Modes
from termnode.terminal.input.names import key_names, parse_key
from termnode.terminal.render.cells import columns, width_of
from termnode.view.frames import encode
from termnode.view.messages import (
    Answer,
    Asked,
    AskedGone,
    Bell,
    Do,
    Done,
    FromService,
    Item,
    Key,
    Page,
    PageWanted,
    PaneGone,
    Pasted,
    PlacedPane,
    Raw,
    Tabs,
    Text,
)
from termnode.workspace.model import Workspace
from termnode.workspace.tree import Direction
from tests.support.attach_ui import TWO, Person, row, tab

WIDTH = width_of(engines.available()[0])

KEYS = sorted({key for table in (COMMANDS, COPY) for each in table for key in each.keys})
CHARS = st.sampled_from([*"abyn xXq/?[]=%:'", "é", "日", "\u0301", "\U0001f600"])


def events() -> st.SearchStrategy[Event]:
    places = st.integers(0, 90)
    actions = st.sampled_from(["press", "release", "drag", "move", "wheel-up", "wheel-down"])
    buttons = st.sampled_from(["left", "middle", "right"])
    return st.one_of(
        st.sampled_from(["C-b", *KEYS, *key_names()]).map(KeyEvent),
        st.just(KeyEvent("C-b")),
        st.text(CHARS, min_size=1, max_size=6).map(TextEvent),
        st.builds(PasteEvent, st.text(max_size=10), st.booleans()),
        st.builds(MouseEvent, actions, buttons, places, st.integers(0, 30)),
        st.builds(FocusEvent, st.booleans()),
        st.binary(min_size=1, max_size=4).map(RawEvent),
    )


def panes() -> st.SearchStrategy[tuple[PlacedPane, ...]]:
    return st.lists(
        st.tuples(st.integers(0, 9), st.booleans()), min_size=0, max_size=6
    ).map(lambda splits: placed(workspace(splits)))  # fmt: skip


def workspace(splits: Sequence[tuple[int, bool]], cols: int = 80, rows: int = 23) -> Workspace:
    """Panes split one after the other, as a person would; what has no room is left out."""
    space = Workspace(cols, rows)
    space.add_tab()
    for which, right in splits:
        ids = sorted(space.panes)
        direction = Direction.HORIZONTAL if right else Direction.VERTICAL
        with contextlib.suppress(Refusal):
            space.split(ids[which % len(ids)], direction)
    return space


def placed(space: Workspace) -> tuple[PlacedPane, ...]:
    return tuple(
        PlacedPane(pane, rect.x, rect.y, rect.cols, rect.rows, hidden=False)
        for pane, rect in space.places(next(iter(space.tabs))).items()
    )


@st.composite
def told(draw: st.DrawFn) -> FromService:
    number = draw(st.integers(1, 3))
    modes = Modes(
        alternate=draw(st.booleans()), mouse=draw(st.sampled_from([0, 1000, 1003])),
        focus_events=draw(st.booleans()),
    )  # fmt: skip
    rows = draw(st.integers(1, 30))
    base = draw(st.integers(0, 2_000))
    lines = draw(st.lists(st.text(CHARS, max_size=8), max_size=rows))
    state = Person.state(
        number, [row(line, columns(line, WIDTH)) for line in lines], base,
        draw(st.integers(0, base)), draw(st.integers(1, 90)), rows, modes=modes,
        generation=draw(st.integers(1, 2)), full=draw(st.booleans()), cursor=Cursor(3, 2),
    )  # fmt: skip
    layout = draw(panes())
    choices: list[FromService] = [
        state, state, Person.layout(layout, layout[0].id), PaneGone(number), Bell(number),
        Tabs(1, (tab(1, [each.id for each in layout]), tab(2, (9,)))),
        Asked(number, "?", "what?\nthis"), AskedGone(number),
        Done(number, draw(st.sampled_from([0, 10])), {"message": "no"}),
        Page(number, 1, 1, 0, base + rows, ((base, row("x")),)),
    ]  # fmt: skip
    return draw(st.sampled_from(choices))


def checked(person: Person) -> None:
    """What must hold whatever was done."""
    for effect in person.take():
        if isinstance(effect, Send):
            encode(effect.message)
            if isinstance(effect.message, Do):
                validate(BY_NAME[effect.message.verb], effect.message.body)
    assert len(person.ui.boxes) <= 2
    for copy in person.ui.copies.values():
        assert isinstance(copy, CopyMode)
        x, y = copy.cursor
        assert 0 <= x < copy.cols
        assert 0 <= y < copy.rows
        assert copy.lines.first <= copy.line < copy.lines.end
        assert copy.top <= copy.line < copy.top + copy.rows
        for line in range(copy.top, copy.top + copy.rows):
            assert all(0 <= mark.start < mark.end for mark in copy.marks(line))
        assert copy.position


@settings(max_examples=150)
@given(st.lists(st.one_of(events(), told()), max_size=60), st.booleans())
def test_nothing_that_comes_is_too_much(steps: list[Event | FromService], reads: bool) -> None:
    person = Person(TWO, read_only=reads)
    for step in steps:
        if isinstance(step, Event):
            person.does(step)
        else:
            person.told(step)
        person.passes(0.05)
        if reads:
            sent = [each.message for each in person.effects if isinstance(each, Send)]
            assert all(isinstance(message, PageWanted) for message in sent)
        checked(person)


@given(st.lists(events(), max_size=40), st.booleans())
def test_without_the_prefix_nothing_is_answered_and_all_goes_on(
    steps: list[Event], modal: bool
) -> None:
    """The prefix is the only way to an answer; without it and copy mode keys are the program's."""
    steps = [step for step in steps if step != KeyEvent("C-b")]
    steps = [step for step in steps if not isinstance(step, MouseEvent)]
    person = Person()
    if modal:
        person.command("x")
    person.told(Asked(1, "?", "?"))
    person.passes(1)
    person.take()
    for step in steps:
        person.does(step)
    effects = person.effects.copy()
    assert person.sent(Answer) == []
    assert person.ui.boxes
    person.effects = effects
    if not modal:
        assert merged(item for _, item in person.items()) == merged(map(passed_on, steps))


def passed_on(event: Event) -> Item:
    match event:
        case KeyEvent(name):
            return Text(name) if len(name) == 1 else Key(name)
        case TextEvent(text):
            return Text(text)
        case PasteEvent(text, more):
            return Pasted(text, more)
        case RawEvent(data):
            return Raw(data)
    return Text("")  # focus, which nobody asked for


def merged(items: Iterable[Item]) -> list[object]:
    """Neighbouring texts as one: how they were cut means nothing."""
    parts: list[object] = []
    for item in items:
        if not isinstance(item, Text):
            parts.append(item)
        elif parts and isinstance(parts[-1], str):
            parts[-1] += item.text
        elif item.text:
            parts.append(item.text)
    return parts


@given(st.lists(st.one_of(
    st.builds(Text, st.text(max_size=5).map(lambda text: text * 30_000)),
    st.builds(Raw, st.binary(max_size=3).map(lambda data: data * 50_000)),
    st.builds(Pasted, st.text(max_size=4).map(lambda text: text * 100_000), st.booleans()),
    st.builds(Key, st.just("Up")),
), max_size=6))  # fmt: skip
@settings(max_examples=30)
def test_all_input_fits_and_none_is_lost(items: list[Item]) -> None:
    messages = inputs(1, items)
    for message in messages:
        encode(message)
    sent = [item for message in messages for item in message.items]
    assert "".join(texts(sent)) == "".join(texts(items))
    ends = [item.more for item in items if isinstance(item, Pasted)]
    assert [item.more for item in sent if isinstance(item, Pasted)].count(False) == ends.count(
        False
    )


def texts(items: Iterable[Item]) -> Iterator[str]:
    for item in items:
        match item:
            case Text(text) | Pasted(text):
                yield text
            case Raw(data):
                yield data.decode("latin-1")


# -- places ---------------------------------------------------------------------------------------

SPLITS = st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=8)


@given(panes())
def test_who_is_beside_whom_goes_both_ways(there: tuple[PlacedPane, ...]) -> None:
    for pane in there:
        for way in DIRECTIONS:
            for other in beside(there, pane, way):
                assert pane in beside(there, other, OPPOSITE[way])
        edges = (pane.x == 0, pane.y == 0)
        assert (not beside(there, pane, "left"), not beside(there, pane, "up")) == edges


@given(panes())
def test_a_border_is_where_no_pane_is(there: tuple[PlacedPane, ...]) -> None:
    for x in range(80):
        for y in range(23):
            border = border_at(there, x, y)
            if border is not None:
                assert geometry.at(there, x, y) is None
                assert border.place == (x if border.axis == "cols" else y)


def outer(there: Sequence[PlacedPane], border: Border) -> bool:
    """Whether both panes have another neighbour on that axis, so that it is not known whose."""
    after: geometry.Direction = "right" if border.axis == "cols" else "down"
    before = OPPOSITE[after]
    return bool(beside(there, border.first, before) and beside(there, border.second, after))


def dragged(splits: Sequence[tuple[int, bool]], x: int, y: int, by: int) -> None:
    space = workspace(splits)
    there = placed(space)
    border = border_at(there, x, y)
    assume(border is not None)
    assert border is not None
    assume(not outer(there, border))
    moved = drag(there, border, border.place + by)
    assume(moved.size >= (2 if border.axis == "cols" else 1))
    before = {pane.id: (pane.cols, pane.rows) for pane in there}
    space.resize_pane(moved.pane, **{moved.axis: moved.size})
    after = {pane.id: pane for pane in placed(space)}
    now = after[moved.pane]
    got = now.cols if border.axis == "cols" else now.rows
    assume(got == moved.size)  # the others allow it
    assert Border(after[border.first.id], after[border.second.id], border.axis).place == (
        border.place + by
    ), before


@given(SPLITS, st.integers(0, 79), st.integers(0, 22), st.sampled_from([-1, 1, -3, 4]))
@settings(max_examples=300, suppress_health_check=[HealthCheck.filter_too_much])
def test_a_dragged_border_comes_along(
    splits: list[tuple[int, bool]], x: int, y: int, by: int
) -> None:
    dragged(splits, x, y, by)


# -- copy mode ------------------------------------------------------------------------------------

LINES = st.lists(st.text("ab ", max_size=12).map(str.rstrip), min_size=30, max_size=90)


@given(LINES, st.integers(1, 40), st.booleans(), st.text("ab", min_size=1, max_size=3))
def test_a_search_finds_what_is_there_whatever_the_pages(
    lines: list[str], most: int, forward: bool, pattern: str
) -> None:
    rows = [row(line) for line in lines]
    base = len(lines) - 23
    person = Person()
    person.told(person.state(lines=rows[base:], base=base))
    person.command("[")
    person.press("/" if forward else "?", *pattern, "Enter")
    person.serve(rows, most=most)
    found = person.ui.copies[1]
    assert isinstance(found, CopyMode)
    assert found.place == expected(lines, (base, 0), pattern, forward)


def expected(
    lines: Sequence[str], start: tuple[int, int], pattern: str, forward: bool
) -> tuple[int, int]:
    places = [
        (number, match.start())
        for number, line in enumerate(lines)
        for match in re.finditer(pattern, line)
    ]
    if forward:
        later = [place for place in places if place > start]
        return (later or places or [start])[0]
    earlier = [place for place in places if place < start]
    return (earlier or places or [start])[-1]


MOVES = st.lists(st.sampled_from([*"hjkl0$wbegGHML", "C-u", "C-d"]), max_size=12)


@given(LINES, MOVES, MOVES, st.integers(1, 40))
def test_what_is_copied_is_what_is_marked(
    lines: list[str], before: list[str], after: list[str], most: int
) -> None:
    rows = [row(line) for line in lines]
    base = len(lines) - 23
    person = Person()
    person.told(person.state(lines=rows[base:], base=base))
    person.command("[")
    person.press(*before, "v", *after)
    person.serve(rows, most=most)
    copy = person.ui.copies[1]
    assert isinstance(copy, CopyMode)
    marked = [
        part.rstrip() if marks[0].end >= len(line) else part
        for number, line in enumerate(lines)
        if (marks := list(copy.marks(number)))
        for part in [line[marks[0].start : marks[0].end]]
    ]
    person.press("y")
    effects = [each.text for each in person.effects if isinstance(each, Copy)]
    text = "\n".join(marked)
    assert effects == ([text] if text else [])


@given(st.lists(st.sampled_from([*"ab é", "Left", "Right", "BSpace", "C-w", "C-u", "C-k", "C-e",
                                 "C-a", "Delete", "F1", "C-x", "Tab"]), max_size=40))  # fmt: skip
def test_a_line_keeps_its_bounds(keys: list[str]) -> None:
    line = Line(limit=8)
    for key in keys:
        line.press(parse_key(key))
        assert 0 <= line.cursor <= len(line.text) <= 8
        assert line.text.isprintable()
