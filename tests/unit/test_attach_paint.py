"""Painted bytes: little for little, nothing but drawing, and right where terminals differ."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from termnode.attach import paint
from termnode.attach.compose import Frame
from termnode.attach.depth import TRUE_COLOR, color, reduced
from termnode.attach.paint import Painter
from termnode.attach.runs import cut, joined, restyled, steady
from termnode.attach.spans import Change, change
from termnode.terminal import engines
from termnode.terminal.engine import PLAIN, Cursor, Run, Style
from termnode.terminal.render.cells import width_of
from termnode.view.messages import Row, Run3

RED = Style(fg=1)
WIDTH = width_of("pyte")


def run(text: str, style: Style | None = None) -> Run3:
    return text, sum(map(WIDTH, text)), style


def frame(*rows: Row, cursor: Cursor | None = None, cols: int = 20) -> Frame:
    return Frame(cols, len(rows), rows, cursor or Cursor(0, 0))


def painted(*frames: Frame, painter: Painter | None = None) -> bytes:
    """What the last of the frames takes."""
    used = painter or Painter()
    out = b""
    for each in frames:
        out = used.paint(each)
    return out


# -- little ---------------------------------------------------------------------------------------


def test_nothing_is_written_for_the_same_frame() -> None:
    one = frame((run("a"),), ())
    assert painted(one, one) == b""
    assert painted(one, frame((run("a"),), ())) == b""


def test_one_character_is_a_few_bytes() -> None:
    before = frame((run("$ l"),), cursor=Cursor(3, 0))
    after = frame((run("$ ls"),), cursor=Cursor(4, 0))
    assert painted(before, after) == b"\x1b[?25l\x1b[1;4Hs\x1b[1;5H\x1b[?25h"


def test_only_the_cursor() -> None:
    row = (run("a"),)
    moved = frame(row, cursor=Cursor(1, 0))
    assert painted(frame(row), moved) == b"\x1b[1;2H"
    assert painted(moved, frame(row, cursor=Cursor(1, 0, shape=4))) == b"\x1b[4 q\x1b[1;2H"
    hidden = frame(row, cursor=Cursor(1, 0, visible=False))
    assert painted(moved, hidden) == b"\x1b[?25l\x1b[1;2H"
    assert painted(hidden, moved) == b"\x1b[1;2H\x1b[?25h"


def test_a_whole_frame_begins_with_a_known_terminal() -> None:
    one = frame((run("a"),), ())
    painter = Painter()
    first = painter.paint(one)
    assert first.startswith(b"\x1b[?25l\x1b[m\x1b(B")
    assert b"\x1b[2J" in first
    painter.forget()
    assert painter.paint(one) == first
    assert b"\x1b[2J" in painter.paint(frame((run("a"),), (), ()))


def test_a_frame_is_shown_at_once_where_the_terminal_can() -> None:
    painter = Painter(synchronized=True)
    one, other = frame((run("a"),)), frame((run("b"),))
    for each in (one, other):
        data = painter.paint(each)
        assert (data[:8], data[-8:]) == (b"\x1b[?2026h", b"\x1b[?2026l")
    assert painter.paint(frame((run("b"),), cursor=Cursor(2, 0))) == b"\x1b[1;3H"


# -- which columns --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ([run("abc")], [run("abd")], Change(2, 3, erase=False)),
        ([run("abc")], [run("ab")], Change(2, 2, erase=True)),
        ([run("ab")], [run("abcd")], Change(2, 4, erase=False)),
        ([run("abc")], [run("xbc")], Change(0, 1, erase=False)),
        ([run("ab"), run("c", RED)], [run("aX"), run("c", RED)], Change(1, 2, erase=False)),
        ([run("aa")], [run("aaa")], Change(2, 3, erase=False)),
        ([run("ab")], [run("ab", RED)], Change(0, 2, erase=False)),
        ([run("x日本")], [run("x日木")], Change(0, 5, erase=False)),
        ([run("x"), run("👩")], [run("y"), run("👩")], Change(0, 3, erase=True)),
        ([run("x"), run("👩")], [run("x")], Change(1, 1, erase=True)),
        ([run("a"), run(" ", RED)], [run("a")], Change(1, 1, erase=True)),
        ([], [], None),
    ],
)
def test_what_differs(old: list[Run3], new: list[Run3], changed: Change | None) -> None:
    assert change(tuple(old), tuple(new)) == changed


# -- nothing but drawing --------------------------------------------------------------------------


def test_control_characters_in_a_row_are_not_written() -> None:
    data = painted(frame((("a\x1b]52;c;x\x07\r\n\x9b5n\x7f", 14, None),)))
    text = data.decode()
    assert "]52" in text
    assert re.search("\x1b\\]|[\x07\r\n\x7f\x9b]", text) is None


@pytest.mark.parametrize("bad", ["http://h/\x1b\\", "a b", "http://h/ü", "x" * 1_001, "\x07", ""])
def test_links_that_would_end_the_sequence_are_left_out(bad: str) -> None:
    good = painted(frame((run("a", Style(link="http://h/")),)))
    assert b"\x1b]8;;http://h/\x1b\\a\x1b]8;;\x1b\\" in good
    assert b"\x1b]" not in painted(frame((run("a", Style(link=bad)),)))


def test_surrogates_do_not_raise() -> None:
    assert b"?" in painted(frame((("\ud800", 1, None),)))


# -- terminals that count otherwise ---------------------------------------------------------------


def columns_in(emulator: str, setup: bytes, rows: list[Row]) -> list[list[int]]:
    """Where the terminal has the marks | and x after each of the rows was painted, and where the
    cursor then is.
    """
    painter = Painter()
    engine = engines.make(emulator)(12, 2, 0)
    found = []
    try:
        for row in rows:
            engine.feed(setup + painter.paint(frame(row, (), cursor=Cursor(7, 0), cols=12)))
            found.append([*marks(engine.runs()[0]), engine.cursor.x, engine.history_len])
    finally:
        engine.close()
    return found


def marks(row: Sequence[Run]) -> list[int]:
    """The columns of the marks, in a terminal that has two for a heart."""
    text = "".join(part for part, _ in row).replace("❤\ufe0f", "##")
    return [at for at, char in enumerate(text) if char in "|x"]


@pytest.mark.skipif("ghostty" not in engines.available(), reason="needs the native emulator")
def test_what_is_right_of_an_emoji_is_in_its_column(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a terminal that makes two columns of a heart that the emulator gives one."""
    heart: Run3 = ("❤\ufe0f", 1, None)
    rows: list[Row] = [
        (run("ab"), heart, run("|"), heart, run("x")),
        (run("ab"), heart, run("|"), heart, run("x!")),
        (*[heart] * 12,),
    ]
    wide = b"\x1b[?2027h"
    seen = columns_in("ghostty", wide, rows)
    assert seen[0][-3:] == [5, 7, 0]
    assert seen[1][-3:] == [5, 7, 0]
    assert seen[2][-2:] == [7, 0]
    monkeypatch.setattr(paint, "steady", lambda _: True)
    monkeypatch.setattr(paint._Pen, "place", lambda self: "")
    assert columns_in("ghostty", wide, rows[:1]) != seen[:1]


