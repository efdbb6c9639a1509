"""What is rendered shows the same again, and a page never says more than its text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from termnode.terminal import engines
from termnode.terminal.engine import PLAIN, Cursor, Engine, Run, Style
from termnode.terminal.render.ansi import ansi_row
from termnode.terminal.render.cells import width_of
from termnode.terminal.render.html import Page
from tests.support.vt_streams import stream, well_formed

COLS, ROWS = 24, 6

colors = st.none() | st.integers(0, 255) | st.tuples(*[st.integers(0, 255)] * 3)
styles = st.builds(
    Style,
    fg=colors,
    bg=colors,
    bold=st.booleans(),
    dim=st.booleans(),
    italic=st.booleans(),
    underline=st.integers(0, 5),
    underline_color=colors,
    blink=st.booleans(),
    reverse=st.booleans(),
    conceal=st.booleans(),
    strike=st.booleans(),
    overline=st.booleans(),
    link=st.none() | st.just("http://h/"),
)
words = st.sampled_from(("a", "bc d", "<b>&'\"", "日本", "e\u0301", "─│", "👩", "</pre>"))
rows = st.lists(st.lists(st.tuples(words, styles), max_size=3), min_size=1, max_size=ROWS)

Render = Callable[[Sequence[Run]], str]


def unlinked(runs: Sequence[Run]) -> list[Run]:
    """Without links; neighbours that are one run then are joined."""
    joined: list[Run] = []
    for text, style in runs:
        bare = replace(style, link=None)
        if joined and joined[-1][1] == bare:
            joined[-1] = (joined[-1][0] + text, bare)
        else:
            joined.append((text, bare))
    while joined and joined[-1][1] == PLAIN and not joined[-1][0].rstrip(" "):
        joined.pop()
    if joined and joined[-1][1] == PLAIN:
        joined[-1] = (joined[-1][0].rstrip(" "), PLAIN)
    return joined


def shown_again(emulator: str, rendered: Sequence[str]) -> list[list[Run]]:
    """The runs of a fresh screen that is fed these rows."""
    engine = engines.make(emulator)(COLS, ROWS, 0)
    try:
        engine.feed("\r\n".join(rendered).encode())
        return [unlinked(row) for row in engine.runs()]
    finally:
        engine.close()


def check_again(emulator: str, shown: list[list[Run]], render: Render) -> None:
    assert shown_again(emulator, [render(row) for row in shown]) == shown


def with_screen(emulator: str, data: bytes, use: Callable[[Engine], None]) -> None:
    engine = engines.make(emulator)(COLS, ROWS, 50)
    try:
        engine.feed(data)
        use(engine)
    finally:
        engine.close()


@pytest.mark.parametrize("emulator", engines.available())
@settings(max_examples=150, deadline=None)
@given(rows=rows)
def test_ansi_shows_the_same_again(emulator: str, rows: list[list[Run]]) -> None:
    shown = shown_again(emulator, list(map(ansi_row, rows)))
    wanted = [unlinked(row) for row in rows]
    assert shown[: len(wanted)] == wanted
    check_again(emulator, shown, ansi_row)


@pytest.mark.parametrize("emulator", engines.available())
@settings(max_examples=150, deadline=None)
@given(data=well_formed)
def test_ansi_of_a_screen_shows_it_again(emulator: str, data: bytes) -> None:
    with_screen(
        emulator,
        data,
        lambda engine: check_again(emulator, [unlinked(row) for row in engine.runs()], ansi_row),
    )


def test_a_style_that_leaks_is_seen() -> None:
    """The check fails for a row that does not reset its style."""
    shown = [[("a", Style(bg=1))], [("b", PLAIN)]]
    check_again("pyte", [*shown, *[[]] * (ROWS - 2)], ansi_row)
    with pytest.raises(AssertionError):
        check_again(
            "pyte",
            [*shown, *[[]] * (ROWS - 2)],
            lambda row: ansi_row(row).removesuffix("\x1b[m"),
        )


class Reader(HTMLParser):
    """The text in ``pre``, and every element seen."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self._inside |= tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        self._inside &= tag != "pre"

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.text += data


ELEMENTS = {"html", "head", "meta", "title", "style", "body", "pre", "span"}


def read_page(runs: Sequence[Sequence[Run]], title: str, cursor: Cursor | None) -> Reader:
    page = Page(width_of("pyte"))
    made = [
        page.row(row, cursor if cursor and cursor.y == y else None) for y, row in enumerate(runs)
    ]
    reader = Reader()
    reader.feed(page.page(made, title))
    reader.close()
    return reader


@settings(max_examples=150, deadline=None)
@given(data=stream, title=st.text(max_size=20), visible=st.booleans())
def test_a_page_has_the_rows_and_nothing_else(data: bytes, title: str, visible: bool) -> None:
    def check(engine: Engine) -> None:
        read = read_page(engine.runs(), title, engine.cursor if visible else None)
        assert read.elements <= ELEMENTS
        assert read.attributes <= {"class", "charset", "http-equiv", "content"}
        lines = [line.rstrip(" ") for line in read.text.removeprefix("\n").split("\n")]
        assert lines == [*engine.text(), ""]

    with_screen("pyte", data, check)


@settings(max_examples=100, deadline=None)
@given(rows=rows)
def test_markup_in_a_row_is_text(rows: list[list[Run]]) -> None:
    read = read_page(rows, "</title><script>", None)
    assert read.elements <= ELEMENTS
    wanted = ["".join(text for text, _ in row) for row in rows]
    assert read.text == "\n" + "\n".join(wanted) + "\n"
