"""Line numbers, wipes and places of prompt marks: true to the text, alike in both engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from termnode.terminal import engines
from termnode.terminal.engine import Engine, Event, EventKind
from tests.support.vt_streams import chunks

COLS, ROWS, SCROLLBACK = 20, 6, 50
ENGINES: Final = engines.available()
every_engine = pytest.mark.parametrize("name", ENGINES)
both_engines = pytest.mark.skipif(len(ENGINES) < 2, reason="needs both emulators to compare")
thorough = settings(max_examples=250, deadline=None)

Step = bytes | int
"""Output, or another number of rows."""

LABEL: Final = b"@"
"""Replaced by a text that comes once only."""

_small = st.integers(1, 8)
_line = st.just(LABEL + b"\r\n")
_scroll = st.one_of(
    st.just(b"\n"),
    st.sampled_from((b"\x1bD", b"\x1bE", b"\x1bM", b"w" * 45)),
    st.builds(lambda n, c: b"\x1b[%d%c" % (n, c), _small, st.sampled_from(b"STLM")),
)
_region = st.builds(lambda a, b: b"\x1b[%d;%dr" % (a, b), _small, _small) | st.just(b"\x1b[r")
_move = st.builds(lambda a, b: b"\x1b[%d;%dH" % (a, b), _small, _small)
_erase = st.sampled_from((b"\x1b[J", b"\x1b[1J", b"\x1b[2J", b"\x1b[3J", b"\x1b[?2J", b"\x1b[K"))
_switch = st.builds(
    lambda n, c: b"\x1b[?%d%c" % (n, c), st.sampled_from((47, 1047, 1049)), st.sampled_from(b"hl")
)
_output = st.lists(
    _line | _line | _line | _scroll | _region | _move | _erase | _switch, max_size=12
).map(b"".join)
_rows = st.integers(1, 12)


def labelled(steps: list[Step]) -> list[Step]:
    """The steps with each label made unique."""
    number = iter(range(100_000))
    return [
        step
        if isinstance(step, int)
        else b"".join(
            b"<%d>" % next(number) if byte == LABEL[0] else bytes([byte]) for byte in step
        )
        for step in steps
    ]


_steps = st.lists(_output | _output | _output | _rows, max_size=12).map(labelled)


@contextmanager
def made(*names: str, scrollback: int = SCROLLBACK) -> Iterator[list[Engine]]:
    all_made = [engines.make(name)(COLS, ROWS, scrollback) for name in names]
    try:
        yield all_made
    finally:
        for engine in all_made:
            engine.close()


def take(engine: Engine, step: Step, cuts: list[int]) -> None:
    """One step, its output cut somewhere."""
    if isinstance(step, int):
        engine.resize(engine.cols, step)
        return
    for chunk in chunks(step, cuts):
        engine.feed(chunk)


class Reader:
    """Remembers which text each line of history had, and finds a line that became another."""

    def __init__(self) -> None:
        self.known: dict[int, str] = {}
        self.highest = 0

    def look(self, engine: Engine) -> None:
        scrolled, held = engine.scrolled, engine.history_len
        assert scrolled >= held
        if engine.modes.alternate:
            return
        # Rows that a resize took back from history may be written anew.
        self.known = {line: text for line, text in self.known.items() if line < scrolled}
        for line, text in enumerate(engine.text(-held, held), scrolled - held):
            assert self.known.setdefault(line, text) == text
        self.highest = max(self.highest, scrolled)


@every_engine
@thorough
@given(steps=_steps, cuts=st.lists(st.integers(0, 99), max_size=4))
def test_a_number_names_one_line_as_long_as_it_can_be_read(
    name: str, steps: list[Step], cuts: list[int]
) -> None:
    reader = Reader()
    with made(name) as (engine,):
        for step in steps:
            take(engine, step, cuts)
            reader.look(engine)


_plain = st.lists(
    st.lists(_line, max_size=9).map(b"".join)
    | st.sampled_from(
        (b"\x1b[?1049halt\r\n\n\n\n\n\n\n\x1b[?1049l", b"\x1b[?1049h", b"\x1b[?1049l")
    )
    | _rows,
    max_size=12,
).map(labelled)


@every_engine
@thorough
@given(steps=_plain, cuts=st.lists(st.integers(0, 99), max_size=4))
def test_a_line_keeps_the_number_it_had_on_the_screen(
    name: str, steps: list[Step], cuts: list[int]
) -> None:
    found: dict[str, int] = {}
    with made(name) as (engine,):
        for step in steps:
            take(engine, step, cuts)
            if engine.modes.alternate:
                continue
            top = -engine.history_len
            for line, text in enumerate(engine.text(top), engine.scrolled + top):
                if text:
                    assert found.setdefault(text, line) == line


@both_engines
@thorough
@given(steps=_steps, cuts=st.lists(st.integers(0, 99), max_size=4))
def test_both_number_and_wipe_alike(steps: list[Step], cuts: list[int]) -> None:
    resized = False  # which rows a screen then shows is each engine's own choice
    with made(*ENGINES) as (first, second):
        for step in steps:
            resized = resized or isinstance(step, int)
            before = [engine.erasures for engine in (first, second)]
            of_main = [engine.main_erasures for engine in (first, second)]
            for engine in (first, second):
                take(engine, step, cuts)
            rose = [
                engine.erasures > was for engine, was in zip((first, second), before, strict=True)
            ]
            assert rose[0] == rose[1]
            main_rose = [first.main_erasures > of_main[0], second.main_erasures > of_main[1]]
            assert main_rose[0] == main_rose[1]
            assert main_rose <= rose
            if not resized:
                assert first.scrolled == second.scrolled


_marks = st.sampled_from((b"\x1b]133;A\x07", b"\x1b]133;C\x1b\\", b"\x1b]133;D;1\x07"))
_full = st.just(b"\r" + b"w" * COLS)
_marked = st.lists(
    st.tuples(
        st.lists(_line | _full | _scroll | _move | _switch, max_size=6).map(b"".join), _marks
    ),
    max_size=6,
)


def stands(engine: Engine) -> tuple[int | None, int]:
    """Line and column of the cursor, by what the engine shows."""
    cursor = engine.cursor
    line = None if engine.modes.alternate else engine.scrolled + cursor.y
    return line, cursor.x + cursor.pending_wrap


@every_engine
@thorough
@given(parts=_marked, cuts=st.lists(st.integers(0, 200), max_size=6))
def test_a_prompt_mark_tells_where_the_cursor_stood(
    name: str, parts: list[tuple[bytes, bytes]], cuts: list[int]
) -> None:
    with made(name, name) as (whole, stepped):
        expected = []
        for output, mark in parts:
            stepped.feed(output)
            expected.append(stands(stepped))
            stepped.feed(mark)
        for chunk in chunks(b"".join(output + mark for output, mark in parts), cuts):
            whole.feed(chunk)
        events = whole.take_events()
        assert [(event.line, event.column) for event in events] == expected
        assert events == stepped.take_events()


def lines(first: int, last: int) -> bytes:
    return b"".join(b"line %d\r\n" % n for n in range(first, last))


@every_engine
def test_more_than_history_holds_may_go_by_between_two_looks(name: str) -> None:
    with made(name) as (engine,):
        reader = Reader()
        engine.feed(lines(0, 30))
        reader.look(engine)
        told = engine.scrolled + ROWS
        engine.feed(lines(30, 40_000))
        reader.look(engine)
        assert engine.scrolled - engine.history_len >= told
        engine.feed(lines(40_000, 40_100))
        reader.look(engine)
        assert engine.text(-1, 1) == ["line 40094"]


@every_engine
@pytest.mark.parametrize("scrollback", [0, 1, 50, 5_000])
def test_every_row_is_counted_whatever_history_is_kept(name: str, scrollback: int) -> None:
    with made(name, scrollback=scrollback) as (engine,):
        for batch in range(100):
            engine.feed(lines(batch * 200, batch * 200 + 200))
            assert engine.scrolled == batch * 200 + 200 - ROWS + 1
            assert engine.history_len <= scrollback


@every_engine
@pytest.mark.parametrize("wipe", [b"\x1b[3J", b"\x1b[H\x1b[2J\x1b[3J", b"\x1bc", b"\x1b[?3J"])
def test_wiped_history_gives_no_number_away(name: str, wipe: bytes) -> None:
    with made(name) as (engine,):
        reader = Reader()
        engine.feed(lines(0, 30))
        reader.look(engine)
        scrolled, erasures = engine.scrolled, engine.erasures
        engine.feed(lines(30, 40) + wipe)
        assert engine.scrolled == scrolled + 10
        assert engine.erasures > erasures
        engine.feed(lines(40, 80))
        assert engine.scrolled > scrolled + 10
        reader.look(engine)


@every_engine
def test_another_width_gives_every_line_a_new_number(name: str) -> None:
    with made(name) as (engine,):
        engine.feed(lines(0, 30))
        engine.resize(10, ROWS)  # before anybody asked for a number
        assert engine.scrolled - engine.history_len >= 25 + ROWS
        for cols, rows in ((9, 6), (9, 3), (30, 12), (30, 2)):
            told = engine.scrolled + engine.rows
            anew = cols != engine.cols
            engine.resize(cols, rows)
            if anew:
                assert engine.scrolled - engine.history_len >= told


@every_engine
def test_rows_that_come_back_from_history_keep_their_numbers(name: str) -> None:
    with made(name) as (engine,):
        engine.feed(lines(0, 30))
        for rows in (12, 3, 40, 1, 6):
            engine.resize(COLS, rows)
            top = -engine.history_len
            assert engine.text(top, 1) == ["line 0"]
            assert engine.scrolled + top == 0


@every_engine
def test_the_main_screen_keeps_its_number_behind_the_alternate_one(name: str) -> None:
    with made(name) as (engine,):
        engine.feed(lines(0, 30))
        engine.feed(b"\x1b[?1049h" + lines(0, 50))
        assert engine.scrolled == 25
        engine.feed(b"\x1b[?1049l")
        assert engine.scrolled == 25
        assert engine.text(0, 1) == ["line 25"]


@every_engine
def test_resized_behind_the_alternate_screen(name: str) -> None:
    with made(name) as (engine,):
        engine.feed(lines(0, 30) + b"\x1b[?1049h")
        told = engine.scrolled + 9
        engine.resize(9, 9)
        engine.resize(COLS, ROWS)
        engine.feed(b"\x1b[?1049l")
        assert engine.scrolled - engine.history_len >= told


@every_engine
@pytest.mark.parametrize(
    "sequence",
    [
        b"\x1b[H\x1b[J",
        b"\x1b[H\x1b[m\x1b[0J",
        b"\x1b[2J",
        b"\x1b[02;5J",
        b"\x1b[?2J",
        b"\x1b[3J",
        b"\x1bc",
        b"\x1b[?1049h",
        b"\x1b[?47h\x1b[?47l",
        b"\x1b[?25;1047h\x1b[?1047;25l",
        b"\x1b[?1049s\x1b[?1049h\x1b[?1049r",
        b"\x1b[?" + b"25;" * 13 + b"1049h",
    ],
)
def test_a_wipe_is_told(name: str, sequence: bytes) -> None:
    with made(name) as (engine,):
        engine.feed(b"text")
        before = engine.erasures
        engine.feed(sequence)
        assert engine.erasures > before


@every_engine
def test_what_wipes_a_part_is_no_wipe(name: str) -> None:
    with made(name) as (engine,):
        before = engine.erasures
        engine.feed(
            b"a\x1b[J\x1b[1J\x1b[K\x1b[2K\x1b[9X\x1b[9M\x1b[9S\x1b[?25l\x1b[?2026h\x1b[?1047l\x1b[5J"
        )
        assert engine.erasures == before


class _Miscounting:
    """An engine that takes the rows in its history for all there ever were."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def scrolled(self) -> int:
        return self._engine.history_len

    def __getattr__(self, name: str) -> object:
        return getattr(self._engine, name)


def _after_a_flood(engine: Engine) -> None:
    reader = Reader()
    for first in range(0, 400, 40):
        engine.feed(lines(first, first + 40))
        reader.look(engine)


@every_engine
@pytest.mark.parametrize("broken", [_Miscounting])
def test_the_reader_notices_numbers_that_name_other_lines(
    name: str, broken: Callable[[Engine], Engine]
) -> None:
    with made(name) as (engine,):
        _after_a_flood(engine)
        with pytest.raises(AssertionError):
            _after_a_flood(broken(engine))


def test_events_without_a_place_have_none() -> None:
    for name in ENGINES:
        with made(name) as (engine,):
            engine.feed(b"x\x07")
            assert engine.take_events() == [Event(EventKind.BELL)]
