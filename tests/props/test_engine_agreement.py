"""The two emulators agree on what sound programs write."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from termnode.terminal import engines
from termnode.terminal.engine import PLAIN, Engine, Run, Style
from tests.support.vt_streams import well_formed

pytestmark = pytest.mark.skipif(
    len(engines.available()) < 2, reason="needs both emulators to compare"
)


def cells(engine: Engine) -> list[list[tuple[str, object]]]:
    """Every character with its looks; of a blank only the background is seen."""
    return [list(_seen(row)) for row in engine.runs()]


def _seen(row: Sequence[Run]) -> list[tuple[str, object]]:
    shown: list[tuple[str, object]] = [
        (char, style if char != " " else style.bg) for text, style in row for char in text
    ]
    while shown and shown[-1] == (" ", None):
        shown.pop()
    return shown


@settings(max_examples=300, deadline=None)
@given(data=well_formed)
def test_both_show_the_same(data: bytes) -> None:
    first, second = (engines.make(name)(20, 6, 50) for name in engines.available())
    try:
        first.feed(data)
        second.feed(data)
        assert second.text() == first.text()
        assert second.cursor == first.cursor
        assert second.modes == first.modes
        assert second.title == first.title
        assert second.take_replies() == first.take_replies()
        if data.isascii():
            # Where a wide character was halved, or did not fit the last column, a blank is left;
            # which background it has is nobody's standard, and the two differ in it.
            assert cells(second) == cells(first)
        assert first.history_len == second.history_len
        top = -first.history_len
        assert second.text(top) == first.text(top)
    finally:
        first.close()
        second.close()


def test_cells_tell_styles_apart() -> None:
    engine = engines.make("pyte")(20, 6)
    engine.feed(b"a\x1b[1mb")
    assert cells(engine)[0] == [("a", PLAIN), ("b", Style(bold=True))]


LINES = st.lists(st.text("abc ", max_size=50).map(str.strip), max_size=8)
SIZES = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 12)), max_size=4)


@settings(max_examples=200, deadline=None)
@given(lines=LINES, sizes=SIZES)
def test_both_lay_out_lines_the_same(lines: list[str], sizes: list[tuple[int, int]]) -> None:
    """After any resizes: the same logical lines, from rows and soft-wrap marks together."""
    first, second = (engines.make(name)(20, 6, 500) for name in engines.available())
    try:
        for engine in (first, second):
            engine.feed("\r\n".join(lines).encode())
            for cols, rows in sizes:
                engine.resize(cols, rows)
        assert logical(second) == logical(first)
    finally:
        first.close()
        second.close()


def logical(engine: Engine) -> list[str]:
    """The lines as they were written; blank ones at the end left out."""
    top = -engine.history_len
    lines = [""]
    for text, goes_on in zip(engine.text(top), engine.wrapped(top), strict=True):
        lines[-1] += text.ljust(engine.cols) if goes_on else text
        if not goes_on:
            lines.append("")
    while lines and not lines[-1]:
        lines.pop()
    return lines
