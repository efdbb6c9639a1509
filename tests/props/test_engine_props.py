"""What holds of every emulator for every stream of bytes."""

from __future__ import annotations

import tracemalloc
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from termnode.terminal import engines
from termnode.terminal.engine import (
    MAX_EVENTS,
    MAX_REPLY_BYTES,
    MAX_TITLE,
    Cursor,
    Engine,
    Event,
    Modes,
    Run,
)
from tests.support.vt_streams import HOSTILE, chunks, stream

ENGINES = engines.available()
COLS, ROWS, SCROLLBACK = 20, 6, 50
bounded = settings(max_examples=120, deadline=None)
every_engine = pytest.mark.parametrize("name", ENGINES)
sizes = st.tuples(st.integers(1, 45), st.integers(1, 15))


@contextmanager
def engine_of(name: str, cols: int = COLS, rows: int = ROWS) -> Iterator[Engine]:
    engine = engines.make(name)(cols, rows, SCROLLBACK)
    try:
        yield engine
    finally:
        engine.close()


class Everything(NamedTuple):
    """All that an engine shows."""

    text: list[str]
    runs: list[tuple[Run, ...]]
    wrapped: list[bool]
    cursor: Cursor
    modes: Modes
    title: str
    replies: bytes
    events: list[Event]


def everything(engine: Engine) -> Everything:
    top = -engine.history_len
    return Everything(
        engine.text(top),
        [tuple(row) for row in engine.runs(top)],
        engine.wrapped(top),
        engine.cursor,
        engine.modes,
        engine.title,
        engine.take_replies(),
        engine.take_events(),
    )


def check(engine: Engine) -> None:
    """The promises of the interface."""
    shown = everything(engine)
    assert not getattr(engine, "dead", False)
    assert len(shown.text) == len(shown.runs) == len(shown.wrapped)
    assert len(engine.text()) == engine.rows
    assert 0 <= shown.cursor.x < engine.cols
    assert 0 <= shown.cursor.y < engine.rows
    assert ["".join(text for text, _ in row).rstrip(" ") for row in shown.runs] == shown.text
    assert not any(unicodedata.category(char) in ("Cc", "Cs") for char in "".join(shown.text))
    assert all(row == row.rstrip(" ") for row in shown.text)
    assert len(shown.title) <= MAX_TITLE
    assert not any(unicodedata.category(char) == "Cc" for char in shown.title)
    assert len(shown.replies) <= MAX_REPLY_BYTES
    assert len(shown.events) <= MAX_EVENTS


@every_engine
@bounded
@given(data=stream)
def test_any_bytes_keep_the_promises(name: str, data: bytes) -> None:
    with engine_of(name) as engine:
        engine.feed(data)
        check(engine)


@every_engine
@bounded
@given(data=stream, cuts=st.lists(st.integers(0, 2_000), max_size=8))
def test_any_chunking_gives_the_same(name: str, data: bytes, cuts: list[int]) -> None:
    with engine_of(name) as whole, engine_of(name) as parts:
        whole.feed(data)
        for chunk in chunks(data, cuts):
            parts.feed(chunk)
        assert everything(parts) == everything(whole)


@every_engine
@settings(max_examples=40, deadline=None)
@given(data=stream)
def test_byte_by_byte_gives_the_same(name: str, data: bytes) -> None:
    with engine_of(name) as whole, engine_of(name) as parts:
        whole.feed(data)
        for byte in data:
            parts.feed(bytes([byte]))
        assert everything(parts) == everything(whole)


@every_engine
@bounded
@given(data=stream, cuts=st.lists(st.integers(0, 2_000), max_size=5))
def test_reading_changes_nothing(name: str, data: bytes, cuts: list[int]) -> None:
    with engine_of(name) as plain, engine_of(name) as read:
        for chunk in chunks(data, cuts):
            plain.feed(chunk)
            read.feed(chunk)
            read.runs(-read.history_len)
            read.text(-3, 2)
            _ = read.cursor, read.modes, read.title
        assert everything(read) == everything(plain)


@every_engine
@bounded
@given(data=stream, rest=stream)
def test_rows_that_changed_are_dirty(name: str, data: bytes, rest: bytes) -> None:
    with engine_of(name) as engine:
        engine.feed(data)
        before = engine.runs()
        engine.take_dirty()
        engine.feed(rest)
        after = engine.runs()
        changed = {y for y in range(ROWS) if list(before[y]) != list(after[y])}
        assert changed <= engine.take_dirty()
        assert engine.take_dirty() == frozenset()


@every_engine
@bounded
@given(data=stream, to=st.lists(sizes, min_size=1, max_size=4), rest=stream)
def test_any_resize_keeps_the_promises(
    name: str, data: bytes, to: list[tuple[int, int]], rest: bytes
) -> None:
    with engine_of(name) as engine:
        engine.feed(data)
        for cols, rows in to:
            before = (engine.cols, engine.rows)
            engine.resize(cols, rows)
            assert (engine.cols, engine.rows) == (cols, rows)
            if before != (cols, rows):
                assert engine.take_dirty() == frozenset(range(rows))
            check(engine)
        engine.feed(rest)
        check(engine)


LETTERS = st.text("abcdefghijklmnopqrstuvwxyz", max_size=40)


def printed(engine: Engine) -> str:
    return "".join("".join(engine.text(-engine.history_len)).split())


@every_engine
@bounded
@given(lines=st.lists(LETTERS, max_size=20), to=st.lists(sizes, max_size=4))
def test_no_character_is_lost_by_scrolling_or_resizing(
    name: str, lines: list[str], to: list[tuple[int, int]]
) -> None:
    # Narrow screens need many rows: the history must hold them all for nothing to be lost.
    engine = engines.make(name)(COLS, ROWS, 2_000)
    engine.feed("\r\n".join(lines).encode())
    assert printed(engine) == "".join(lines)
    for cols, rows in to:
        engine.resize(cols, rows)
        assert printed(engine) == "".join(lines)
    engine.resize(COLS, ROWS)
    assert printed(engine) == "".join(lines)
    engine.close()


def resident() -> int:
    """Bytes of memory this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def growth(feed: Callable[[], None]) -> int:
    before = resident()
    feed()
    return resident() - before


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="counts memory by /proc")
@pytest.mark.parametrize("attack", HOSTILE)
@every_engine
def test_hostile_streams_stay_bounded(name: str, attack: str) -> None:
    data = HOSTILE[attack]
    with engine_of(name, 80, 24) as engine:

        def feed() -> None:
            for start in range(0, len(data), 4096):
                engine.feed(data[start : start + 4096])

        feed()  # tables and pages fill up
        assert growth(feed) < 24_000_000
        check(engine)


def test_the_memory_check_notices_a_hoarder() -> None:
    hoard: list[bytearray] = []
    assert growth(lambda: hoard.append(bytearray(b"x") * 64_000_000)) > 24_000_000


def test_no_python_memory_is_kept_by_closed_engines() -> None:
    def cycle() -> None:
        for name in ENGINES:
            with engine_of(name) as engine:
                engine.feed(b"text\r\n" * 100)
                engine.runs()

    cycle()
    tracemalloc.start()
    try:
        cycle()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(20):
            cycle()
        assert tracemalloc.get_traced_memory()[0] - before < 200_000
    finally:
        tracemalloc.stop()