def test_the_last_column_never_wraps() -> None:
    """Wrapping is off while a character that may be too wide is written there."""
    wide: Row = (run("a" * 18), run("👩"))
    data = painted(frame(wide))
    assert data.index(b"\x1b[?7l") < data.index("👩".encode()) < data.rindex(b"\x1b[?7h")
    assert b"\x1b[?7l" not in painted(frame((run("a" * 20),)))
    assert b"\x1b[?7l" not in painted(frame((run("a" * 18 + "日"),)))


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("plain", True),
        ("naïve", True),
        ("日本語ひカ한", True),
        ("│─┼█", True),
        ("Жλ", True),
        ("", True),
    ]
    + [(text, False) for text in ("e\u0301", "👩", "❤", "🇫🇷", "\u200d", "a\u00ad", "ｱ\uff9e")],
)
def test_what_terminals_agree_about(text: str, sure: bool) -> None:
    assert steady(text) == sure
    if sure and text:
        widths = {sum(map(width_of(name), text)) for name in engines.available()}
        assert len(widths) == 1


# -- rows -----------------------------------------------------------------------------------------


def test_a_cut_is_exactly_as_wide() -> None:
    row: Row = (run("ab"), run("日本", RED), run("cd"))
    assert cut(row, 0, 8, WIDTH) == list(row)
    assert cut(row, 1, 5, WIDTH) == [run("b"), ("日 ", 3, RED)]
    assert cut(row, 3, 5, WIDTH) == [("  ", 2, RED)]
    assert cut(row, 7, 12, WIDTH) == [run("d"), ("    ", 4, None)]
    assert cut(row, 20, 22, WIDTH) == [("  ", 2, None)]
    assert cut(row, 3, 3, WIDTH) == []


