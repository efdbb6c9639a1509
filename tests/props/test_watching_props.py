"""Waits that search changes only, against a search of everything that is newer."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from termnode.control.patterns import compile_pattern
from termnode.service.waiting import wait_board, wait_lines, wait_search
from termnode.service.waiting.wait_board import Board
from termnode.service.waiting.wait_conditions import Ask
from termnode.service.waiting.wait_lines import joined, targets
from termnode.service.waiting.wait_match import Candidate, matches
from termnode.service.waiting.wait_search import Search
from tests.support.stub_pane import StubTerminal, live

COLS, ROWS, HISTORY = 8, 4, 12

Step = Callable[[StubTerminal], object]


@pytest.fixture(autouse=True)
def _no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (wait_search, wait_board):
        monkeypatch.setattr(module, "INLINE_S", 60.0)
    monkeypatch.setattr(wait_board, "LOOK_INLINE_S", 60.0)


words = st.text("ab ", min_size=1, max_size=12).map(str.encode)
chunks = st.one_of(
    words,
    words.map(lambda word: word + b"\r\n"),
    st.lists(words, min_size=1, max_size=20).map(b"\r\n".join),
    st.sampled_from(
        [b"\x1b[H", b"\x1b[2J", b"\x1b[K", b"\x1b[2;3H", b"\x1bM", b"\x1b[L", b"\x1b[M", b"\r\n"]
    ),
    st.sampled_from([b"\x1b[?1049h", b"\x1b[?1049l", b"\x1bc", b"\x1b[3J"]),
)
sizes = st.tuples(st.sampled_from([5, COLS, 11]), st.integers(2, 6))
steps = st.lists(st.one_of(chunks, sizes, st.just("look"), st.just("anchor")), max_size=30)


def take(terminal: StubTerminal, step: bytes | tuple[int, int]) -> None:
    if isinstance(step, bytes):
        terminal.feed(step)
    elif step != (terminal.engine.cols, terminal.engine.rows):
        terminal.resize(*step)


def all_matches(terminal: StubTerminal, pattern: str, after: int) -> bool:
    """Whether any line that can be read has a match with something newer, the slow way."""
    log, engine = terminal.log, terminal.engine
    lines = range(log.first, log.base + engine.rows)
    cursor = (log.base + engine.cursor.y, engine.cursor.x)
    compiled = compile_pattern(pattern)
    return any(
        matches(compiled, target.text, target.fresh(log, after)) is True
        for target in targets(engine, log, lines, cursor)
    )


def disagreements(program: list[object], pattern: str) -> list[int]:
    """Where the waits and the slow way differ; looks come as often as the program says."""
    terminal = StubTerminal(COLS, ROWS, HISTORY)
    board = Board(live(terminal), lambda: 0.0)
    after = terminal.log.revision
    waiter = board.join(Ask(until=pattern, after=after))
    wrong: list[int] = []
    expected = False
    for number, step in enumerate([*program, "look"]):
        if step == "anchor" and waiter.verdict is None:
            board.leave(waiter)
            after = terminal.log.revision
            waiter, expected = board.join(Ask(until=pattern, after=after)), False
        elif step == "look":
            expected = expected or all_matches(terminal, pattern, after)
            board.look()
            while waiter.verdict is None and board.due() == 0.0:  # one look may leave some over
                board.look()
            if (waiter.verdict is not None) != expected:
                wrong.append(number)
        elif isinstance(step, bytes | tuple):
            take(terminal, step)
    return wrong


@settings(max_examples=150, deadline=None)
@given(steps, st.sampled_from(["a", "ab", "^b", "a$", "aab", "a b", "^a+$", "b{9}"]))
def test_searching_changes_finds_what_searching_everything_finds(
    program: list[object], pattern: str
) -> None:
    assert disagreements(program, pattern) == []


BURST: list[object] = [
    b"x\r\n",
    "look",
    b"".join(b"%d\r\n" % n for n in range(8)) + b"ab\r\n" * 1 + b"\r\n" * 8,
]


def test_the_comparison_sees_a_search_of_the_screen_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert disagreements(BURST, "ab") == []
    notice = Search.notice

    def screen_alone(self: Search, log: wait_search.Log, rows: int, cursor: int) -> None:
        notice(self, log, rows, cursor)
        self._pending = [line for line in self._pending if line >= log.base]

    monkeypatch.setattr(Search, "notice", screen_alone)
    assert disagreements(BURST, "ab") != []


def test_the_comparison_sees_a_search_that_forgets_its_anchor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program: list[object] = [b"ab\r\n", "anchor", b"\x1b[Hab", "look"]
    assert disagreements(program, "ab") == []
    monkeypatch.setattr(
        Search,
        "_candidates",
        lambda _self, texts, _log: [Candidate(text, None) for text in texts],
    )
    assert disagreements(program, "ab") != []


spans = (
    st.lists(st.integers(0, 60), max_size=8, unique=True)
    .map(sorted)
    .map(lambda cuts: list(zip(cuts[::2], cuts[1::2], strict=False)))
)


@settings(max_examples=300, deadline=None)
@given(st.text("ab", max_size=60), st.text("ab", min_size=1, max_size=5), spans)
def test_a_match_is_new_when_any_of_its_characters_is(
    text: str, word: str, new: list[tuple[int, int]]
) -> None:
    touched = any(
        text.startswith(word, start) and start < end and begin < start + len(word)
        for start in range(len(text))
        for begin, end in new
    )
    assert matches(compile_pattern(word), text, new) is touched


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text("ab ", max_size=COLS).map(str.rstrip), min_size=1, max_size=6))
def test_a_joined_line_has_each_row_at_its_place(rows: list[str]) -> None:
    line = joined(7, rows, COLS)
    assert line.line == 7
    assert [number for number, _ in line.parts] == list(range(7, 7 + len(rows)))
    assert [begin for _, begin in line.parts] == [COLS * n for n in range(len(rows))]
    for row, (_, begin) in zip(rows, line.parts, strict=True):
        assert line.text[begin:].startswith(row)


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 1_000), st.integers(1, 64))
def test_what_one_look_reads_is_bounded(cols: int, searches: int) -> None:
    each = wait_lines.share(cols, searches)
    assert each >= 1
    assert each * searches <= max(wait_lines.MAX_LINES, 8 * searches)
    assert each * cols <= max(wait_lines.MAX_CELLS, 8 * cols)
