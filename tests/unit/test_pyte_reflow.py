"""Resizing: text is laid out anew, nothing is lost, the cursor stays on its character."""

from __future__ import annotations

import pytest

from termnode.terminal.pyte_engine import PyteEngine


def fed(data: str, cols: int = 20, rows: int = 5, scrollback: int = 500) -> PyteEngine:
    engine = PyteEngine(cols, rows, scrollback)
    engine.feed(data.encode())
    return engine


def everything(engine: PyteEngine) -> list[str]:
    return engine.text(-engine.history_len)


def under_cursor(engine: PyteEngine) -> str:
    row = engine.screen.grid[engine.cursor.y]
    return row[engine.cursor.x][0] if engine.cursor.x < len(row) else " "


def test_narrow_then_wide_again_is_the_same() -> None:
    engine = fed("0" * 20 + "\r\nnext")
    before = everything(engine), engine.wrapped(), engine.cursor
    engine.resize(10, 5)
    assert everything(engine)[:3] == ["0" * 10, "0" * 10, "next"]
    assert engine.wrapped()[:3] == [True, False, False]
    engine.resize(20, 5)
    assert (everything(engine), engine.wrapped(), engine.cursor) == before


def test_a_line_as_wide_as_the_screen_is_not_joined_to_the_next() -> None:
    engine = fed("0" * 20 + "\r\nnext")
    engine.resize(40, 5)
    assert everything(engine)[:2] == ["0" * 20, "next"]


def test_a_wide_character_on_the_new_edge_moves_to_the_next_row() -> None:
    engine = fed("123456789日x", cols=20)
    engine.resize(10, 5)
    assert everything(engine)[:2] == ["123456789", "日x"]
    engine.resize(20, 5)
    assert everything(engine)[0] == "123456789日x"


def test_text_goes_on_after_a_resize_in_the_same_line() -> None:
    engine = fed("word " * 8, cols=10)
    engine.resize(4, 2)
    engine.feed(b"end")
    engine.resize(80, 2)
    assert "".join(everything(engine)) == "word " * 8 + "end"


@pytest.mark.parametrize(
    ("cols", "rows"), [(1, 9), (2, 5), (3, 9), (7, 3), (7, 9), (19, 1), (21, 1), (60, 1), (60, 9)]
)
def test_the_cursor_stays_on_its_character(cols: int, rows: int) -> None:
    engine = fed("abcdefghijklmnopqrstuvwxyz\r\nABCDEFGHIJKLMNOPQRS\x1b[7D")
    assert under_cursor(engine) == "M"
    engine.resize(cols, rows)
    assert under_cursor(engine) == "M"
    engine.resize(20, 5)
    assert under_cursor(engine) == "M"
    engine.verify()


def test_the_saved_cursor_stays_on_its_character() -> None:
    engine = fed("abcdefghijklmnop\x1b[3D\x1b7\x1b[H", cols=20)
    engine.resize(7, 5)
    engine.feed(b"\x1b8")
    assert under_cursor(engine) == "n"


def test_rows_that_do_not_fit_go_to_history_and_come_back() -> None:
    engine = fed("1\r\n2\r\n3\r\n4\r\n5")
    engine.resize(20, 2)
    assert (everything(engine), engine.history_len) == (["1", "2", "3", "4", "5"], 3)
    engine.resize(20, 5)
    assert (engine.text(), engine.history_len) == (["1", "2", "3", "4", "5"], 0)


def test_a_cleared_screen_shows_no_old_rows_when_it_changes_width() -> None:
    engine = fed("old\r\n" * 9 + "\x1b[H\x1b[2J$ ")
    history = engine.history_len
    engine.resize(30, 5)
    assert (engine.text(), engine.history_len) == (["$", "", "", "", ""], history)


def test_no_text_below_a_cursor_at_the_top_is_lost() -> None:
    engine = fed("1\r\n2\r\n3\r\n4\r\n5\x1b[H")
    engine.resize(20, 2)
    assert everything(engine) == ["1", "2", "3", "4", "5"]
    engine.verify()


def test_the_hidden_main_screen_is_laid_out_too() -> None:
    engine = fed("main text that wraps about\x1b[?1049h\x1b[Halternate", cols=20)
    engine.resize(10, 5)
    assert engine.text()[0] == "alternate"
    engine.resize(40, 5)
    engine.feed(b"\x1b[?1049l")
    assert engine.text()[0] == "main text that wraps about"
    assert (engine.cursor.x, engine.cursor.y) == (26, 0)


def test_the_alternate_screen_never_enters_history() -> None:
    engine = fed("\x1b[?1049h" + "alt\r\n" * 9)
    engine.resize(10, 2)
    engine.feed(b"\x1b[?1049l")
    assert engine.history_len == 0


def test_history_is_laid_out_too() -> None:
    engine = fed("".join(f"{number:030}\r\n" for number in range(20)), cols=20)
    engine.resize(40, 5)
    assert everything(engine)[:20] == [f"{number:030}" for number in range(20)]


def test_an_endless_line_at_one_column_is_bounded_by_the_history() -> None:
    engine = fed("x" * 5_000, cols=100, rows=5, scrollback=60)
    engine.resize(1, 5)
    assert engine.history_len <= 60
    engine.verify()


def test_wide_characters_survive_a_screen_of_one_column() -> None:
    engine = fed("a日b本")
    engine.resize(1, 5)
    engine.verify()
    assert "".join(everything(engine)) == "a日b本"
    engine.feed("中".encode())
    engine.resize(20, 5)
    engine.verify()
    assert "".join(everything(engine)) == "a日b本中"


def test_stops_by_rule_reach_a_wider_screen() -> None:
    engine = fed("", cols=10)
    engine.resize(40, 5)
    engine.feed(b"\t\t\tX")
    assert engine.text()[0] == " " * 24 + "X"


@pytest.mark.parametrize(("cols", "rows"), [(0, 5), (5, 0), (1_001, 5), (5, 501), (-1, -1)])
def test_sizes_out_of_bounds_are_refused(cols: int, rows: int) -> None:
    engine = fed("x")
    with pytest.raises(ValueError, match="1-1000 columns"):
        engine.resize(cols, rows)
    assert (engine.cols, engine.rows) == (20, 5)
    with pytest.raises(ValueError, match="1-1000 columns"):
        PyteEngine(cols, rows)