def test_rows_that_show_the_same_are_equal() -> None:
    one = joined([run("a"), run("b"), run("c", RED), run("d "), ("", 0, RED), run("  ")], WIDTH)
    assert one == (run("ab"), run("c", RED), run("d"))
    assert joined([run("ae\u0301👩")], WIDTH) == (run("a"), run("e\u0301"), run("👩"))
    assert joined([run("   ")], WIDTH) == ()
    assert joined([(" ", 1, Style())], WIDTH) == ((" ", 1, PLAIN),)


def test_a_run_that_says_another_width_has_that() -> None:
    """As a program makes it that has characters joined which the rule counts one by one."""
    assert joined([("👩👩", 2, None)], WIDTH) == (("👩👩", 2, None),)
    assert joined([("abc", 2, RED)], WIDTH) == (("ab", 2, RED),)
    assert joined([("a", 3, RED)], WIDTH) == (("a  ", 3, RED),)


def test_styles_of_whole_characters() -> None:
    row: Row = (run("a日b"),)
    assert restyled(row, 2, 3, RED, WIDTH) == [run("a"), run("日", RED), run("b")]
    assert restyled(row, 3, 1, RED, WIDTH) == [*row]
    assert restyled(row, 4, 6, RED, WIDTH) == [run("a日b"), ("  ", 2, RED)]


# -- colours --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "depth", "nearest"),
    [
        (None, 16, None),
        (7, 16, 7),
        (200, 256, 200),
        ((255, 0, 0), 256, 196),
        ((1, 2, 3), 256, 16),
        ((128, 128, 128), 256, 244),
        ((255, 0, 0), 16, 9),
        (196, 16, 9),
        ((250, 250, 250), 16, 15),
        (232, 16, 0),
    ],
)
def test_the_nearest_colour(wanted: object, depth: int, nearest: object) -> None:
    assert color(wanted, depth) == nearest  # type: ignore[arg-type]


def test_a_style_for_fewer_colours() -> None:
    style = Style(fg=(255, 0, 0), underline=3, underline_color=(0, 0, 255), bold=True)
    assert reduced(style, TRUE_COLOR) is style
    assert reduced(style, 256) == Style(fg=196, underline=3, underline_color=21, bold=True)
    assert reduced(style, 16) == Style(fg=9, underline=1, bold=True)


def test_sixteen_colours_are_all_that_is_written() -> None:
    row: Row = (run("a", Style(fg=(255, 0, 0), link="http://h/")), run("b", Style(bg=200)))
    data = painted(frame(row), painter=Painter(16))
    assert re.search(rb"[34]8[;:]", data) is None
    assert b"\x1b]8" not in data
    assert b"\x1b[91ma" in data
