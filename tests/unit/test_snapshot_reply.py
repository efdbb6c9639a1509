"""Rows are put into a reply until it is full, and nothing larger than a reply is ever made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokerd.client import MAX_RESPONSE_BODY, Refusal, encode
from termnode.service.looking.snapshot_part import Part, Row, choose, read
from termnode.service.looking.snapshot_reply import (
    ROOM,
    Form,
    Joined,
    Listed,
    Paged,
    ansi_line,
    colored,
    fill,
    plain,
    string_bytes,
    styled_line,
    text_line,
)
from termnode.terminal import engines
from termnode.terminal.engine import PLAIN, Cursor, Engine, Run, Style
from termnode.terminal.render.cells import width_of
from termnode.terminal.screen_log import ScreenLog


def forms() -> list[Form]:
    return [
        Joined(plain, styled=False),
        Joined(colored, styled=True),
        Listed(text_line, styled=False),
        Listed(ansi_line, styled=True),
        Listed(styled_line, styled=True),
        Paged(width_of("pyte"), "x" * 1024, Cursor(3, 0)),
    ]


FORMS = range(len(forms()))

LOUD = Style(
    fg=(200, 200, 200), bg=(1, 2, 3), underline=3, underline_color=(9, 9, 9), link="h:" + "x" * 2046
)


def worst_row(line: int) -> Row:
    """As large as a row can be: every cell its own style and as many marks as a cell keeps."""
    mark = "\U000e0100" * 64
    looks = [replace(LOUD, fg=(x % 256, x // 256, 7)) for x in range(1000)]
    runs: list[Run] = [("a" + mark, look) for look in looks]
    return Row(line, line, runs, wrapped=True)


def rows(texts: list[str]) -> Iterator[Row]:
    return (Row(y, y, [(text, PLAIN)], wrapped=False) for y, text in enumerate(texts))


@pytest.mark.parametrize("number", FORMS)
def test_the_largest_row_is_cut_until_it_fits(number: int) -> None:
    form = forms()[number]
    assert fill(form, [worst_row(0), worst_row(1)]) == 1
    result = form.result()
    assert len(encode(result)) <= MAX_RESPONSE_BODY
    shown = encode(result).decode()
    assert '"cut":true' in shown
    assert "…" in shown


@pytest.mark.parametrize("number", FORMS)
def test_a_reply_ends_at_a_whole_row_and_says_where_to_go_on(number: int) -> None:
    form = forms()[number]
    texts = [f'<{y}> \\"中 {"x" * 900}' for y in range(2000)]
    left_out = fill(form, rows(texts))
    assert left_out is not None
    raw = encode(form.result())
    assert ROOM - 4096 < len(raw) <= MAX_RESPONSE_BODY
    assert str(left_out - 1) in raw.decode()
    assert f"{left_out}> " not in raw.decode().replace("&gt;", ">").replace(f"<{left_out - 1}>", "")


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_the_bytes_of_a_text_are_not_counted_too_low(text: str) -> None:
    assert string_bytes(text) >= len(encode(text + "\n")) - 2


def test_a_text_counted_by_its_length_alone_would_be_too_low() -> None:
    assert len('"\\') + 2 < len(encode('"\\\n')) - 2 <= string_bytes('"\\')


@pytest.fixture(params=engines.available())
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    made = engines.make(request.param)(20, 4, 100)
    yield made
    made.close()


def log_of(engine: Engine, data: bytes) -> ScreenLog:
    engine.feed(data)
    log = ScreenLog()
    log.sync(engine, 1)
    return log


def numbered(count: int) -> bytes:
    return b"\r\n".join(b"row %d" % n for n in range(count))


def texts(engine: Engine, log: ScreenLog, part: Part) -> list[str]:
    return [row.text for row in read(engine, log, part, styled=False)]


def test_the_parts_of_a_screen_with_history(engine: Engine) -> None:
    log = log_of(engine, numbered(10))
    assert texts(engine, log, choose(log, 4, {})) == ["row 6", "row 7", "row 8", "row 9"]
    assert texts(engine, log, choose(log, 4, {"offset": 2}))[:3] == ["row 4", "row 5", "row 6"]
    assert len(choose(log, 4, {"offset": 1000}).lines) == 10
    assert texts(engine, log, choose(log, 4, {"line": 8})) == ["row 8", "row 9"]


def test_a_line_that_is_gone_counts_as_missed_and_one_below_is_refused(engine: Engine) -> None:
    log = log_of(engine, numbered(150))
    part = choose(log, 4, {"line": 3})
    assert part.missed == log.first - 3 > 0
    assert part.lines[0] == log.first
    with pytest.raises(Refusal) as caught:
        choose(log, 4, {"line": log.base + 4})
    assert caught.value.details == {"reason": "no_line"}


def test_a_revision_not_reached_yet_gives_the_whole_screen(engine: Engine) -> None:
    log = log_of(engine, numbered(10))
    part = choose(log, 4, {"since": 999})
    assert part.full
    assert list(part.lines) == [6, 7, 8, 9]


def test_scattered_lines_are_read_in_their_order(engine: Engine) -> None:
    log = log_of(engine, numbered(10))
    assert texts(engine, log, Part((1, 2, 5, 9))) == ["row 1", "row 2", "row 5", "row 9"]


def test_styled_rows_are_those_of_the_same_lines(engine: Engine) -> None:
    log = log_of(engine, numbered(8) + b"\x1b[31m red")
    rows = list(read(engine, log, Part((0, 7)), styled=True))
    assert [row.text for row in rows] == ["row 0", "row 7 red"]
    assert rows[1].runs[-1] == (" red", Style(fg=1))
    assert [row.y for row in rows] == [-4, 3]


def test_the_first_and_last_rows_are_clipped(engine: Engine) -> None:
    log = log_of(engine, "ab中c\r\nmiddle\r\nab中c".encode())
    part = Part(range(3), start_column=2, end_column=4)
    assert texts(engine, log, part) == ["中c", "middle", "ab中"]
    assert texts(engine, log, Part(range(1), start_column=1, end_column=2)) == ["b"]


class Failing:
    """An emulator that has fewer rows than it said."""

    name = "pyte"

    def text(self, top: int, count: int) -> list[str]:
        return ["left"]

    def runs(self, top: int, count: int) -> list[list[Run]]:
        return []

    def wrapped(self, top: int, count: int) -> list[bool]:
        return []


def test_rows_that_an_emulator_lost_are_blank() -> None:
    engine, log = cast(Engine, Failing()), ScreenLog()
    assert texts(engine, log, Part(range(3))) == ["left", "", ""]
    assert [row.runs for row in read(engine, log, Part(range(2)), styled=True)] == [(), ()]
