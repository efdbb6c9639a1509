"""What holds inside the pyte-based engine, for all bytes and sizes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from termnode.terminal.pyte_engine import PyteEngine
from termnode.terminal.pyte_engine.cells import BLANK, Row
from termnode.terminal.pyte_engine.reflow import reflow
from tests.support.vt_streams import chunks, stream

bounded = settings(max_examples=150, deadline=None)
sizes = st.tuples(st.integers(1, 30), st.integers(1, 8))
step = stream | sizes
steps = st.lists(step, max_size=8)

CELLS = ("a", "b", "日", "本", "e\u0301", " ")
words = st.lists(st.sampled_from(CELLS), max_size=60).map("".join)


def run(engine: PyteEngine, step: bytes | tuple[int, int]) -> None:
    if isinstance(step, bytes):
        engine.feed(step)
    else:
        engine.resize(*step)


def inside(engine: PyteEngine) -> object:
    screen = engine.screen
    rows = [(list(row), row.wrapped) for row in (*screen.history.rows, *screen.grid)]
    return rows, screen.cursor.x, screen.cursor.y, screen.mode, screen.margins, engine.modes


@bounded
@given(size=sizes, steps=steps)
def test_the_screen_is_consistent_after_every_step(
    size: tuple[int, int], steps: list[bytes | tuple[int, int]]
) -> None:
    engine = PyteEngine(*size, 20)
    for each in steps:
        run(engine, each)
        engine.verify()


@bounded
@given(size=sizes, steps=steps, cuts=st.lists(st.integers(0, 500), max_size=6))
def test_all_that_is_kept_is_the_same_for_any_chunking(
    size: tuple[int, int], steps: list[bytes | tuple[int, int]], cuts: list[int]
) -> None:
    whole, parts = PyteEngine(*size, 20), PyteEngine(*size, 20)
    for each in steps:
        run(whole, each)
        for part in chunks(each, cuts) if isinstance(each, bytes) else [each]:
            run(parts, part)
        assert inside(parts) == inside(whole)
    assert parts.take_replies() == whole.take_replies()
    assert parts.take_events() == whole.take_events()


def printed(engine: PyteEngine) -> str:
    return "".join("".join(engine.text(-engine.history_len)).split())


@bounded
@given(size=sizes, lines=st.lists(words, max_size=8), to=st.lists(sizes, max_size=4))
def test_every_printed_character_stays_through_any_resizes(
    size: tuple[int, int], lines: list[str], to: list[tuple[int, int]]
) -> None:
    engine = PyteEngine(*size, 5_000)
    text = "\r\n".join(lines)
    engine.feed(text.encode())
    # Marks are not repeated on a cell that has them all, so cells compare as they were printed.
    expected = "".join(text.split())
    assert printed(engine) == expected
    for cols, rows in (*to, size):
        engine.resize(cols, rows)
        engine.verify()
        assert printed(engine) == expected


@bounded
@given(
    lines=st.lists(words, min_size=1, max_size=6), old=st.integers(2, 30), new=st.integers(2, 30)
)
def test_laying_out_and_back_gives_the_same_lines(lines: list[str], old: int, new: int) -> None:
    def joined(rows: list[Row]) -> list[str]:
        text = "".join("".join(c[0] for c in r) + ("" if r.wrapped else "\n") for r in rows)
        return [line.rstrip(" ") for line in text.split("\n")]

    engine = PyteEngine(old, 3, 5_000)
    engine.feed("\r\n".join(lines).encode())
    rows = [*engine.screen.history.rows, *engine.screen.grid]
    before = joined(rows)
    there, _ = reflow(rows, old, new, [], 10_000)
    assert joined(there) == before
    back, _ = reflow(there, new, old, [], 10_000)
    assert joined(back) == before
    assert all(len(row) <= old for row in back)
    assert all(row[0] != ("", BLANK[1]) for row in back if row)
